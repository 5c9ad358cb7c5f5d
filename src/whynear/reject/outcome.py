"""What a reject option results in: the promise for accepted cases, decisions on single ones, and a curve of both."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import bdtr, betaincinv

from whynear.utils.arrays import Array, ByValue, Indices
from whynear.utils.axes import new_axes, tidy
from whynear.utils.text import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes


N_COVERAGES = 12
# The first step over the fewest cases that can suffice: half of the cases, but so many that chance does not leave too
# few, and no more than it takes that one error need not end it.
LEAST_FACTOR, MOST_FACTOR = 1.15, 1.7
MOST_NEEDED = 1_000_000


@dataclass(frozen=True)
class Promise:
    """Whether it can be promised that at least a share of the accepted cases is right, and for which cases.

    Attributes
    ----------
    accuracy, confidence : float
        What is required: the least share of accepted cases that is right, and the probability that the promise holds,
        over the choice of the calibration cases.
    given : bool
        Whether it can be promised.
    coverage : float
        The share of the counted cases that is accepted; zero if nothing is promised.
    threshold : float
        Cases of a higher certainty are accepted; infinite if nothing is promised.
    n_cases : int
        Number of calibration cases that count, which had no part in fitting the certainty; of groups, if cases of one
        group are not independent.
    n_accepted, n_wrong : int
        How many of them are accepted and, of these, wrong. If nothing is promised, those of the first step that failed.
    needed : int or None
        How many accepted cases would be needed, at the same share of errors; None if no number suffices.
    unit : {"cases", "groups"}
        What is counted. Of each group one case was drawn.

    Examples
    --------
    >>> certainty, right = np.linspace(0.6, 1, 400), np.arange(400) > 40  # the least certain predictions are wrong
    >>> others = np.linspace(0.6, 1, 300)  # those of the cases that chose the certainty
    >>> promise = promise_of(certainty, right, others, accuracy=0.95, confidence=0.9)  # as ``RejectOption.promise``
    >>> promise.given, promise.coverage > 0.9
    (True, True)
    """

    accuracy: float
    confidence: float
    given: bool
    coverage: float
    threshold: float
    n_cases: int
    n_accepted: int
    n_wrong: int
    needed: int | None
    unit: str = "cases"

    @property
    def least(self) -> float:
        """The lower bound of the share of accepted cases that is right, at the confidence (Clopper and Pearson)."""
        if not self.given:
            return 0.0
        return least_accuracy(self.n_accepted, self.n_wrong, self.confidence)

    @property
    def stated_coverage(self) -> float:
        """The coverage as it is written: to a tenth of a percent, never more than it is."""
        return math.floor(1000 * self.coverage + 1e-9) / 1000

    @property
    def stated_need(self) -> int | None:
        """The number of accepted cases in the sentence: ``needed``, or the fewest for any promise if fewer count."""
        fewest = fewest_cases(self.accuracy, self.confidence)
        return fewest if self.n_cases < fewest else self.needed

    @property
    def sentence(self) -> str:
        """The promise, or why it cannot be given and how many cases are needed, in one sentence."""
        share, sure = percent(self.accuracy), percent(self.confidence)
        if self.given:
            wrong = "none was wrong" if not self.n_wrong else counted(self.n_wrong, "was wrong", "were wrong")
            of_groups = " (one case of each group)" if self.unit == "groups" else ""
            return (
                f"Accepting {percent(self.stated_coverage)} of the cases, at least {share} of them are right, with a "
                f"confidence of {sure}: of {self.n_accepted:,} accepted held-out cases{of_groups} {wrong}."
            )
        start = f"That {share} of the accepted cases are right cannot be promised with a confidence of {sure}:"
        fewest = fewest_cases(self.accuracy, self.confidence)
        if self.n_cases < fewest:
            return (
                f"{start} at least {fewest:,} held-out {self.unit} must be accepted without an error, and "
                f"{self.n_cases:,} are counted, besides those that the certainty was fitted to."
            )
        wrong = counted(self.n_wrong, "was wrong", "were wrong")
        errors = f"of the {self.n_accepted:,} most certain held-out cases {wrong}"
        if self.needed is None:
            return f"{start} {errors}, too many for any number of cases."
        return f"{start} {errors}; with such a share of errors {self.needed:,} accepted cases are needed."

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values; the threshold is None if nothing is promised."""
        held = {**asdict(self), "sentence": self.sentence, "least": self.least}
        return held if self.given else {**held, "threshold": None}

    def __str__(self) -> str:
        return self.sentence


def promise_of(
    certainty: Array, right: NDArray[np.bool_], others: Array, accuracy: float, confidence: float, unit: str = "cases"
) -> Promise:
    """Return the promise that independent calibration cases allow.

    A sequence of 12 thresholds is tested from few accepted cases to all, each at the level 1 - confidence; the first
    that fails ends it, and the one before it is promised. The thresholds, and the certainty, come from ``others``,
    the certainties of cases that are not counted here. So, given these, the errors among the accepted cases of each
    threshold are binomial, and a promise is broken only if the first threshold whose accuracy is too low passes its
    test: with a probability of at most 1 - confidence, without a correction for the number of tests. Cases of certainty
    zero are never accepted.

    >>> promise_of(np.linspace(0.1, 1, 600), np.arange(600) > 20, np.linspace(0.1, 1, 300), 0.95, 0.9).n_wrong
    21
    """
    asked, n = (accuracy, confidence), len(certainty)
    best: tuple[float, int, int] | None = None
    n_accepted, n_wrong = n, int(np.count_nonzero(~right))
    for threshold in thresholds_of(others, sequence(n, accuracy, confidence) / max(n, 1)):
        accepted = certainty > threshold
        n_accepted, n_wrong = int(accepted.sum()), int((accepted & ~right).sum())
        if not holds(n_accepted, n_wrong, accuracy, confidence):
            break
        best = threshold, n_accepted, n_wrong
    if best is not None:
        return Promise(*asked, True, best[1] / n, best[0], n, *best[1:], None, unit)
    return Promise(*asked, False, 0.0, np.inf, n, n_accepted, n_wrong, needed_cases(n_accepted, n_wrong, *asked), unit)


def thresholds_of(certainty: Array, coverages: Array) -> list[float]:
    """Return the certainties above which at least these shares of cases lie, falling; zero for all cases.

    Cases of equal certainty are accepted together.

    >>> thresholds_of(np.array([0.5, 0.6, 0.7, 0.7]), np.array([0.25, 0.75, 1.0]))
    [0.6, 0.5, 0.0]
    """
    levels = np.append(0.0, np.unique(certainty))
    places = np.maximum(np.ceil(coverages * len(certainty) - 1e-9).astype(np.intp), 1)
    least_accepted = -np.sort(-certainty)[places - 1]
    return list(dict.fromkeys(levels[np.searchsorted(levels, least_accepted) - 1].tolist()))


def sequence(n_cases: int, accuracy: float, confidence: float) -> Indices:
    """Return the numbers of accepted cases that are tested, from few to all; none if there are too few cases.

    >>> sequence(1000, 0.99, 0.9)[[0, 1, -1]]
    array([ 390,  445, 1000])
    """
    fewest = fewest_cases(accuracy, confidence)
    if n_cases < fewest:
        return np.empty(0, dtype=np.intp)
    suffice = math.log(1 - confidence) / math.log(accuracy)
    first = min(n_cases, math.ceil(min(max(n_cases / 2, LEAST_FACTOR * suffice), MOST_FACTOR * suffice)))
    return np.unique(np.linspace(first, n_cases, N_COVERAGES).astype(np.intp))


def fewest_cases(accuracy: float, confidence: float) -> int:
    """Return how many accepted cases suffice if all are right: the least n with accuracy^n <= 1 - confidence.

    >>> fewest_cases(0.99, 0.9)
    230
    """
    return math.ceil(math.log(1 - confidence) / math.log(accuracy) - 1e-9)


def holds(n_accepted: int, n_wrong: int, accuracy: float, confidence: float) -> bool:
    """Return whether so few errors are unlikely at a lower accuracy: P(Bin(n, 1 - a) <= wrong) <= 1 - confidence.

    >>> holds(230, 0, 0.99, 0.9), holds(230, 1, 0.99, 0.9)
    (True, False)
    """
    return bool(bdtr(n_wrong, n_accepted, 1 - accuracy) <= 1 - confidence)


def least_accuracy(n_accepted: int, n_wrong: int, confidence: float) -> float:
    """Return the lower end of the one-sided interval of Clopper and Pearson of the share that is right."""
    if n_wrong >= n_accepted:
        return 0.0
    return float(betaincinv(n_accepted - n_wrong, n_wrong + 1, 1 - confidence))


def needed_cases(n_accepted: int, n_wrong: int, accuracy: float, confidence: float) -> int | None:
    """Return how many accepted cases with this share of errors would suffice; None if the share is too large."""
    share = n_wrong / max(n_accepted, 1)
    if share >= 1 - accuracy:
        return None
    low, high = 1, fewest_cases(accuracy, confidence)
    while not holds(high, math.ceil(share * high), accuracy, confidence):
        if high > MOST_NEEDED:
            return None
        low, high = high, 2 * high
    while low < high:
        middle = (low + high) // 2
        if holds(middle, math.ceil(share * middle), accuracy, confidence):
            high = middle
        else:
            low = middle + 1
    return high


def percent(share: float) -> str:
    """Return a share as text.

    >>> percent(0.99), percent(0.9995)
    ('99%', '99.95%')
    """
    return f"{100 * share:.6g}%"


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
        return pd.DataFrame(vars(self))

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
    lowest = float(curve.accuracy[curve.coverage >= FIRST_COVERAGE].min())
    if promise is not None and promise.given:
        ax.plot([0, promise.coverage], [promise.accuracy] * 2, color=PROMISE_COLOUR, linewidth=1.5, linestyle="--")
        ax.plot([promise.coverage] * 2, [0, promise.accuracy], color=PROMISE_COLOUR, linewidth=1.5, linestyle="--")
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
