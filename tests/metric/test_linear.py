import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from whynear import DiagonalMetric, LinearMetric, NeighborSearch
from whynear.metric import base


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


def test_a_diagonal_metric_is_the_linear_metric_of_its_roots():
    rng = np.random.default_rng(3)
    weights, X = rng.exponential(size=4), rng.standard_normal((6, 4))
    diagonal, full = DiagonalMetric(weights), LinearMetric(np.diag(np.sqrt(weights)))
    assert_allclose(diagonal.sq_distances(X), full.sq_distances(X), rtol=1e-10, atol=1e-12)
    assert_allclose(diagonal.contributions(X, X[0]), full.contributions(X, X[0]), rtol=1e-10, atol=1e-12)
    assert_allclose(diagonal.matrix(), full.matrix())
    assert_allclose(diagonal.map(X), full.map(X))


def test_ten_thousand_features_take_kilobytes():
    X = np.random.default_rng(0).standard_normal((3, 10_000))
    NeighborSearch(DiagonalMetric(np.ones(2)), X[:, :2]).nearest(X[:, :2], 2)  # loads the compiled code
    tracemalloc.start()
    metric = DiagonalMetric(np.ones(10_000))
    metric.sq_distances(X)
    NeighborSearch(metric, X).nearest(X, 2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 << 20


def test_scale_enters_squared():
    metric = DiagonalMetric([4.0, 0.0], scale=[0.5, np.inf])
    assert metric.as_learned().weights.tolist() == [1.0, 0.0]


RNG = np.random.default_rng(0)
X, CASES = RNG.standard_normal((4, 3)), RNG.standard_normal((5, 3))
DIFFERENCES = X[:, None] - CASES[None]
MAPS = {"diagonal": RNG.random((5, 3)), "full": RNG.standard_normal((5, 2, 3))}


def expected(maps):
    """Squared distances from each row to each case, each under the map of the case, or all under a single one."""
    maps = np.broadcast_to(maps, (5, *maps.shape[1:]))
    if maps.ndim == 2:
        return (maps * DIFFERENCES**2).sum(axis=2)
    return (np.einsum("icd,nid->nic", maps, DIFFERENCES) ** 2).sum(axis=2)


@pytest.mark.parametrize("kind", MAPS)
def test_all_distances_are_those_of_numpy(kind):
    out = np.empty((4, 5))
    kernel = base.diagonal_sq_distances if kind == "diagonal" else base.full_sq_distances
    kernel(X, CASES, MAPS[kind], out)
    assert_allclose(out, expected(MAPS[kind]))


@pytest.mark.parametrize("n_maps", [1, 5])
@pytest.mark.parametrize("kind", MAPS)
def test_listed_distances_are_those_of_numpy_under_one_map_or_one_per_case(kind, n_maps):
    maps = MAPS[kind][:n_maps]
    indices = np.array([[0, 4], [2, 2], [3, 1], [4, 0]])
    out = np.empty((4, 2))
    kernel = base.listed_diagonal if kind == "diagonal" else base.listed_full
    kernel(X, CASES, maps, indices, out)
    assert_allclose(out, np.take_along_axis(expected(maps), indices, axis=1))
