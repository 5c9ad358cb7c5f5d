import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from whynear import LinearMetric


def test_distance_equals_the_quadratic_form():
    rng = np.random.default_rng(1)
    metric, X = LinearMetric(rng.standard_normal((3, 5))), rng.standard_normal((8, 5))
    slow = [[(x - y) @ metric.matrix() @ (x - y) for y in X] for x in X]
    assert_allclose(metric.sq_distances(X), slow, rtol=1e-10, atol=1e-12)
    assert_allclose(((metric.map(X)[:, None] - metric.map(X)[None]) ** 2).sum(-1), slow, rtol=1e-10, atol=1e-12)


def test_equal_rows_are_at_distance_zero_in_any_block_and_with_any_offset():
    rng = np.random.default_rng(2)
    metric = LinearMetric(rng.standard_normal((40, 50)))
    X = 1e6 + rng.standard_normal((300, 50))
    X[150:] = X[:150]
    for rows in (slice(0, 300), slice(7, 8), slice(3, 160)):
        sq = metric.sq_distances(X[rows], X)
        assert_array_equal(sq[np.arange(len(sq)), np.arange(300)[rows]], 0)
        assert_array_equal(sq[np.arange(len(sq)), (np.arange(300)[rows] + 150) % 300], 0)


def test_a_contribution_can_be_negative_and_is_not_clipped():
    metric = LinearMetric([[1.0, -1.0]])
    parts = metric.contributions([1.0, 0.5], [0.0, 0.0])
    assert_allclose(parts, [0.5, -0.25])
    assert parts.sum() == metric.sq_distances([[1.0, 0.5]], [[0.0, 0.0]])[0, 0]


def test_rows_of_two_tables_are_compared_one_by_one():
    metric = LinearMetric(np.eye(2))
    assert_allclose(metric.contributions([[1, 2], [3, 4]], [0, 0]), [[1, 4], [9, 16]])
    with pytest.raises(ValueError, match="got 2 and 3 instead"):
        metric.contributions(np.ones((2, 2)), np.ones((3, 2)))


def test_learned_coordinates_undo_the_scale_and_drop_what_was_never_seen():
    metric = LinearMetric([[2.0, 0.0]], scale=[0.5, np.inf])
    assert_array_equal(metric.as_learned().omega, [[1.0, 0.0]])
    assert_array_equal(metric.learned_coordinates([[3.0, 7.0]]), [[6.0, 0.0]])


def test_distances_within_far_clusters_are_relatively_exact():
    rng = np.random.default_rng(3)
    X = np.concatenate([rng.standard_normal((50, 2)) * 1e-5, 1e10 + rng.standard_normal((50, 2)) * 1e-5])
    X = X.round(20)
    exact = np.square(X[:, None] - X[None]).sum(axis=-1)
    assert_allclose(LinearMetric(np.eye(2)).sq_distances(X), exact, rtol=1e-5)
