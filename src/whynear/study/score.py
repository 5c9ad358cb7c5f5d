"""Scores with their errors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from whynear.data.problem import TargetKind
from whynear.data.rows import error_of_mean
from whynear.study.settings import ClassScore
from whynear.utils.arrays import Array
from whynear.utils.text import counted

Measure = Literal[ClassScore, "r2"]
OF_PROBABILITIES = ("log_loss", "roc_auc")
AS_SHARES = ("accuracy", "balanced_accuracy", "r2")  # written as percentages
NAMES = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "log_loss": "log loss",
    "roc_auc": "area under the ROC curve",
    "r2": "variance explained",
}
MEANINGS = {
    "accuracy": "the share of cases predicted right",
    "balanced_accuracy": "the mean recall of the classes",
    "log_loss": "the mean of -log of the probability of the true class; smaller is better",
    "roc_auc": "the chance that a case of a class has a higher probability of it than another case; of more than two "
    "classes, the mean weighted by their cases",
    "r2": "the share of the variance of the target",
}


@dataclass(frozen=True)
class Score:
    """A score over all held-out rows, and its standard error over rows, or over the groups of rows.

    >>> print(Score(0.9533, 0.0173), Score(0.2518, 0.0121, "log_loss"), sep=", ")
    95.3% ± 1.7%, 0.252 ± 0.012
    """

    value: float
    error: float
    measure: Measure = "accuracy"

    def __str__(self) -> str:
        error = shown(self.error, self.measure) if np.isfinite(self.error) else "unknown"
        return f"{shown(self.value, self.measure)} ± {error}"


def shown(value: float, measure: str) -> str:
    """Return the value of a score as text: a percentage where it is a share."""
    return f"{value:.1%}" if measure in AS_SHARES else f"{value:.3f}"


def shown_difference(value: float, error: float, measure: str) -> str:
    """Return the difference of two scores and its standard error as text: percentage points where they are shares.

    >>> shown_difference(0.0151, 0.0062, "r2"), shown_difference(-0.0151, 0.0062, "log_loss")
    ('+1.5 ± 0.6 points', '-0.015 ± 0.006')
    """
    if measure in AS_SHARES:
        return f"{100 * value:+.1f} ± {100 * error:.1f} points"
    return f"{value:+.3f} ± {error:.3f}"


def name_of(measure: str) -> str:
    """Return the name of a kind of score in words; as it is if it is one of a later version."""
    return NAMES.get(measure, measure)


def direction(measure: str) -> int:
    """Return 1 where more is better, and -1 where less is."""
    return -1 if measure == "log_loss" else 1


def score_of(
    true: NDArray[Any],
    predicted: NDArray[Any],
    measure: Measure,
    groups: ArrayLike | None = None,
    probabilities: pd.DataFrame | None = None,
    weights: ArrayLike | None = None,
) -> Score:
    """Return the score of predictions, NaN if no row has a weight; rows of a group are not independent.

    ``probabilities`` have a column for each class; "log_loss" and "roc_auc" need them. Without weights each row counts
    once.
    """
    parts = parts_of(true, predicted, measure, probabilities, weights)
    if not len(parts):
        return Score(np.nan, np.nan, measure)
    of_rows = None if groups is None else np.asarray(groups)[counting(weights)]
    return Score(float(parts.mean()), float(error_of_mean(parts, of_rows)), measure)


def parts_of(
    true: NDArray[Any],
    predicted: NDArray[Any],
    measure: Measure,
    probabilities: pd.DataFrame | None = None,
    weights: ArrayLike | None = None,
) -> Array:
    """Return the part of each row that counts in a score, whose mean is it; NaN where it is not defined."""
    if measure == "r2":
        return _explained_parts(true, predicted, weights)
    right = np.asarray(true == predicted, dtype=float)
    if measure == "accuracy":
        return weighted_parts(right, weights)
    rows, w = counting(weights), _positive(weights, len(true))
    if measure == "balanced_accuracy":
        return _recall_parts(true[rows], right[rows], w)
    if probabilities is None:
        raise ValueError(f"measure={measure!r} needs the probabilities of the classes. Give probabilities.")
    classes, shares = probabilities.columns.to_numpy(), probabilities.to_numpy()
    if measure == "log_loss":
        return weighted_parts(_log_losses(true, shares, classes), weights)
    return _area_parts(true[rows], shares[rows], classes, w)


def counting(weights: ArrayLike | None) -> slice | NDArray[np.bool_]:
    """Return which rows have a weight: all without weights."""
    return slice(None) if weights is None else np.asarray(weights, dtype=float) > 0


def weighted_parts(values: Array, weights: ArrayLike | None) -> Array:
    """Return the part of each row that counts in the weighted mean m of values v: m + (v - m) w / mean(w).

    >>> float(weighted_parts(np.array([0.0, 1.0, 5.0]), np.array([1.0, 3.0, 0.0])).mean())
    0.75
    """
    values, w = values[counting(weights)], _positive(weights, len(values))
    if (w == 1).all():
        return values  # without rounding
    mean = np.average(values, weights=w)
    return np.asarray(mean + (values - mean) * (w / w.mean()))


def score_without_features(y: NDArray[Any], measure: Measure, weights: ArrayLike | None = None) -> float:
    """Return the score of the best predictions that use no feature: of one class for all, or of the classes' shares.

    >>> score_without_features(np.array(["u", "v", "v", "v"]), "accuracy")
    0.75
    """
    codes = np.unique(y[counting(weights)], return_inverse=True)[1]
    shares = np.bincount(codes, _positive(weights, len(y)))
    shares = shares / shares.sum()
    if measure == "log_loss":
        return float(-(shares * np.log(shares)).sum())
    return {"accuracy": float(shares.max()), "balanced_accuracy": 1 / len(shares), "roc_auc": 0.5}[measure]


def _positive(weights: ArrayLike | None, n_rows: int) -> Array:
    """Return the weights above zero, ones without weights."""
    return np.ones(n_rows) if weights is None else np.asarray(weights, dtype=float)[counting(weights)]


def _explained_parts(true: Array, predicted: Array, weights: ArrayLike | None) -> Array:
    """Of 1 - SSE / SST, one minus a ratio of means, around which parts lie as in its linear expansion.

    Zero for a constant target, which has no variance.
    """
    rows, w = counting(weights), _positive(weights, len(true))
    if not len(w):
        return w
    true, predicted = true[rows], predicted[rows]
    residuals = w * np.square(true - predicted)
    deviations = w * np.square(true - np.average(true, weights=w))
    total = float(deviations.mean())
    if total == 0:
        return np.zeros(len(w))
    unexplained = float(residuals.mean()) / total
    return np.asarray(1 - unexplained - (residuals - unexplained * deviations) / total)


def _recall_parts(true: NDArray[Any], right: Array, weights: Array) -> Array:
    """Of the mean over classes of sum(w right) / sum(w): w (right - recall) / (K share), around the mean recall."""
    if not len(true):
        return right
    classes, codes = np.unique(true, return_inverse=True)
    totals = np.bincount(codes, weights)
    recall = np.bincount(codes, weights * right) / totals
    return recall.mean() + (right - recall[codes]) * (len(true) * weights / (len(classes) * totals[codes]))


def _log_losses(true: NDArray[Any], shares: Array, classes: NDArray[Any]) -> Array:
    """-log p of the true class; a probability of zero counts as the smallest step of a float at one, 2.2e-16."""
    of_true = shares[np.arange(len(true)), np.searchsorted(classes, true)]
    return -np.log(np.clip(of_true, np.finfo(float).eps, 1.0))


def _area_parts(true: NDArray[Any], shares: Array, classes: NDArray[Any], weights: Array) -> Array:
    """Of two classes, the parts in the area of the second; of more, the mean over classes weighted by their rows."""
    present, codes = np.unique(true, return_inverse=True)
    if len(present) < 2:
        return np.full(len(true), np.nan)
    places = np.searchsorted(classes, present)
    if len(classes) == 2:
        return _parts_of_one_area(true == classes[1], shares[:, 1], weights)
    areas = [_parts_of_one_area(true == classes[place], shares[:, place], weights) for place in places]
    return np.average(areas, axis=0, weights=np.bincount(codes, weights))


def _parts_of_one_area(inside: NDArray[np.bool_], share: Array, weights: Array) -> Array:
    """For each row, the share of the rows on the other side that it is ordered right with (DeLong et al. 1988).

    Ties count half. Each side has the same mean, the area, around which the parts are scaled by the side's size; rows
    count by their weights on both sides.
    """
    values, place = np.unique(share, return_inverse=True)
    right, sizes = np.empty(len(share)), np.empty(len(share))
    for side, sign in ((inside, 1), (~inside, -1)):
        others = np.bincount(place[~side], weights[~side], len(values))
        before = ((np.cumsum(others) - others / 2) / weights[~side].sum())[place[side]]
        right[side] = before if sign == 1 else 1 - before
        sizes[side] = weights[side].sum()
    area = np.average(right[inside], weights=weights[inside])
    return np.asarray(area + (right - area) * (len(share) * weights / sizes))


@dataclass(frozen=True)
class PartsScore:
    """How well a model predicts parts of a table that were held out."""

    parts: str  # what they are, such as "1 of 10 files"
    n_rows: int  # that were predicted
    kind: TargetKind
    value: float  # the share of rows predicted right, or of variance explained; NaN where there is nothing to predict
    error: float  # the standard error of the share; NaN for numbers

    @property
    def sentence(self) -> str:
        """The score in words."""
        if self.kind == "numbers":
            how = "explains no variance" if math.isnan(self.value) else f"explains {self.value:.1%} of the variance"
        elif math.isnan(self.value):
            how = "predicts none, because none has a weight"
        else:
            how = f"predicts {self.value:.1%} ± {self.error:.1%} right"
        return f"The model has seen no row of {self.parts}: of their {counted(self.n_rows, 'row', 'rows')} it {how}."

    def to_dict(self) -> dict[str, Any]:
        """Return the score as plain values; None where there is none."""
        value, error = (None if math.isnan(number) else number for number in (self.value, self.error))
        return {"parts": self.parts, "rows": self.n_rows, "score": value, "error": error}


class ScoreSums:
    """The share of rows predicted right with its standard error, or of variance explained, summed over batches."""

    def __init__(self, kind: TargetKind) -> None:
        self.kind, self.n_rows = kind, 0
        self.sums = np.zeros(4)
        self.centre = math.nan  # of a numeric target: near its mean, so that squares lose no digits

    def add(self, y: NDArray[Any], predicted: NDArray[Any], weights: Array) -> None:
        """Count the predictions for some rows."""
        self.n_rows += len(y)
        if not len(y):
            return
        if self.kind == "classes":
            right = (y == predicted).astype(float)
            self.sums += [weights.sum(), weights @ right, np.square(weights).sum(), np.square(weights) @ right]
            return
        self.centre = float(y.mean()) if math.isnan(self.centre) else self.centre
        off = y - self.centre
        self.sums += [weights.sum(), weights @ off, weights @ np.square(off), weights @ np.square(y - predicted)]

    def score(self, parts: str) -> PartsScore:
        """Return the score of all rows that were counted."""
        total, first, second, third = self.sums.tolist()
        value = error = math.nan
        if total > 0 and self.kind == "classes":
            value = first / total
            error = math.sqrt(max(0.0, third * (1 - 2 * value) + value * value * second)) / total
        elif total > 0 and (spread := second - first * first / total) > 0:
            value = 1 - third / spread
        return PartsScore(parts, self.n_rows, self.kind, value, error)
