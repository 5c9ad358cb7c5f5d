"""The accuracy of accepted cases over the share that is accepted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from whynear.utils.arrays import Array
from whynear.utils.text import counted
from whynear.utils.values import ByValue

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_POINTS = 200  # of a curve as plain values


@dataclass(frozen=True, eq=False)
class RejectCurve(ByValue):
    """The accuracy-reject curve (risk-coverage curve) of predicted cases.

    Attributes
    ----------
    certainty : ndarray of shape (n_points,)
        The least certainty of the accepted cases, falling.
    coverage : ndarray of shape (n_points,)
        The share of cases that is accepted.
    accuracy : ndarray of shape (n_points,)
        The share of the accepted cases that is right.
    area : float
        The area under the risk-coverage curve: the mean of 1 - accuracy over all numbers of accepted cases; lower is
        better, and without any order it is the error.
    n_cases : int
        Number of cases.

    Examples
    --------
    >>> curve = curve_of(np.array([0.9, 0.8, 0.7, 0.3]), np.array([True, True, True, False]))
    >>> curve  # ``RejectOption.curve`` returns such a value
    RejectCurve(4 cases, area 0.0625)
    >>> curve.accuracy_at(0.75), curve.accuracy_at(1.0)
    (1.0, 0.75)
    """

    certainty: Array
    coverage: Array
    accuracy: Array
    area: float
    n_cases: int

    def frame(self) -> pd.DataFrame:
        """Return one row for each certainty at which more cases are accepted."""
        return pd.DataFrame({"certainty": self.certainty, "coverage": self.coverage, "accuracy": self.accuracy})

    def accuracy_at(self, coverage: float) -> float:
        """Return the accuracy at the first point that accepts at least this share of the cases."""
        place = int(np.searchsorted(self.coverage, coverage - 1e-12))
        return float(self.accuracy[min(place, len(self.accuracy) - 1)])

    def to_dict(self) -> dict[str, Any]:
        """Return the area and at most 200 points in even steps as plain values."""
        places = np.unique(np.linspace(0, len(self.coverage) - 1, MOST_POINTS).astype(int))
        points = {str(name): column.tolist() for name, column in self.frame().iloc[places].items()}
        return {"area": self.area, "cases": self.n_cases, **points}

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the accuracy of accepted cases over their share."""
        from whynear.reject.drawing import draw_curve

        return draw_curve(self, ax)

    def __repr__(self) -> str:
        return f"RejectCurve({counted(self.n_cases, 'case')}, area {self.area:.4f})"


def curve_of(certainty: Array, right: NDArray[np.bool_]) -> RejectCurve:
    """Return the curve of predictions with these certainties, of which some are right.

    Cases of equal certainty are accepted together; the area is that of the mean over their orders.

    >>> curve_of(np.array([0.9, 0.8, 0.8, 0.3]), np.array([True, True, False, False])).frame()
       certainty  coverage  accuracy
    0        0.9      0.25  1.000000
    1        0.8      0.75  0.666667
    2        0.3      1.00  0.500000
    """
    n = len(certainty)
    if not n:
        raise ValueError("A curve needs at least one case, got none.")
    levels, group = np.unique(-certainty, return_inverse=True)
    accepted = np.cumsum(np.bincount(group))
    wrong = np.cumsum(np.bincount(group, weights=~right))
    counts = np.arange(1, n + 1)
    expected_wrong = np.interp(counts, np.concatenate([[0], accepted]), np.concatenate([[0.0], wrong]))
    area = float(np.mean(expected_wrong / counts))
    return RejectCurve(-levels, accepted / n, 1 - wrong / accepted, area, n)
