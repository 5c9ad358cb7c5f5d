import warnings

import numpy as np
import pytest

from whynear import DiagonalMetric, LinearMetric, LocalMetric
from whynear.metric import Metric
from whynear.testing import check_metric
from whynear.testing.metric import refused, run_checks


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


def fails(message):
    def check():
        raise ValueError(message)

    return check


def test_all_failures_are_listed_with_their_reasons():
    def unequal():
        raise AssertionError("one\n  two")

    checks = [("first", fails("no")), ("second", lambda: None), ("third", unequal)]
    with pytest.raises(AssertionError) as caught:
        run_checks("thing", checks)
    lines = str(caught.value).splitlines()
    assert lines[0] == "thing failed 2 of 3 checks:"
    assert lines[1].startswith("- first: ValueError: no (check, line ")
    assert lines[2].startswith("- third: one two (unequal, line ")


def test_checks_that_pass_raise_nothing_and_their_warnings_are_hidden():
    with warnings.catch_warnings(record=True) as caught:
        run_checks("thing", [("warns", lambda: warnings.warn("not converged", UserWarning, stacklevel=1))])
    assert not caught


def test_bad_input_must_be_refused_by_a_message_that_names_the_fact():
    refused("a NaN", "COLUMN", fails("in column 'a'"))
    with pytest.raises(AssertionError, match="the error for a NaN does not name 'width': in column 'a'"):
        refused("a NaN", "width", fails("in column 'a'"))
    with pytest.raises(AssertionError, match="a NaN was accepted"):
        refused("a NaN", "width", lambda: None)
    with pytest.raises(KeyError):
        refused("a NaN", "width", {}.__getitem__, 1)
