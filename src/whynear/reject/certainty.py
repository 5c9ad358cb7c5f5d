"""The certainty of a prediction: the probability that it is right, fitted to held-out cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from whynear.reject.logistic import fit_logistic
from whynear.reject.measures import Measure
from whynear.utils.arrays import Array, Indices
from whynear.utils.row_groups import split_rows
from whynear.utils.values import ByValue

FREE_PENALTY, SLOPE_PENALTY, CLASS_PENALTY, HELD_PENALTY = 1e-6, 10.0, 5.0, 1e12
N_FOLDS = 10


@dataclass(frozen=True, eq=False)
class CertaintyModel(ByValue):
    """P(right) = logistic of the intercept of the predicted class and of standardised measures times their slopes.

    Values of measures outside ``low`` to ``high``, the range in the cases it was fitted to, are taken as these.
    """

    names: tuple[Measure, ...]
    low: Array
    high: Array
    mean: Array
    scale: Array
    slopes: Array
    intercepts: Array

    def certainty(self, measures: Mapping[Measure, Array], predicted: Indices) -> Array:
        """Return the probability that each prediction is right, for the places of the predicted classes."""
        table = np.column_stack([measures[name] for name in self.names])
        return expit(
            (np.clip(table, self.low, self.high) - self.mean) / self.scale @ self.slopes + self.intercepts[predicted]
        )


def fit_certainty(
    measures: Mapping[Measure, Array],
    predicted: Indices,
    right: NDArray[np.bool_],
    names: Sequence[Measure],
    n_classes: int,
) -> CertaintyModel:
    """Fit the certainty to cases: a slope for each measure, and an intercept for each predicted class.

    The intercepts are shrunken to a common one: a class moves its own by as much as its cases show. They are the form
    of thresholds for each class that does not overfit. One measure alone gets no intercepts, and keeps its order.
    """
    table = np.column_stack([measures[name] for name in names])
    low, high = _finite_range(table)
    table = np.clip(table, low, high)
    mean, scale = table.mean(axis=0), table.std(axis=0)
    scale = np.where(scale > 1e-12 * (np.abs(low) + np.abs(high)), scale, 1.0)
    Z = np.column_stack([np.ones(len(table)), (table - mean) / scale])
    penalties = np.array([FREE_PENALTY] + [SLOPE_PENALTY] * len(names))
    codes, class_penalty = (predicted, CLASS_PENALTY) if len(names) > 1 else (np.zeros_like(predicted), HELD_PENALTY)
    w, intercepts = fit_logistic(Z, right, penalties, codes, n_classes, class_penalty)
    return CertaintyModel(tuple(names), low, high, mean, scale, w[1:], w[0] + intercepts)


def certainty_folds(right: NDArray[np.bool_], groups: ArrayLike | None, seed: int) -> list[tuple[Indices, Indices]]:
    """Return the folds of the cases: ten, or as many as there are cases; a single case is both known and held out."""
    if len(right) < 2:
        return [(np.arange(len(right)), np.arange(len(right)))]
    return split_rows(right, min(N_FOLDS, len(right)), seed, stratified=False, groups=groups)


def _finite_range(table: Array) -> tuple[Array, Array]:
    """Return the smallest and the largest finite value of each column; zero where there is none."""
    finite = np.isfinite(table)
    low, high = np.where(finite, table, np.inf).min(axis=0), np.where(finite, table, -np.inf).max(axis=0)
    some = finite.any(axis=0)
    return np.where(some, low, 0.0), np.where(some, high, 0.0)
