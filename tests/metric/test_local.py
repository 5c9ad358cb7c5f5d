import numpy as np
import pytest
from numpy.testing import assert_allclose

from whynear import LocalMetric


def slow_sq_distances(metric, X):
    """The definition, written as a double loop."""
    lambdas = (
        [omega.T @ omega for omega in metric.omegas] if metric.omegas is not None else map(np.diag, metric.weights)
    )
    pairs = list(zip(metric.anchors, lambdas, strict=True))
    return np.array([[(x - a) @ lam @ (x - a) for a, lam in pairs] for x in X])


@pytest.fixture(params=["diagonal", "full"])
def metric(request):
    rng = np.random.default_rng(4)
    anchors = rng.standard_normal((9, 5))
    if request.param == "diagonal":
        return LocalMetric(anchors, weights=rng.exponential(size=(9, 5)))
    return LocalMetric(anchors, omegas=rng.standard_normal((9, 2, 5)))


def test_the_anchors_own_map_measures(metric):
    X = np.random.default_rng(5).standard_normal((7, 5))
    assert_allclose(metric.sq_distances(X), slow_sq_distances(metric, X), rtol=1e-10, atol=1e-12)


def test_anchors_can_be_chosen_by_their_coordinates_in_any_order(metric):
    X = np.random.default_rng(6).standard_normal((3, 5))
    assert_allclose(metric.sq_distances(X, metric.anchors[[4, 1]]), metric.sq_distances(X)[:, [4, 1]])


def test_a_case_that_is_no_anchor_cannot_be_measured_to(metric):
    with pytest.raises(ValueError, match="Row 1 of Y is no anchor"):
        metric.sq_distances(metric.anchors, [metric.anchors[0], np.zeros(5)])


def test_each_anchor_gives_a_metric_of_its_own(metric):
    X = np.random.default_rng(7).standard_normal((3, 5))
    columns = [one.sq_distances(X, anchor[None]) for one, anchor in zip(metric, metric.anchors, strict=True)]
    assert_allclose(np.hstack(columns), metric.sq_distances(X), rtol=1e-10)
    assert_allclose(np.array([one.relevances() for one in metric]), metric.relevances())


def test_one_anchor_at_a_time(metric):
    with pytest.raises(TypeError, match="integer"):
        metric[0:2]


def test_equal_anchors_with_different_maps_are_chosen_by_number():
    metric = LocalMetric([[0.0], [0.0], [1.0]], weights=[[1.0], [2.0], [3.0]])
    assert metric.sq_distances([[2.0]]).tolist() == [[4.0, 8.0, 3.0]]
    with pytest.raises(ValueError, match="several anchors with different maps"):
        metric.contributions([2.0], [0.0])
    assert metric[1].contributions([2.0], [0.0]).tolist() == [8.0]
    same = LocalMetric([[0.0], [-0.0]], weights=[[2.0], [2.0]])
    assert same.contributions([1.0], [0.0]).tolist() == [2.0]
