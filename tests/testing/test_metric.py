import numpy as np
import pytest

from whynear import DiagonalMetric, LinearMetric, LocalMetric
from whynear.metric import Metric
from whynear.testing import check_metric


class NegativeMetric(DiagonalMetric):
    def sq_distances(self, X, Y=None):
        return super().sq_distances(X, Y) - 1


class AsymmetricMetric(DiagonalMetric):
    def sq_distances(self, X, Y=None):
        sq = super().sq_distances(X, Y)
        return sq * (1 + np.arange(len(sq)))[:, None]


class ClippedMetric(LinearMetric):
    def contributions(self, x, y):
        return np.maximum(super().contributions(x, y), 0)


class RootMetric(DiagonalMetric):
    def relevances(self):
        return np.sqrt(super().relevances())


class WritableMetric(DiagonalMetric):
    def __init__(self, weights, feature_names=None, scale=None):
        super().__init__(weights, feature_names, scale)
        vars(self)["weights"] = self.weights.copy()


class CarelessMetric(DiagonalMetric):
    def sq_distances(self, X, Y=None):
        return super().sq_distances(np.nan_to_num(X), None if Y is None else np.nan_to_num(Y))


class EqualToAll(DiagonalMetric):
    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0


@pytest.mark.parametrize(
    ("metric", "complaint"),
    [
        (NegativeMetric([1.0, 2.0]), "a squared distance is negative"),
        (AsymmetricMetric([1.0, 2.0]), "a global metric is symmetric"),
        (ClippedMetric([[1.0, -1.0]]), "contributions sum to the squared distance"),
        (RootMetric([1.0, 2.0]), "a relevance is the squared distance of a unit step"),
        (WritableMetric([1.0, 2.0]), "weights can be written to"),
        (CarelessMetric([1.0, 2.0]), "a NaN was accepted"),
        (EqualToAll([1.0, 2.0]), "a metric with other names is equal"),
    ],
)
def test_a_value_that_breaks_a_law_is_rejected_for_it(metric, complaint):
    with pytest.raises(AssertionError, match=f"(?s)failed .* of .* checks:.*{complaint}"):
        check_metric(metric)


def test_only_values_can_be_checked():
    with pytest.raises(AssertionError, match="takes a metric value, got ndarray"):
        check_metric(np.eye(2))


def test_large_local_metrics_are_checked_on_a_few_cases():
    anchors = np.random.default_rng(0).standard_normal((3000, 3))
    check_metric(LocalMetric(anchors, np.ones_like(anchors)))


def test_every_public_kind_is_a_metric():
    assert all(issubclass(kind, Metric) for kind in (LinearMetric, DiagonalMetric, LocalMetric))
