"""What each held-out row adds to the score of a study, by which two studies of the same rows are compared."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from whynear.study.comparison import Comparison
from whynear.study.score import counting
from whynear.utils.arrays import Array, Indices
from whynear.utils.row_groups import error_of_mean
from whynear.utils.values import ByValue


@dataclass(frozen=True, eq=False)
class RowScores(ByValue):
    """The part of each held-out row in a score.

    Attributes
    ----------
    rows : str
        A hash of the names and the targets of these rows, equal for studies that held out the same rows of
        tables in the same order.
    parts : ndarray of shape (n_rows,)
        Their mean is the score.
    groups : ndarray of shape (n_rows,) or None
        A number for the group of each row, if there are groups; rows of a group are not independent.
    """

    rows: str
    parts: Array
    groups: Indices | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, strings and lists."""
        groups = None if self.groups is None else self.groups.tolist()
        return {"rows": self.rows, "parts": self.parts.tolist(), "groups": groups}

    @classmethod
    def from_dict(cls, held: dict[str, Any]) -> RowScores | None:
        """Return what `to_dict` returned; None where the score is not defined."""
        if None in held["parts"]:
            return None
        parts = np.array(held["parts"], dtype=float)
        groups = None if held["groups"] is None else np.array(held["groups"], dtype=np.intp)
        if parts.ndim != 1 or (groups is not None and groups.shape != parts.shape):
            raise ValueError("row_scores has no part, or no group, for each row")
        return cls(str(held["rows"]), parts, groups)


def row_scores(comparison: Comparison) -> RowScores:
    """Return the parts of the held-out rows in the score of a study."""
    counted = counting(comparison.weights)
    true = comparison.predictions["true"][counted]
    names = json.dumps([[str(row), str(target)] for row, target in true.items()])
    groups = comparison.groups
    codes = None if groups is None else np.unique(groups.astype(str).to_numpy()[counted], return_inverse=True)[1]
    return RowScores(hashlib.sha256(names.encode()).hexdigest(), comparison.parts, codes)


def error_of_difference(first: RowScores | None, second: RowScores | None) -> float | None:
    """Return the standard error of the difference of two scores of the same rows; None where rows differ."""
    if first is None or second is None or (first.rows, len(first.parts)) != (second.rows, len(second.parts)):
        return None
    groups = second.groups if first.groups is None else first.groups
    error = float(error_of_mean(second.parts - first.parts, groups))
    return error if np.isfinite(error) else None
