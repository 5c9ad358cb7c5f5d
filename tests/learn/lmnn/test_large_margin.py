import numpy as np
from numpy.testing import assert_allclose
from sklearn.datasets import make_blobs

from tests.helpers.lmnn import full_loss, noisy, sorted_problem
from whynear.learn.lmnn.large_margin import Settings, descend, learn_map


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
