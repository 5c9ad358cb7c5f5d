import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import approx_fprime

from tests.helpers.lmnn import sorted_problem
from whynear.learn.lmnn import objective as lmnn
from whynear.learn.lmnn.objective import Impostors, best_scale, impostor_pairs, loss_grad, mean_target_scatter


def random_problem(seed, n=40, d=4, n_classes=3, k=3, grid=False, weighted=False, **settings):
    """Random cases; on a coarse grid, where many coincide or are equally far; with weights from 1 / 4 to 4."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    codes = np.concatenate([np.arange(n_classes), rng.integers(0, max(1, n_classes - 1), n - n_classes)])
    weights = 4.0 ** rng.uniform(-1, 1, n) if weighted else None
    return sorted_problem(np.round(X) if grid else X, codes, k, weights, **settings)


def slow_loss(omega, problem):
    """The loss, triple by triple."""
    mu, Z, n = problem.push_weight, problem.X @ omega.T, len(problem.X)
    total = counted = 0.0
    for i in range(n):
        w = problem.weights[i]
        for j in problem.targets[i][problem.targets[i] >= 0]:
            sq_target = np.square(Z[i] - Z[j]).sum()
            counted += w
            total += w * (1 - mu) * sq_target
            for other in range(n):
                if problem.class_ends[other] != problem.class_ends[i]:
                    total += w * mu * max(0.0, problem.margin + sq_target - np.square(Z[i] - Z[other]).sum())
    return total / (counted or 1.0)


seeds = st.integers(0, 10_000)


shapes = st.tuples(st.integers(4, 40), st.integers(1, 40), st.integers(1, 4))


@given(seeds, shapes, st.booleans(), st.booleans(), st.floats(0.05, 0.95), st.floats(0.1, 5))
def test_the_loss_over_found_impostors_is_that_of_all_triples(seed, shape, grid, weighted, push_weight, margin):
    n, d, k = shape
    settings = {"push_weight": push_weight, "margin": margin, "weighted": weighted}
    problem = random_problem(seed, n=n, d=d, k=k, grid=grid, **settings)
    omega = np.random.default_rng(seed).standard_normal((min(d, 3), d))
    assert_allclose(loss_grad(omega, problem, impostor_pairs(omega, problem))[0], slow_loss(omega, problem), rtol=1e-9)


@given(seeds, shapes, st.booleans())
def test_the_gradient_is_that_of_finite_differences(seed, shape, weighted):
    n, d, k = shape
    problem = random_problem(seed, n=n, d=min(d, 6), k=k, push_weight=0.3, weighted=weighted)
    omega = np.random.default_rng(seed).standard_normal((3, problem.X.shape[1]))
    pairs = Impostors(omega, problem, slack=0.5)

    def loss(flat):
        return loss_grad(flat.reshape(omega.shape), problem, pairs.at(omega))[0]

    gradient = loss_grad(omega, problem, pairs.at(omega))[1]
    expected = approx_fprime(omega.ravel(), loss, 1e-7).reshape(omega.shape)
    # A hinge that opens within the step bends the difference by up to the step.
    assert_allclose(gradient, expected, rtol=1e-4, atol=1e-4 * (1 + np.abs(gradient).max()))


def test_pairs_are_listed_once_and_are_those_of_the_definition():
    problem = random_problem(1, n=700, d=3, n_classes=5)
    omega = np.eye(3)
    sq = np.square(problem.X[:, None] - problem.X[None]).sum(axis=2)
    reach = np.array(
        [
            1 + max((sq[i, j] for j in targets[targets >= 0]), default=-np.inf)
            for i, targets in enumerate(problem.targets)
        ]
    )
    other = problem.class_ends[:, None] != problem.class_ends[None]
    expected = {tuple(pair) for pair in np.argwhere(np.triu(other & (sq < np.maximum(reach[:, None], reach))))}
    found = [pair for chunk in impostor_pairs(omega, problem) for pair in zip(*chunk, strict=True)]
    assert len(found) == len(set(found))
    assert expected <= set(found)
    assert all(sq[pair] < (1 + 1e-4) * max(reach[list(pair)]) for pair in found)


def test_slack_widens_the_list():
    problem = random_problem(2, n=200, d=5)
    omega = np.eye(5)
    narrow, wide = (
        {pair for chunk in impostor_pairs(omega, problem, slack) for pair in zip(*chunk, strict=True)}
        for slack in (0.0, 1.0)
    )
    assert narrow < wide


@pytest.mark.parametrize("factor", [1e-30, 1e-10, 1.0, 1e10, 1e30])
def test_no_impostor_is_missed_at_any_magnitude(factor):
    problem = random_problem(3, n=60, d=3, margin=factor**2)
    omega = factor * np.eye(3)
    loss = loss_grad(omega, problem, impostor_pairs(omega, problem))[0]
    assert_allclose(loss / factor**2, slow_loss(np.eye(3), random_problem(3, n=60, d=3)), rtol=1e-9)


def test_no_impostor_is_missed_far_from_the_origin():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.standard_normal((40, 3)), 1e6 + rng.standard_normal((40, 3))])
    problem = sorted_problem(X, rng.integers(0, 3, 80))
    omega = np.eye(3)
    assert_allclose(loss_grad(omega, problem, impostor_pairs(omega, problem))[0], slow_loss(omega, problem), rtol=1e-6)


def test_pairs_too_many_to_keep_are_found_anew_with_the_same_loss(monkeypatch):
    problem = random_problem(4, n=120, d=4)
    start, omega = np.eye(4), 0.5 * np.eye(4)
    few = Impostors(start, problem, slack=0.5, most=10)
    assert few.chunks is None
    loss, gradient = loss_grad(omega, problem, impostor_pairs(omega, problem))
    streamed = loss_grad(omega, problem, few.at(omega))
    assert_allclose(streamed[0], loss, rtol=1e-12)
    assert_allclose(streamed[1], gradient, rtol=1e-9)


def test_kept_pairs_come_in_chunks_with_the_same_loss(monkeypatch):
    problem, omega = random_problem(5, n=900, d=3), np.eye(3)
    whole = Impostors(omega, problem, slack=0.5)
    monkeypatch.setattr(lmnn, "CHUNK_TERMS", 1000)
    parts = Impostors(omega, problem, slack=0.5)
    assert len(parts.chunks) > len(whole.chunks) == 1
    assert_allclose(loss_grad(omega, problem, parts.at(omega))[0], loss_grad(omega, problem, whole.at(omega))[0])


@given(seeds, st.integers(1, 6), st.booleans())
def test_targets_are_the_nearest_of_the_class(seed, k, grid):
    problem = random_problem(seed, n=30, k=k, grid=grid)
    for i, targets in enumerate(problem.targets):
        own = np.flatnonzero((problem.class_ends == problem.class_ends[i]) & (np.arange(30) != i))
        sq = np.square(problem.X[own] - problem.X[i]).sum(axis=1)
        expected = own[np.lexsort((own, sq))][:k]
        assert_array_equal(targets[: len(expected)], expected)
        assert (targets[len(expected) :] == -1).all()


def test_a_class_of_one_row_has_no_targets_and_is_an_impostor_only():
    problem = sorted_problem(np.array([[0.0], [1.0], [0.5]]), np.array([0, 0, 1]), k=1)
    assert_array_equal(problem.targets, [[1], [0], [-1]])
    # (1-mu) 1 + mu [1 + 1 - 0.25] for each of the two targets
    assert_allclose(loss_grad(np.eye(1), problem, impostor_pairs(np.eye(1), problem))[0], 0.5 + 0.5 * 1.75)


def test_without_targets_there_is_nothing_to_lose():
    problem = sorted_problem(np.array([[0.0], [1.0]]), np.array([0, 1]), k=2)
    loss, gradient = loss_grad(np.eye(1), problem, impostor_pairs(np.eye(1), problem))
    assert loss == 0
    assert_array_equal(gradient, [[0.0]])


@given(seeds, st.booleans())
def test_the_best_scale_has_the_least_loss_of_all_powers_of_two(seed, weighted):
    problem = random_problem(seed, n=40, d=3, weighted=weighted)
    scale = best_scale(np.eye(3), problem)
    losses = [slow_loss(factor * scale * np.eye(3), problem) for factor in (0.5, 1.0, 2.0)]
    assert losses[1] <= min(losses) * (1 + 1e-9)


def test_the_scatter_of_targets_is_that_of_their_differences():
    problem = random_problem(6, n=50, d=4)
    differences = [problem.X[i] - problem.X[j] for i, row in enumerate(problem.targets) for j in row if j >= 0]
    expected = np.mean([np.outer(difference, difference) for difference in differences], axis=0)
    assert_allclose(mean_target_scatter(problem.X, problem.targets), expected)
