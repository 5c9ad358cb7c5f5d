"""Scores over all held-out rows, each with its standard error over rows, or over groups of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whynear.utils.arrays import Array
from whynear.utils.row_groups import error_of_mean

Measure = Literal["accuracy", "r2"]


@dataclass(frozen=True)
class Score:
    """A score over all held-out rows, and its standard error over rows, or over the groups of rows.

    >>> print(Score(0.9533, 0.0173))
    95.3% ± 1.7%
    """

    value: float
    error: float

    def __str__(self) -> str:
        error = f"{self.error:.1%}" if np.isfinite(self.error) else "unknown"
        return f"{self.value:.1%} ± {error}"


def score_of(true: NDArray[Any], predicted: NDArray[Any], measure: Measure, groups: ArrayLike | None = None) -> Score:
    """Return the share of rows predicted right, or of variance explained; rows of a group are not independent."""
    scored = share_right if measure == "accuracy" else variance_explained
    return scored(true, predicted, groups)


def share_right(true: NDArray[Any], predicted: NDArray[Any], groups: ArrayLike | None = None) -> Score:
    """Return the share of rows predicted right.

    >>> share_right(np.array(["u", "u", "v", "v", "v"]), np.array(["u", "v", "v", "v", "v"])).value
    0.8
    """
    right = np.asarray(true == predicted, dtype=float)
    return Score(float(right.mean()), float(error_of_mean(right, groups)))


def variance_explained(true: Array, predicted: Array, groups: ArrayLike | None = None) -> Score:
    """Return 1 - SSE / SST over all rows; one minus a ratio of means, whose error is that of its linear expansion."""
    residuals, deviations = np.square(true - predicted), np.square(true - true.mean())
    total = float(deviations.mean())
    if total == 0:
        return Score(0.0, 0.0)
    unexplained = float(residuals.mean()) / total
    return Score(1 - unexplained, float(error_of_mean((residuals - unexplained * deviations) / total, groups)))
