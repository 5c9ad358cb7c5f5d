import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import whynear as wn
from tests.helpers.strategies import cases, scales
from whynear.metric import DiagonalMetric, MinkowskiMetric
from whynear.model.as_metric import as_metric
from whynear.search import NeighborSearch
from whynear.testing import check_metric

ORDERS = st.sampled_from([1, 1.5, 2, 3])


@st.composite
def minkowski_metrics(draw, n_features=3):
    scale = draw(scales(n_features))
    seen = np.ones(n_features) if scale is None else np.isfinite(scale)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return MinkowskiMetric(rng.exponential(size=n_features).round(1) * seen, draw(ORDERS), scale=scale)


@given(minkowski_metrics(), cases(3))
def test_it_obeys_the_laws_of_metrics(metric, X):
    check_metric(metric)
    check_metric(metric, X)


@given(minkowski_metrics(), cases(3))
def test_it_is_the_power_of_scipys_distance(metric, X):
    expected = cdist(X, X, "minkowski", p=metric.p, w=metric.weights) ** metric.p
    assert_allclose(metric.sq_distances(X), expected, rtol=1e-9, atol=1e-12 * max(expected.max(), 1e-300))


def test_order_two_is_the_diagonal_metric():
    X, weights = np.random.default_rng(0).standard_normal((9, 4)), [0.5, 0.0, 2.0, 1.0]
    one, other = MinkowskiMetric(weights, 2), DiagonalMetric(weights)
    assert_allclose(one.sq_distances(X), other.sq_distances(X), atol=1e-12)
    assert_allclose(one.map(X), other.map(X))
    assert one != other


@given(minkowski_metrics(), cases(3, st.integers(2, 30)), st.data())
def test_the_search_finds_what_sorting_finds(metric, X, data):
    k = data.draw(st.integers(1, len(X) - 1))
    sq, indices = NeighborSearch(metric, X).nearest(X, k, exclude=np.arange(len(X)))
    everything = metric.sq_distances(X)
    np.fill_diagonal(everything, np.inf)
    order = np.argsort(everything, axis=1, kind="stable")[:, :k]
    assert_array_equal(indices, order)
    assert_array_equal(sq, np.take_along_axis(everything, order, axis=1))


def test_a_scaler_before_it_is_folded_in():
    X, y = np.random.default_rng(1).standard_normal((40, 3)) * [1, 10, 100], np.arange(40) % 2
    model = make_pipeline(StandardScaler(), wn.Slider(p=3, random_state=0)).fit(X, y)
    metric = as_metric(model)
    behind = model[-1].metric_.sq_distances(model[0].transform(X))
    assert_allclose(metric.sq_distances(X), behind, rtol=1e-9, atol=1e-9)
    assert_allclose(metric.as_learned().weights, model[-1].metric_.weights)
    with pytest.raises(TypeError, match="a step that mixes columns"):
        as_metric(make_pipeline(PCA(), wn.Slider(p=1, random_state=0)).fit(X, y))


def test_it_survives_a_file(tmp_path):
    metric = MinkowskiMetric([1.0, 2.0], 3, ["a", "b"])
    wn.save(metric, tmp_path / "metric")
    assert wn.load(tmp_path / "metric") == metric
    assert MinkowskiMetric([1.0, 2.0], 1, ["a", "b"]) != metric


@pytest.mark.parametrize("p", [0.5, np.nan, np.inf, [1, 2]], ids=str)
def test_no_order_below_one(p):
    with pytest.raises(ValueError, match="p must be one finite number of at least 1"):
        MinkowskiMetric([1.0, 2.0], p)


@pytest.mark.parametrize(("size", "fate"), [(1e120, "overflow"), (1e-120, "vanish")])
def test_powers_out_of_range_are_refused(size, fate):
    with pytest.raises(ValueError, match=fate):
        MinkowskiMetric([1.0, 1.0], 3).sq_distances([[0.0, size]])


def test_repr():
    assert repr(MinkowskiMetric([1, 2], 3, ["a", "b"])) == "MinkowskiMetric(order 3, 2 features: a, b)"
