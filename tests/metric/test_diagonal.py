import tracemalloc

import numpy as np
from numpy.testing import assert_allclose

from whynear import DiagonalMetric, LinearMetric, NeighborSearch


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
