import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests.helpers.relevance import directions
from whynear.interpret import programs, simplex


def signed_columns(U, basis):
    """The columns of a basis with the row of the budget, by numpy: u_k, -u_k or zero above a one."""
    d = len(U)
    sides = np.where(basis < d, 1.0, np.where(basis < 2 * d, -1.0, 0.0))
    return np.vstack([(U[basis % d] * sides[:, None]).T, np.ones(len(basis))])


def first_basis(d=12, K=4):
    """The basis of the map of least norm with the slack of a budget, its inverse and its amounts."""
    U, b = directions(d, K, seed=1)
    start = programs.least_norm(U, b)
    basis = np.append(start.basis, 2 * d)
    inverse = np.linalg.inv(signed_columns(U, basis))
    right = np.append(start.b, 1.2)
    return U, right, basis, np.ascontiguousarray(inverse), inverse @ right


@pytest.mark.parametrize("bland", [False, True])
def test_a_pivot_keeps_the_inverse_and_the_amounts_of_its_basis(bland):
    U, right, basis, inverse, x = first_basis()
    entering = next(k for k in range(len(U)) if k not in basis)
    spans, at_upper = np.zeros(U.shape[1]), np.zeros(U.shape[1], dtype=bool)
    assert simplex.pivot(entering, U, spans, basis, inverse, x, at_upper, np.empty(len(basis)), bland) >= 0
    assert entering in basis
    matrix = signed_columns(U, basis)
    assert_allclose(inverse @ matrix, np.eye(len(basis)), atol=1e-10)
    assert_allclose(matrix @ x, right, atol=1e-10)
    assert x.min() >= -1e-12


def test_reduced_costs_are_those_of_numpy_and_zero_in_the_basis():
    U, _, basis, inverse, _ = first_basis()
    d, j = len(U), int(basis[0]) % len(U)
    costs = np.zeros(2 * d + 1)
    costs[[j, d + j]] = 1.0, -1.0
    y = np.empty(len(basis))
    simplex.multipliers(j, 1.0, d, basis, inverse, y)
    expected = signed_columns(U, np.arange(2 * d + 1)).T @ y
    found = [simplex.reduced_cost(code, j, 1.0, U, y) for code in range(2 * d + 1)]
    assert_allclose(found, costs - expected, atol=1e-12)
    assert_allclose(np.array(found)[basis], 0, atol=1e-12)


@pytest.mark.parametrize("n", [1, 3, 256, 700])
def test_the_largest_price_is_found_in_every_stretch(n):
    for seed in range(5):
        v = np.random.default_rng(seed).standard_normal(n)
        assert simplex.place_of_largest(v) == np.abs(v).argmax()


def test_blands_rule_takes_the_lowest_number_that_improves():
    v, spans, at_upper = np.array([0.5, -0.2, -3.0, 4.0]), np.array([0.0, 1.0]), np.array([False, True])

    def first(v, price, of_ranges=(0.0, 0.0)):
        return simplex.first_improving(v, np.array([*of_ranges, price]), spans, at_upper, 1e-10)

    assert first(v, 1.0) == 2  # -v_2 = 3
    assert first(-v, 3.5) == 3
    assert first(v, 3.5) == 4 + 3
    assert first(v, 9.0) == 8
    assert first(v, 9.0, (-5.0, 5.0)) == 8 + 1 + 1  # the first has no range, the second gains by leaving its upper end
    assert first(v, 9.0, (-5.0, -5.0)) == 8


def test_the_range_that_gains_most_leaves_its_end():
    spans, at_upper = np.array([1.0, 1.0, 0.0]), np.array([False, True, False])
    assert simplex.best_range(np.array([-2.0, 1.0, -9.0, 0.0]), spans, at_upper) == (0, 2.0)
    assert simplex.best_range(np.array([2.0, 1.0, -9.0, 0.0]), spans, at_upper) == (1, 1.0)
    assert simplex.best_range(np.array([2.0, -1.0, -9.0, 0.0]), spans, at_upper) == (-1, 0.0)


@pytest.mark.parametrize("span", [0.001, 10.0])
@pytest.mark.parametrize("side", [False, True])
def test_a_range_moves_to_its_other_end_or_enters_the_basis(span, side):
    """A short range is not stopped by any amount; a long one is, and the inverse follows."""
    U, right, basis, inverse, x = first_basis()
    d, K = U.shape
    spans, at_upper = np.full(K, span), np.full(K, side)
    before = basis.copy()
    step = simplex.pivot(2 * d + 1 + 2, U, spans, basis, inverse, x, at_upper, np.empty(K + 1), False)
    matrix = signed_columns(U, np.minimum(basis, 2 * d))
    if span < 1:
        assert step == span
        assert_array_equal(basis, before)
        assert at_upper[2] != side
        moved = right - (1 if not side else -1) * span * np.eye(K + 1)[2]
        assert_allclose(matrix @ x, moved, atol=1e-10)
    else:
        row = int(np.flatnonzero(basis == 2 * d + 1 + 2)[0])
        matrix[:, row] = np.eye(K + 1)[2]
        assert not at_upper[2]
        assert_allclose(inverse @ matrix, np.eye(K + 1), atol=1e-10)
        assert_allclose(x[row], step if not side else span - step)
        assert_allclose(matrix @ x, right + side * span * np.eye(K + 1)[2], atol=1e-10)


def test_what_the_amounts_leave_of_the_right_side():
    U, right, basis, _, x = first_basis()
    out = np.empty(len(basis))
    spans, at_upper = np.full(U.shape[1], 0.3), np.arange(U.shape[1]) == 1
    simplex.missing(U, spans, basis, x + 0.1, at_upper, right, out)
    expected = right - signed_columns(U, basis) @ (x + 0.1) - 0.3 * np.eye(len(basis))[1]
    assert_allclose(out, expected, atol=1e-12)
