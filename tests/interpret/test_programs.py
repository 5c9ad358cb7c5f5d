import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog

from tests.helpers.relevance import both_ends, directions
from whynear.interpret import programs, simplex


@pytest.mark.parametrize(("d", "K", "copies"), [(1, 1, 0), (8, 8, 0), (30, 7, 0), (40, 12, 15), (200, 30, 60)])
def test_the_simplex_finds_the_least_norm_that_highs_finds(d, K, copies):
    U, b = directions(d, K, seed=d, copies=copies)
    start = programs.least_norm(U, b)
    t = np.zeros(K)
    expected = programs._from_basis(U, b, t, *programs._least_by_highs(U, b / np.abs(b).max(), t))
    assert_allclose(start.mu, expected.mu, rtol=1e-9)
    assert_allclose(U.T @ start.weights, start.b, atol=1e-12)
    assert_allclose(np.abs(start.weights).sum(), 1.0)
    assert np.abs(U @ start.multipliers).max() <= 1 + 1e-8
    assert_allclose(start.b @ start.multipliers, 1.0)


@pytest.mark.parametrize("loss", ["no optimum", "no basis", "too many pivots"])
def test_highs_takes_over_when_the_simplex_finds_no_least_norm(monkeypatch, loss):
    U, b = directions(40, 9, copies=10)
    expected = programs.least_norm(U, b).mu
    with monkeypatch.context() as patch:
        if loss == "too many pivots":
            patch.setattr(programs.simplex, "maximize_slack", lambda *_: simplex.RUNNING)
        elif loss == "no optimum":
            patch.setattr(programs.simplex, "maximize_slack", lambda *_: simplex.FAILED)
        else:
            nothing = np.zeros(9, dtype=np.intp), np.zeros(9, dtype=bool)
            patch.setattr(programs, "_least_by_simplex", lambda U, b, t: nothing)
        assert_allclose(programs.least_norm(U, b).mu, expected, rtol=1e-9)


def test_a_least_norm_that_no_solver_finds_is_an_arithmetic_error():
    U = np.array([[1.0, 0.0], [1.0, 0.0]])  # the second row of U^T w = b cannot be met
    with pytest.raises(ArithmeticError, match="no map of least norm"):
        programs.least_norm(U, np.array([1.0, 1.0]))


@pytest.mark.parametrize("seed", range(4))
def test_with_ranges_simplex_and_highs_find_the_same_least_norm(monkeypatch, seed):
    U, b = directions(40, 9, seed=seed, copies=seed * 5)
    t = np.random.default_rng(seed).exponential(0.3, 9) * (np.arange(9) % 3 > 0)
    found = programs.least_norm(U, b, t)
    monkeypatch.setattr(programs.simplex, "maximize_slack", lambda *_: simplex.FAILED)
    by_highs = programs.least_norm(U, b, t)
    assert_allclose(by_highs.mu, found.mu, rtol=1e-9)
    for start in (found, by_highs):
        assert (np.abs(U.T @ start.weights - start.b) <= start.t + 1e-12).all()
        assert_allclose(np.abs(start.weights).sum(), 1.0)
        assert_allclose(start.b @ start.multipliers - start.t @ np.abs(start.multipliers), 1.0)


@pytest.mark.parametrize("seed", range(3))
def test_with_ranges_programs_given_up_go_to_highs_and_agree(seed):
    U, b = directions(40, 10, seed=seed, copies=10)
    start = programs.least_norm(U, b, np.linspace(0, 0.5, 10) * np.abs(b).max())
    features, signs = both_ends(40)
    fast = programs.extremes(start, 1.05, features, signs)
    slow = programs.extremes(start, 1.05, features, signs, most_pivots=0)
    assert not fast.by_highs.any()
    assert slow.by_highs.sum() > 30
    assert_allclose(slow.values, fast.values, atol=1e-6)
    safe = programs.safe_bounds(start, 1.05)
    assert (fast.values.reshape(-1, 2).max(axis=1) <= safe + 1e-9).all()


@given(st.integers(0, 10_000))
def test_at_the_same_norm_wider_ranges_never_narrow_an_interval(seed):
    U, b = directions(12, 5, seed=seed, copies=4)
    features, signs = both_ends(12)
    most = 1.01 * programs.least_norm(U, b).mu  # a norm that all of them allow
    before = None
    for t in (0.0, 0.01, 0.05, 0.2):
        start = programs.least_norm(U, b, np.full(5, t * np.abs(b).max()))
        ends = start.mu * programs.extremes(start, most / start.mu, features, signs).values
        assert before is None or (ends >= before - 1e-9 * most).all()
        before = ends


@pytest.mark.parametrize("slack", [0.0, 0.01, 0.3])
def test_programs_the_simplex_gives_up_go_to_highs_and_agree(slack):
    U, b = directions(60, 10, seed=3, copies=20)
    start = programs.least_norm(U, b)
    features, signs = both_ends(60)
    fast = programs.extremes(start, 1 + slack, features, signs)
    slow = programs.extremes(start, 1 + slack, features, signs, most_pivots=0)
    assert not fast.by_highs.any()
    assert slow.by_highs.sum() > (10 if slack == 0 else 50)
    assert_allclose(slow.values, fast.values, atol=1e-6)
    assert (slow.error < programs.ACCEPTED * 10).all()
    for found in (fast, slow):
        for columns, weights, value, j, sign in zip(
            found.columns, found.weights, found.values, features, signs, strict=True
        ):
            w = np.zeros(60)
            np.add.at(w, columns, weights)
            assert_allclose(U.T @ w, start.b, atol=1e-7)
            assert np.abs(w).sum() <= (1 + slack) * (1 + 1e-6)
            assert_allclose(sign * w[j], value, atol=1e-9)


def test_unsolved_programs_have_no_value_and_no_map():
    U, b = directions(60, 10, seed=3)
    start = programs.least_norm(U, b)
    found = programs.extremes(start, 1.01, *both_ends(60), most_pivots=0, time_limit=0.0)
    lost = ~np.isfinite(found.error)
    assert lost.sum() > 60
    assert found.by_highs[lost].all()
    assert not found.weights[lost].any()


def test_a_worn_inverse_is_repaired_and_a_spoilt_basis_goes_to_highs(monkeypatch):
    U, b = directions(50, 8, seed=6)
    start = programs.least_norm(U, b)
    features, signs = both_ends(50)
    expected = programs.extremes(start, 1.01, features, signs).values
    run = programs._Batch._run

    def worn(batch):
        run(batch)
        batch.inverses *= 1 + 1e-3 * np.random.default_rng(0).standard_normal(batch.inverses.shape)

    def spoilt(batch):
        run(batch)
        batch.bases[::7, 0] = batch.bases[::7, 1]
        batch.inverses[::7] = np.nan

    for damage, by_highs in ((worn, 0), (spoilt, 15)):
        with monkeypatch.context() as patch:
            patch.setattr(programs._Batch, "_run", damage)
            found = programs.extremes(start, 1.01, features, signs, n_jobs=1)
        assert_allclose(found.values, expected, atol=1e-6)
        assert found.by_highs.sum() >= by_highs


@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.01, 0.1]), st.booleans())
def test_safe_bounds_are_never_violated(seed, slack, copied):
    U, b = directions(30, 6, seed=seed, copies=10 if copied else 0)
    start = programs.least_norm(U, b)
    found = programs.extremes(start, 1 + slack, *both_ends(30))
    largest = found.values.reshape(-1, 2).max(axis=1)
    safe = programs.safe_bounds(start, 1 + slack)
    assert np.isfinite(safe).all()
    assert (safe <= 1 + slack).all()
    assert (largest <= safe + 1e-9).all()


@pytest.mark.parametrize("slack", [0.0, 0.01])
def test_safe_bounds_hold_for_two_thousand_features(slack):
    U, b = directions(2000, 40, seed=7)
    start = programs.least_norm(U, b)
    found = programs.extremes(start, 1 + slack, *both_ends(2000))
    largest = found.values.reshape(-1, 2).max(axis=1)
    assert (largest <= programs.safe_bounds(start, 1 + slack) + 1e-9).all()
    assert found.error.max() < 1e-9


@settings(max_examples=20)
@given(st.integers(0, 10_000))
def test_certificates_bound_the_true_error(seed):
    U, b = directions(25, 6, seed=seed, copies=8)
    start = programs.least_norm(U, b)
    features, signs = both_ends(25)
    found = programs.extremes(start, 1.05, features, signs)
    rest = programs.HighsPrograms(U, start.b, start.t, 1.05)
    for j in range(0, 50, 9):
        w, error = rest.solve(features[j], signs[j], 60.0)
        assert abs(signs[j] * w[features[j]] - found.values[j]) <= found.error[j] + error + 1e-8


def test_batches_of_any_size_give_the_same_values(monkeypatch):
    U, b = directions(120, 15, seed=8, copies=30)
    start = programs.least_norm(U, b)
    expected = programs.extremes(start, 1.01, *both_ends(120), n_jobs=1).values
    for size in (1, 5_000, 50_000):
        monkeypatch.setattr(programs, "BATCH_BYTES", size)
        assert_allclose(programs.extremes(start, 1.01, *both_ends(120)).values, expected, atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_in_the_middle_stops_soon_and_leaves_no_threads(n_jobs):
    script = f"""
        import threading
        import numpy as np
        from whynear import LinearMetric, relevance_intervals
        rng = np.random.default_rng(0)
        relevance_intervals(LinearMetric([[1.0, 2.0]]), rng.standard_normal((9, 2)))  # compiles or loads
        X, row = rng.standard_normal((60, 4000)), rng.standard_normal((1, 4000))
        begun = []
        show = lambda step, share: begun or begun.append(print("running", flush=True)) if share > 0 else None
        try:
            for _ in range(100):
                relevance_intervals(LinearMetric(row), X, n_jobs={n_jobs}, progress=show)
        except KeyboardInterrupt:
            print("stopped with", threading.active_count(), "thread", flush=True)
            raise
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "running\n"
        os.kill(process.pid, signal.SIGINT)
        start = time.perf_counter()
        assert process.stdout.readline() == "stopped with 1 thread\n"
        assert time.perf_counter() - start < 20  # a second on a quiet machine; all the work takes minutes
        process.communicate(timeout=60)
    assert process.returncode not in (0, None)


def test_the_time_limit_holds_for_each_program_not_for_all_together():
    U, b = directions(300, 30, seed=4)
    start = programs.least_norm(U, b)
    rest = programs.HighsPrograms(U, start.b, start.t, 1.01)
    j = 0
    while rest.model.getRunTime() < 0.5:
        rest.solve(j % 300, 1.0, 60.0)
        j += 1
    assert rest.solve(200, -1.0, 0.0) is None
    assert rest.solve(200, -1.0, 0.4) is not None


def test_a_program_infeasible_by_rounding_is_relaxed_once():
    U, b = directions(30, 5, seed=5)
    start = programs.least_norm(U, b)
    for missing, solvable in ((3e-8, True), (1e-4, False)):
        found = programs.HighsPrograms(U, start.b, start.t, 1 - missing).solve(3, 1.0, 60.0)
        assert (found is not None) == solvable
    assert programs.HighsPrograms(U, start.b, start.t, 1 - 3e-8).solve(3, 1.0, 60.0)[1] >= 0.9e-7


def test_one_hot_rows_start_from_a_complete_basis_with_highs_too():
    """HiGHS leaves the logicals of rows with right-hand side zero in its basis."""
    U, b = np.eye(6)[:, :4].copy(), np.array([0.0, 2.0, 0.0, 0.0])
    start = programs._from_basis(U, b, np.zeros(4), *programs._least_by_highs(U, b / 2, np.zeros(4)))
    assert_allclose([start.mu, np.abs(start.weights).sum(), start.weights[1]], [2, 1, 1])
    assert len(set(start.basis % 6)) == 4


def test_the_least_sum_is_that_of_scipy_and_zero_without_an_optimum():
    U, b = directions(10, 4, seed=2)
    start = programs.least_norm(U, b)
    places = np.array([0, 3, 7])
    cost = np.isin(np.tile(np.arange(10), 2), places).astype(float)
    equal = {"A_eq": np.hstack([U.T, -U.T]), "b_eq": start.b}
    expected = linprog(cost, A_ub=np.ones((1, 20)), b_ub=[1.1], **equal).fun
    assert_allclose(programs.least_sum(start, 1.1, places), max(0.0, expected - programs.ACCEPTED), atol=1e-8)
    assert programs.least_sum(start, 0.5, places) == 0.0


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
