"""The promise that of the accepted cases at least a given share is right, with a given confidence."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, betaincinv

from whynear.utils.arrays import Array, Indices
from whynear.utils.text import counted

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
    certainty: Array,
    right: NDArray[np.bool_],
    others: Array,
    accuracy: float,
    confidence: float,
    unit: str = "cases",
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
