import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tests.helpers.learners import Holder, NearestClassMean
from whynear import DiagonalMetric, LinearMetric, LocalMetric, as_metric
from whynear.learn.mixins import MapsCases, measured_to

X = pd.DataFrame(np.random.default_rng(0).standard_normal((20, 3)) * [1, 10, 100], columns=list("abc"))
Y = np.arange(20) % 2


class Mapping(MapsCases, Holder):
    """A learner of a given metric that maps cases."""

    def fit(self, X, y=None):
        self.n_features_in_ = np.shape(X)[1]
        return super().fit(X, y)


def test_a_copy_predicts_with_the_other_metric_and_the_learner_stays():
    model = NearestClassMean().fit(X, Y)
    before, other = model.metric_, DiagonalMetric([1.0, 0.0, 0.0], list("abc"))
    twin = model.with_metric(other)
    assert twin.metric_ is other
    assert model.metric_ is before
    nearest = other.sq_distances(X.to_numpy(), model.means_).argmin(axis=1)
    assert_array_equal(twin.predict(X), nearest)


def test_a_metric_in_the_columns_before_a_scaler_is_restated_for_the_learner():
    model = make_pipeline(StandardScaler(), NearestClassMean()).fit(X, Y)
    twin = model[-1].with_metric(as_metric(model))
    assert_allclose(twin.metric_.weights, model[-1].metric_.weights)


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        (DiagonalMetric(np.ones(2)), "metric must have the 3 features of the learner, got 2"),
        (DiagonalMetric(np.ones(3), list("cba")), "metric"),
    ],
)
def test_a_metric_of_other_columns_is_refused(metric, message):
    with pytest.raises(ValueError, match=message):
        NearestClassMean().fit(X, Y).with_metric(metric)
    with pytest.raises(NotFittedError):
        NearestClassMean().with_metric(metric)


@pytest.mark.filterwarnings("error")
def test_anchors_may_differ_from_the_cases_by_a_shift_only():
    cases = X.to_numpy()
    metric = LocalMetric(cases + 7.0, weights=np.ones_like(cases))
    assert_array_equal(measured_to(metric, cases, "prototypes").anchors, cases)
    for others in (2 * cases, cases[:5]):
        with pytest.raises(ValueError, match="other anchors than the prototypes of the learner"):
            measured_to(metric, others, "prototypes")


@pytest.mark.parametrize("metric", [LinearMetric(np.arange(6.0).reshape(2, 3)), DiagonalMetric([4.0, 0.0, 1.0])])
def test_distances_between_mapped_cases_are_euclidean(metric):
    table = X.to_numpy()
    model = Mapping(metric).fit(table)
    mapped = model.transform(table)
    euclidean = DiagonalMetric(np.ones(mapped.shape[1]))
    assert_allclose(euclidean.sq_distances(mapped), metric.sq_distances(table), atol=1e-6)
    names = ["mapping0", "mapping1"] if isinstance(metric, LinearMetric) else ["x0", "x1", "x2"]
    assert model.get_feature_names_out().tolist() == names
    with pytest.raises(ValueError, match="number of features: 3"):
        model.get_feature_names_out(["a"])


def test_a_local_metric_maps_no_cases():
    table = X.to_numpy()
    model = Mapping(LocalMetric(table, weights=np.ones_like(table))).fit(table)
    with pytest.raises(TypeError, match="LocalMetric is not one map for all cases"):
        model.transform(table)
