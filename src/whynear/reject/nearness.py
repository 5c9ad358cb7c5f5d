"""How near a row is to the cases of a model, and measures made from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import issparse
from scipy.special import logit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils import get_tags

from whynear.metric import DiagonalMetric, LocalMetric, Metric
from whynear.metric.base import votes_by_class
from whynear.metric.steps import estimators_of
from whynear.model.pipeline import FittedPipeline
from whynear.search.exact import ExactSearch
from whynear.utils.arrays import Array, ByValue, Indices

N_NEAR = 25  # cases among which the share of each class is counted


@dataclass(frozen=True, eq=False)
class Nearness(ByValue):
    """The output of a classifier for n cases; tables have a row for each and a column for each class.

    ``sq_by_class`` holds the squared distances to the nearest prototype or training case of each class, infinite where
    there is none; None for a classifier without distances. ``near_shares`` are the shares of classes among the 25
    nearest training cases; None for a classifier that keeps no cases.
    """

    predicted: Indices  # the place of the predicted class among the classes
    probabilities: Array
    sq_by_class: Array | None = None
    near_shares: Array | None = None
    same_units: bool = True  # whether all distances can be compared; not if classifiers of several kinds measured them
    seen: Array | None = None  # the cases in the coordinates of a learner with prototypes; None for other classifiers

    def __len__(self) -> int:
        return len(self.predicted)

    @property
    def sq_nearest(self) -> Array | None:
        """The squared distance to the nearest prototype or training case of any class."""
        return None if self.sq_by_class is None else self.sq_by_class.min(axis=1)

    def rows(self, places: Any) -> Nearness:
        """Return the same for some of the cases."""
        tables = (self.sq_by_class, self.near_shares, self.seen)
        sq, shares, seen = (None if table is None else table[places] for table in tables)
        return Nearness(self.predicted[places], self.probabilities[places], sq, shares, self.same_units, seen)


@dataclass(frozen=True, eq=False)
class LabelledCases:
    """The prototypes or training cases by which a classifier predicts, in its coordinates, and the metric it uses.

    ``codes`` are the places of their classes; without ``voting`` they are prototypes.
    """

    metric: Metric
    cases: Array
    codes: Indices
    voting: bool


def nearness_of(model: Any, X: Any, classes: NDArray[Any]) -> Nearness:
    """Return the output of a fitted classifier for the rows of X, for classes that contain those of the model."""
    taken, model = (model, model.model) if isinstance(model, FittedPipeline) else (model, model)
    places = pd.Index(classes).get_indexer(model.classes_)

    def of_all(values: Array, elsewhere: float = 0.0) -> Array:
        spread = np.full((len(values), len(classes)), elsewhere)
        spread[:, places] = values
        return spread

    predicted = pd.Index(classes).get_indexer(np.asarray(model.predict(X)))
    probabilities = of_all(np.asarray(model.predict_proba(X), dtype=np.float64))
    held = _held(taken, X)
    if held is None:
        return Nearness(predicted, probabilities)
    of, seen = held
    sq = of_all(sq_distances_by_class(of, seen, len(places)), np.inf)
    if not of.voting:
        return Nearness(predicted, probabilities, sq, seen=seen)
    return Nearness(predicted, probabilities, sq, of_all(shares_of_nearest(of, seen, len(places))))


def seen_by(model: Any, X: Any) -> Array | None:
    """Return training rows in the coordinates of a fitted learner with prototypes; None for other classifiers.

    None also if a step before the learner learned the coordinates from classes: rows that it learned from lie nearer to
    their class than new ones.
    """
    taken = FittedPipeline.of(model)
    if any(get_tags(step).target_tags.required for step in estimators_of(taken.model)[:-1]):
        return None
    held = _held(taken, X)
    return None if held is None or held[0].voting else held[1]


def _held(model: Any, X: Any) -> tuple[LabelledCases, Array] | None:
    """Return the cases of a classifier, and the rows of X in its coordinates; None for one without cases."""
    fitted = FittedPipeline.of(model)
    learner = fitted.learner
    has_evidence = hasattr(learner, "evidence") and hasattr(learner, "metric_")
    if issparse(X) or not (has_evidence or isinstance(learner, KNeighborsClassifier)):
        return None
    seen = fitted.seen(fitted.table(X))
    held = labelled_cases(learner, seen)
    if held is None:
        return None
    values = np.ascontiguousarray(seen, dtype=np.float64)
    return held, values if has_evidence else held.metric.table(values)  # learners of this library have checked them


def labelled_cases(learner: Any, seen: Any) -> LabelledCases | None:
    """Return the cases of a classifier of this library, or of Euclidean kNN of scikit-learn; None for other kNN.

    ``seen`` are some rows in the coordinates of the learner.
    """
    if isinstance(learner, KNeighborsClassifier):
        cases, codes = learner._fit_X, learner._y
        if learner.effective_metric_ != "euclidean" or issparse(cases) or np.ndim(codes) != 1:
            return None
        metric = DiagonalMetric(np.ones(cases.shape[1]))
        return LabelledCases(metric, metric.table(cases, "Y"), codes, True)
    evidence = learner.evidence(seen[:1])
    codes = np.searchsorted(evidence.classes, evidence.labels)
    return LabelledCases(learner.metric_, evidence.cases, codes, not evidence.prototypes)


def sq_distances_by_class(held: LabelledCases, X: Array, n_classes: int) -> Array:
    """Return the squared distance from each row to the nearest case of each class, infinite where there is none.

    One search for each class, all together in the time of one search among all cases.
    """
    sq = np.full((len(X), n_classes), np.inf)
    for code in np.unique(held.codes):
        own = held.codes == code
        sq[:, code] = ExactSearch(*_among(held, own)).find(X, 1)[0][:, 0]
    return sq


def shares_of_nearest(held: LabelledCases, X: Array, n_classes: int) -> Array:
    """Return the share of each class among the 25 nearest cases of each row, of all cases where there are fewer."""
    nearest = ExactSearch(*_among(held, slice(None))).find(X, min(N_NEAR, len(held.codes)))[1]
    return votes_by_class(held.codes[nearest], np.full(nearest.shape, 1 / nearest.shape[1]), n_classes)


def _among(held: LabelledCases, own: Any) -> tuple[Any, Any]:
    """Return metric and cases for a search among some of the cases; a local metric holds its own."""
    metric = held.metric
    if not isinstance(metric, LocalMetric):
        return metric, np.ascontiguousarray(held.cases[own], dtype=np.float64)
    maps = {"weights" if metric.omegas is None else "omegas": metric.maps[own]}
    chosen = LocalMetric(metric.anchors[own], **maps)
    return chosen, chosen.anchors


ROUNDING_SHARE = 1e-12  # of its size, by which a column that is constant varies


@dataclass(frozen=True, eq=False)
class NearCases(ByValue):
    """Cases in the coordinates of a learner, and the places of their classes (-1 for one it was not fitted to).

    A case is near under the Euclidean distance of standardised coordinates: not that of the learner, which ignores what
    the learner ignores.
    """

    cases: Array
    codes: Indices

    def __bool__(self) -> bool:
        return len(self.codes) > 0

    def shares(self, seen: Array, n_classes: int, left_out: Indices | None = None) -> Array:
        """Return the share of each class among the 25 nearest cases of each row, without one that is left out of it."""
        spread = self.cases.std(axis=0)
        varies = spread > ROUNDING_SHARE * np.abs(self.cases).max(axis=0)
        search = ExactSearch(DiagonalMetric(np.where(varies, spread, np.inf) ** -2.0), self.cases)
        nearest = search.find(seen, min(N_NEAR, len(self.codes) - (left_out is not None)), left_out)[1]
        known = self.codes[nearest]
        weights = np.where(known >= 0, 1 / nearest.shape[1], 0.0)
        return votes_by_class(np.maximum(known, 0), weights, n_classes)

    def own_shares(self, n_classes: int) -> Array:
        """Return the same for each of these cases among the others; zero for a single case."""
        n = len(self.codes)
        return np.zeros((n, n_classes)) if n < 2 else self.shares(self.cases, n_classes, np.arange(n))


NO_CASES = NearCases(np.empty((0, 0)), np.empty(0, dtype=np.intp))

Measure = Literal["relative_distance", "nearest_distance", "probability", "near_share", "margin"]
MEASURES: tuple[Measure, ...] = ("relative_distance", "nearest_distance", "probability", "near_share", "margin")
LEAST_PROBABILITY = 1e-4  # of a prediction and of its complement


def usual_measures(nearness: Nearness) -> tuple[Measure, ...]:
    """Return the measures that are combined: all for training cases, fewer for prototypes and for probabilities.

    Distances that cannot be compared with each other are left out.
    """
    if nearness.sq_by_class is None:
        return ("probability", "margin")
    names = MEASURES[:3] if nearness.near_shares is None else MEASURES
    return names if nearness.same_units else tuple(name for name in names if name != "nearest_distance")


def measures_of(nearness: Nearness) -> dict[Measure, Array]:
    """Return every measure that a classifier has, one value for each case.

    - ``relative_distance``: (d' - d) / (d' + d), for the squared distances d to the predicted class and d' to the
      nearest other one (Fischer, Hammer, Wersing 2015).
    - ``nearest_distance``: -log of the squared distance to the nearest prototype or case; infinite at distance zero.
    - ``probability``: log p / (1 - p) of the prediction.
    - ``near_share``: the share of the predicted class among the 25 nearest training cases.
    - ``margin``: the probability of the prediction, less that of the most probable other class.
    """
    predicted = nearness.predicted
    own, other = own_and_best_other(nearness.probabilities, predicted)
    found: dict[Measure, Array] = {}
    if nearness.sq_by_class is not None:
        negative, negative_other = own_and_best_other(-nearness.sq_by_class, predicted)
        found["relative_distance"] = relative_distance(-negative, -negative_other)
        with np.errstate(divide="ignore"):
            found["nearest_distance"] = -np.log(nearness.sq_by_class.min(axis=1))
    found["probability"] = logit(np.clip(own, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY))
    if nearness.near_shares is not None:
        found["near_share"] = own_and_best_other(nearness.near_shares, predicted)[0]
    found["margin"] = own - np.maximum(other, 0.0)
    return found


def relative_distance(sq: Array, sq_other: Array) -> Array:
    """Return (d' - d) / (d' + d): one where d' is infinite, minus one where d is, zero where both are zero or infinite.

    >>> relative_distance(np.array([1.0, 0.0, 2.0]), np.array([3.0, 0.0, np.inf]))
    array([0.5, 0. , 1. ])
    """
    with np.errstate(all="ignore"):
        ratio = sq / sq_other
        relative = (1 - ratio) / (1 + ratio)
    relative = np.where(np.isinf(ratio), -1.0, relative)
    return np.where(np.isnan(relative), 0.0, relative)


def own_and_best_other(values: Array, places: Indices) -> tuple[Array, Array]:
    """Return from each row of a table the value at a place, and the largest at any other place (-inf for none).

    >>> own_and_best_other(np.array([[0.2, 0.7, 0.1]]), np.array([1]))
    (array([0.7]), array([0.2]))
    """
    rows = np.arange(len(values))
    others = values.copy()
    others[rows, places] = -np.inf
    return values[rows, places], others.max(axis=1)
