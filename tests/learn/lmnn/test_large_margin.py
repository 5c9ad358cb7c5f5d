import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs

from tests.helpers.lmnn import full_loss, noisy, sorted_problem
from whynear.learn.lmnn.large_margin import PairSearch, Settings, descend, learn_map
from whynear.learn.lmnn.objective import Impostors, impostor_pairs, loss_grad, target_neighbors


def quiet_step(step):
    pass


def test_the_descent_ends_where_no_small_change_helps():
    X, codes = noisy(150, 4)
    problem = sorted_problem(X / X.std(), codes)
    solution = descend(problem, np.eye(4), max_iter=2000, tol=1e-10, watch=quiet_step)
    assert solution.converged
    omega, rng = solution.x.reshape(4, 4), np.random.default_rng(0)
    loss = full_loss(omega, problem)
    for _ in range(50):
        assert full_loss(omega + 0.01 * rng.standard_normal((4, 4)), problem) > loss


def test_a_round_that_loses_sight_of_impostors_is_repeated():
    # Far classes with wide gaps: no pair is near enough to be watched, so the first round shrinks the map to nothing.
    X, codes = make_blobs(90, 3, centers=3, cluster_std=0.01, center_box=(-50, 50), random_state=0)
    problem = sorted_problem(X, codes)
    solution = descend(problem, np.eye(3), max_iter=300, tol=1e-3, watch=quiet_step)
    assert full_loss(solution.x.reshape(3, 3), problem) < 1e-3 * full_loss(np.zeros((3, 3)), problem)


def test_the_map_of_the_paper_s_loss_does_not_depend_on_the_order_of_rows_nor_the_unit_of_weights():
    X, codes = noisy(120, 4)
    settings = Settings(3, None, "identity", 0.5, 1.0, 1, 300, 1e-6, None)
    order = np.random.default_rng(0).permutation(120)
    weights = np.random.default_rng(1).integers(1, 5, 120).astype(float)
    omega, _ = learn_map(X, codes, weights, settings, quiet_step)
    again, _ = learn_map(X[order], codes[order], 3 * weights[order], settings, quiet_step)
    assert_allclose(omega.T @ omega, again.T @ again, rtol=1e-3, atol=1e-3)


def test_a_search_here_finds_targets_and_the_loss_of_all_impostors():
    X, codes = noisy()
    problem, omega = sorted_problem(X, codes), np.eye(2, 12)
    assert_array_equal(
        PairSearch().targets(problem.X, np.sort(codes), 3), target_neighbors(problem.X, np.sort(codes), 3)
    )
    loss, gradient = PairSearch().loss_near(problem, omega, 0.1)(omega)
    expected = loss_grad(omega, problem, impostor_pairs(omega, problem))
    assert_allclose(loss, expected[0])
    assert_allclose(gradient, expected[1], atol=1e-12)


def test_bands_have_all_pairs_together_and_each_once():
    problem = sorted_problem(*noisy(n=1500))
    everything = {pair for chunk in impostor_pairs(np.eye(12), problem, 0.2) for pair in zip(*chunk, strict=True)}
    bands = [list(impostor_pairs(np.eye(12), problem, 0.2, (i, 3))) for i in range(3)]
    found = [pair for band in bands for chunk in band for pair in zip(*chunk, strict=True)]
    assert len(found) == len(everything)
    assert set(found) == everything


def test_a_band_that_is_too_long_to_keep_is_searched_again():
    problem = sorted_problem(*noisy(n=1500))
    kept, anew = (Impostors(np.eye(12), problem, 0.0, most, (1, 2)) for most in (10**6, 10))
    counts = [sum(len(pairs[0]) for pairs in one.at(np.eye(12))) for one in (kept, anew)]
    assert anew.chunks is None
    assert counts[0] == counts[1] > 0
