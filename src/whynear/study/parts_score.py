"""How well a model predicts whole parts of a table, none of whose rows it has seen."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whynear.tables.problem import TargetKind
from whynear.utils.arrays import Array
from whynear.utils.text import counted


@dataclass(frozen=True)
class PartsScore:
    """How well a model predicts parts of a table that were held out.

    Attributes
    ----------
    parts : str
        What they are, such as "1 of 10 files".
    n_rows : int
        How many rows were predicted.
    kind : {"classes", "numbers"}
        What the target holds.
    value : float
        The share of rows predicted right, or of variance explained; NaN where there is nothing to predict.
    error : float
        The standard error of the share; NaN for numbers.
    """

    parts: str
    n_rows: int
    kind: TargetKind
    value: float
    error: float

    @property
    def sentence(self) -> str:
        """The score in words."""
        return f"The model has seen no row of {self.parts}: of their {self._rows} it {self._words}."

    def to_dict(self) -> dict[str, Any]:
        """Return the score as plain values; None where there is none."""
        value, error = (None if math.isnan(number) else number for number in (self.value, self.error))
        return {"parts": self.parts, "rows": self.n_rows, "score": value, "error": error}

    @property
    def _rows(self) -> str:
        return counted(self.n_rows, "row", "rows")

    @property
    def _words(self) -> str:
        if self.kind == "numbers":
            return "explains no variance" if math.isnan(self.value) else f"explains {self.value:.1%} of the variance"
        if math.isnan(self.value):
            return "predicts none, because none has a weight"
        return f"predicts {self.value:.1%} ± {self.error:.1%} right"


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
        return PartsScore(parts, self.n_rows, self.kind, *self._value_and_error())

    def _value_and_error(self) -> tuple[float, float]:
        total, first, second, third = self.sums.tolist()
        if not total > 0:
            return math.nan, math.nan
        if self.kind == "numbers":
            spread = second - first * first / total
            return 1 - third / spread if spread > 0 else math.nan, math.nan
        right = first / total
        return right, math.sqrt(max(0.0, third * (1 - 2 * right) + right * right * second)) / total
