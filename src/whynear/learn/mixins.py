"""What learners share: a metric, predictions by neighbours, and loading from a file."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from threading import Lock
from typing import Any, ClassVar, NamedTuple, Self, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from whynear.learn.inputs import measurable_inputs, predict_inputs
from whynear.learn.registry import Traits
from whynear.metric import Evidence, LinearMetric, LocalMetric, Metric
from whynear.metric.base import rebuild
from whynear.model.as_metric import as_metric
from whynear.search.voting import Votes
from whynear.utils.arrays import Array, Indices
from whynear.utils.checks import number, whole
from whynear.utils.columns import check_same_columns
from whynear.utils.text import counted
from whynear.utils.threads import n_threads

Made = TypeVar("Made")


class Predictions(NamedTuple):
    """The predicted class of each case, and the probabilities of all classes."""

    classes: NDArray[Any]
    probabilities: Array


class WithEvidence:
    """Adds `evidence` to a learner with `evidence_of`, at once or row by row, and keeps what was made for it."""

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

    def _kept(self, make: Callable[..., Made], *values: Any, **settings: Any) -> Made:
        """Return ``make(*values, **settings)``, made again only if a value is another object or a setting differs."""
        with _LOCK:
            kept = _KEPT.setdefault(self, _Kept())
        made_of = (make, *values)
        with kept.lock:
            same = len(made_of) == len(kept.values) and all(a is b for a, b in zip(made_of, kept.values, strict=True))
            if not (same and settings == kept.settings):
                kept.made, kept.values = None, ()  # frees the old one before the new one is made
                kept.made = make(*values, **settings)
                kept.values, kept.settings = made_of, settings
            found: Made = kept.made
            return found


class WithMetric:
    """Adds `with_metric` to a learner, and what it is to a study unless its class declares that."""

    traits: ClassVar[Traits] = Traits()
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
        return self._one_map().mapped(cases)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[Any]:
        """Names of the mapped coordinates: the features themselves under a weight each, numbered ones otherwise."""
        check_is_fitted(self)
        if input_features is not None and len(np.asarray(input_features)) != self.metric_.n_features:
            raise ValueError(
                f"input_features should have length equal to number of features: {self.metric_.n_features}"
            )
        if not isinstance(self._one_map(), LinearMetric):
            return np.array(self.metric_.feature_names, dtype=object)
        prefix = type(self).__name__.lower()
        return np.array([f"{prefix}{i}" for i in range(len(self.metric_.omega))], dtype=object)

    def _one_map(self) -> Any:
        if isinstance(self.metric_, LocalMetric):
            raise TypeError(
                f"LocalMetric is not one map for all cases: {type(self).__name__} predicts with it, but cannot "
                "transform."
            )
        return self.metric_


# d features, n training cases, m prototypes, e coefficients of k outputs
SHAPES: dict[str, tuple[int | str, ...]] = {
    "input_range_": (2, "d"),
    "cases_": ("n", "d"),
    "codes_": ("n",),
    "targets_": ("n",),
    "weights_": ("n",),
    "groups_": ("n",),
    "times_": ("n",),
    "case_places_": ("n",),
    "origin_": ("d",),
    "_factors": ("d",),
    "prototypes_": ("m", "d"),
    "prototype_labels_": ("m",),
    "row_names_": ("n",),
    "members_": ("e",),
    "leaves_": ("e",),
    "coefficients_": ("e", "k"),
    "constants_": ("k",),
}
NUMBERS = ("certainty_", "target_origin_")
LABELS = ("prototype_labels_", "row_names_")


class CheckedWhenLoaded:
    """Adds to a learner that `whynear.load` refuses parameters and arrays that do not fit together."""

    def check_settings(self) -> None:
        """Refuse parameters that `fit` refuses."""
        raise NotImplementedError

    def restore_fields(self) -> None:
        """Check what `whynear.load` set."""
        if hasattr(self, "metric_"):
            check_fitted_state(self)
            self.check_settings()
            n_threads(getattr(self, "n_jobs", None))


def check_fitted_state(learner: Any) -> None:
    """Refuse attributes of a fitted learner that do not fit together; the error names the attribute."""
    sizes: dict[int | str, int] = {2: 2, "d": whole("n_features_in_", learner.n_features_in_)}
    metric = learner.metric_
    _require(isinstance(metric, Metric) and metric.n_features == sizes["d"], "metric_", "of other features")
    for name, shape in SHAPES.items():
        array = getattr(learner, name, None)
        if array is not None:
            _require(isinstance(array, np.ndarray) and array.ndim == len(shape), name, f"no array of {shape}")
            for size, found in zip(shape, array.shape, strict=True):
                _require(found == sizes.setdefault(size, found), name, f"of shape {array.shape}")
            _require(name in LABELS or _all_numbers(array), name, "not all finite numbers")
    for name in NUMBERS:
        if hasattr(learner, name):
            number(name, getattr(learner, name), least=-np.inf)
    whole("n_votes_", getattr(learner, "n_votes_", 1))
    if isinstance(metric, LocalMetric):
        _require(len(metric) == sizes.get("n", sizes.get("m")), "metric_", "of other cases")
    if hasattr(learner, "classes_"):
        _check_classes(learner, learner.classes_)


def _check_classes(learner: Any, classes: Any) -> None:
    fits = isinstance(classes, np.ndarray) and classes.ndim == 1 and len(classes) > 1
    _require(fits and bool(np.all(classes[:-1] < classes[1:])), "classes_", "not a sorted list of classes")
    if (codes := getattr(learner, "codes_", None)) is not None:
        inside = codes.dtype.kind == "i" and codes.min(initial=0) >= 0 and codes.max(initial=0) < len(classes)
        _require(inside, "codes_", "not a class for each case")
    if (labels := getattr(learner, "prototype_labels_", None)) is not None:
        _require(bool(np.isin(labels, classes).all()), "prototype_labels_", "not among the classes")
        _require(bool(np.all(labels[:-1] <= labels[1:])), "prototype_labels_", "not sorted")


def _all_numbers(array: NDArray[Any]) -> bool:
    return array.dtype.kind == "i" or (array.dtype == np.float64 and bool(np.isfinite(array).all()))


def _require(holds: bool, name: str, fault: str) -> None:
    if not holds:
        raise ValueError(f"{name} is {fault}")


class VotingCases(WithEvidence):
    """Adds `predict` and `predict_proba` to a learner with `evidence`."""

    classes_: NDArray[Any]
    codes_: Indices

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The class of largest support; of equal ones the first."""
        support = self.evidence(X).support()
        return self.classes_[support.argmax(axis=1)]

    def predict_proba(self, X: ArrayLike) -> Array:
        """Probabilities of the classes, from the votes of the nearest training cases."""
        evidence = self.evidence(X)
        return self._probabilities(evidence, evidence.support())

    def predictions_from(self, evidence: Evidence) -> Predictions:
        """Return what `predict` and `predict_proba` return for the cases of this `evidence`, without a search."""
        support = evidence.support()
        return Predictions(self.classes_[support.argmax(axis=1)], self._probabilities(evidence, support))

    def _evidence(self, cases: Array, votes: Votes) -> Evidence:
        """Return votes of training cases, with the names of their rows; a learner of an older file has none."""
        labels, names = self.classes_[self.codes_], getattr(self, "row_names_", None)
        return Evidence(cases, labels, votes.indices, votes.sq, votes.weights, self.classes_, names)

    def _probabilities(self, _evidence: Evidence, support: Array) -> Array:
        """The share of each class in the votes."""
        return support / support.sum(axis=1, keepdims=True)


class _Kept:
    """What was made for one learner, and the values of which. Threads that need it at once wait for the first."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.made: Any = None
        self.values: tuple[Any, ...] = ()
        self.settings: dict[str, Any] = {}


# Kept outside the learners: a copy, a clone, a pickle or a file of a learner has none of it, and predicting changes no
# attribute of the learner. It is deleted with its learner.
_KEPT: WeakKeyDictionary[Any, _Kept] = WeakKeyDictionary()
_LOCK = Lock()
