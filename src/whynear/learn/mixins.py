"""Mixins of learners: prediction with another metric, and one map for all cases as a transformer."""

import copy
from collections.abc import Iterator
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from whynear.learn.inputs import measurable_inputs, predict_inputs
from whynear.metric import DiagonalMetric, Evidence, LinearMetric, LocalMetric, Metric, as_metric
from whynear.metric.base import rebuild
from whynear.utils.arrays import Array
from whynear.utils.columns import check_same_columns
from whynear.utils.text import counted


class Predictions(NamedTuple):
    """The predicted class of each case, and the probabilities of all classes."""

    classes: NDArray[Any]
    probabilities: Array


class WithEvidence:
    """Adds `evidence` to a learner with `evidence_of`, for all rows at once or one by one."""

    def evidence(self, X: ArrayLike) -> Evidence:
        """The cases behind predictions, nearest first; see `evidence_of`."""
        return self.evidence_of(measurable_inputs(self, X))

    def evidence_by_row(self, X: ArrayLike) -> Iterator[Evidence]:
        """The evidence of each row by itself, from which it may differ among others in last digits."""
        cases = measurable_inputs(self, X)
        return (self.evidence_of(cases[[row]]) for row in range(len(cases)))

    def evidence_of(self, cases: Array) -> Evidence:
        """The evidence of checked cases."""
        raise NotImplementedError


class WithMetric:
    """Adds `with_metric` to a learner."""

    metric_: Any

    def with_metric(self, metric: Any) -> Self:
        """Return a copy of the fitted learner that predicts with a regularized, averaged or any other metric.

        Parameters
        ----------
        metric : metric, fitted learner or Pipeline
            Its features must be those of the learner. A metric stated in the columns before a scaler is taken back to
            the coordinates in which the learner is fitted.
        """
        check_is_fitted(self)
        given, expected = as_metric(metric), self.metric_.n_features
        value = given.as_learned()
        if given.scale is not None and np.isfinite(given.scale).sum() == expected:
            value = _with_columns(value, np.isfinite(given.scale))  # without columns that an earlier step removed
        if value.n_features != expected:
            raise ValueError(
                f"metric must have the {counted(expected, 'feature')} of the learner, got {value.n_features}."
            )
        if set(value.feature_names) == set(self.metric_.feature_names):
            check_same_columns(value.feature_names, self.metric_.feature_names, "metric")
        twin = copy.copy(self)
        twin.metric_ = value
        return twin


def _with_columns(metric: Metric, kept: NDArray[np.bool_]) -> Metric:
    """Return the metric of the kept columns, which are the last axis of all its arrays."""
    names = tuple(name for name, keep in zip(metric.feature_names, kept, strict=True) if keep)
    return rebuild(type(metric), names, {name: array[..., kept] for name, array in metric.arrays().items()})


def measured_to(metric: LocalMetric, cases: NDArray[np.float64], what: str) -> LocalMetric:
    """Return the metric with the learner's own cases as anchors, from which its own may differ by a shift."""
    rounding = 1e-9 * np.abs(cases).max(initial=1.0)
    away = metric.anchors - cases if metric.anchors.shape == cases.shape else None
    if away is None or not np.abs(away - away[0]).max() <= rounding:
        raise ValueError(f"metric has other anchors than the {what} of the learner, to which it must measure.")
    return LocalMetric(cases, metric.weights, metric.omegas, metric.feature_names, metric.scale)


class MapsCases(TransformerMixin):
    """Adds `transform` to a learner with a linear or diagonal metric: mapped cases have Euclidean distances."""

    metric_: Any

    def transform(self, X: ArrayLike) -> NDArray[np.float64]:
        """Map cases to the space in which the metric is the Euclidean one: X @ omega.T."""
        cases = predict_inputs(self, X)
        if isinstance(self.metric_, DiagonalMetric):
            return cases * np.sqrt(self.metric_.weights)
        return cases @ self._omega().T

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[Any]:
        """Names of the mapped coordinates: the features themselves under a weight each, numbered ones otherwise."""
        check_is_fitted(self)
        if input_features is not None and len(np.asarray(input_features)) != self.metric_.n_features:
            raise ValueError(
                f"input_features should have length equal to number of features: {self.metric_.n_features}"
            )
        if isinstance(self.metric_, DiagonalMetric):
            return np.array(self.metric_.feature_names, dtype=object)
        prefix = type(self).__name__.lower()
        return np.array([f"{prefix}{i}" for i in range(len(self._omega()))], dtype=object)

    def _omega(self) -> NDArray[np.float64]:
        if not isinstance(self.metric_, LinearMetric):
            raise TypeError(
                f"{type(self.metric_).__name__} is not one map for all cases: {type(self).__name__} predicts with it, "
                "but cannot transform."
            )
        return self.metric_.omega
