"""Accuracy over the share of accepted cases, and the decisions on single rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from whynear.utils.arrays import Array, ByValue
from whynear.utils.axes import new_axes, tidy
from whynear.utils.text import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from whynear.reject.promise import Promise


AMBIGUOUS, OUTLIER, UNPROMISED = "ambiguous", "outlier", "no promise"


@dataclass(frozen=True, eq=False)
class Decisions(ByValue):
    """What is predicted for each case, whether that is accepted, and why not.

    Attributes
    ----------
    predicted : ndarray of shape (n,)
        The predicted classes, of rejected cases too.
    accepted : ndarray of shape (n,)
        Whether the prediction is accepted.
    certainty : ndarray of shape (n,)
        The probability that the prediction is right.
    reason : ndarray of shape (n,)
        Why a case is rejected: "ambiguous" between classes, an "outlier", far from all cases, or "no promise" where
        nothing can be promised and all cases are rejected; empty if accepted.

    Examples
    --------
    >>> parts = np.array(["a", "b"]), np.array([True, False]), np.array([0.9, 0.6]), np.array(["", "outlier"])
    >>> decisions = Decisions(*parts)  # ``RejectOption.decide`` returns such a value
    >>> decisions.frame().loc[1].to_dict()
    {'predicted': 'b', 'accepted': False, 'certainty': 0.6, 'reason': 'outlier'}
    >>> print(decisions.masked())
    ['a' --]
    """

    predicted: NDArray[Any]
    accepted: NDArray[np.bool_]
    certainty: Array
    reason: NDArray[np.str_]

    def masked(self) -> np.ma.MaskedArray[Any, Any]:
        """Return the predicted classes with rejected cases masked."""
        return np.ma.MaskedArray(self.predicted, mask=~self.accepted)

    def frame(self) -> pd.DataFrame:
        """Return one row for each case."""
        return pd.DataFrame(
            {
                "predicted": self.predicted,
                "accepted": self.accepted,
                "certainty": self.certainty,
                "reason": self.reason,
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Return one list for each column of `frame`."""
        return {str(name): column.tolist() for name, column in self.frame().items()}


def reasons_for(accepted: NDArray[np.bool_], outlier: NDArray[np.bool_], *, promised: bool = True) -> NDArray[np.str_]:
    """Return why each case is rejected; empty for accepted ones.

    >>> reasons_for(np.array([True, False, False]), np.array([True, True, False])).tolist()
    ['', 'outlier', 'ambiguous']
    """
    return np.where(accepted, "", np.where(outlier, OUTLIER, AMBIGUOUS if promised else UNPROMISED))


FIRST_COVERAGE = 0.05  # before it, one error moves the line to the bottom
CURVE_COLOUR, PROMISE_COLOUR = "#1f5f8b", "#e08a1e"


def draw_curve(curve: RejectCurve, ax: Axes | None = None, promise: Promise | None = None) -> Axes:
    """Draw the accuracy of accepted cases over their share; a promise that is given as its coverage and accuracy."""
    from matplotlib.ticker import PercentFormatter

    ax = new_axes(5.6, 3.8) if ax is None else ax
    ax.step(curve.coverage, curve.accuracy, where="post", color=CURVE_COLOUR, linewidth=2)
    ax.plot(curve.coverage[-1], curve.accuracy[-1], "o", color=CURVE_COLOUR, markersize=5)
    if promise is not None and promise.given:
        ax.plot([0, promise.coverage], [promise.accuracy] * 2, color=PROMISE_COLOUR, linewidth=1.5, linestyle="--")
        ax.plot([promise.coverage] * 2, [0, promise.accuracy], color=PROMISE_COLOUR, linewidth=1.5, linestyle="--")
    lowest = float(curve.accuracy[curve.coverage >= FIRST_COVERAGE].min())
    if promise is not None and promise.given:
        lowest = min(lowest, promise.accuracy)
    ax.set(xlim=(0, 1.02), ylim=(max(0.0, lowest - 0.1 * (1 - lowest) - 0.005), 1.0 + 0.02 * (1 - lowest) + 0.0005))
    ax.xaxis.set_major_formatter(PercentFormatter(1.0))
    ax.yaxis.set_major_formatter(PercentFormatter(1.0))
    ax.set_xlabel("share of cases accepted, the most certain first")
    ax.set_ylabel("share of accepted cases right")
    tidy(ax, "both")
    return ax


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
