"""The rules of verdicts: from evidence to a word for each feature, with every threshold named once.

The evidence is computed elsewhere. A rule is changed here, and the sentences that state it are made from its threshold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from whynear.utils.arrays import Array
from whynear.verdict.table import RowLosses, Target

INDISPENSABLE, REPLACEABLE, NO_EVIDENCE, UNDECIDED = "indispensable", "replaceable", "no evidence", "undecided"
WORDS = (INDISPENSABLE, REPLACEABLE, UNDECIDED, NO_EVIDENCE)

# A verdict on a feature
SIGNIFICANT = 0.05
LEAST_LOSS = 1.0  # points; what costs less is not indispensable, however surely
MOST_LOSS = 2.0  # points; what may cost more is not called replaceable
FALSE_DISCOVERIES = 0.05  # among the features that carry information
LIKELIHOOD = np.log(0.05)  # of an effect as large as others have, against none
USUAL = 0.7  # of the median size of the effects found
WORTH_SEEING = 0.25  # size of an effect, per root of the number of rows, where none was found
AGREED = 0.75  # share of resamples below which a verdict is undecided

# Models, in standard errors of the difference of losses
WORKS = 2.33  # by which the best model must beat the class shares, or the mean
CLEARLY_BETTER = 2.0  # by which a model must beat the others to be taken beside them
CLEARLY_WORSE = 2.0  # by which models fitted to many rows are too weak to contradict those fitted to few

# A set that suffices
BELOW_ALL = 1.96  # standard errors of loss by which a set may be worse than all features
BELOW_BEST = 2.33  # and than the best set, where all features are clearly worse than that
SURELY = 1.645  # standard errors, one-sided, of a bound with 95% confidence
MOST_LOST = 0.02  # of accuracy or R2
LARGEST_ERROR = 0.1  # of the loss of a set beside all features, as a share of what features gain over guessing

# A stand-in for a member of a set
NEEDED = 1.645  # standard errors of loss that a member's absence must cost
RECOVERED = 2.33  # standard errors of loss that its stand-in must win back
NOT_WORSE = 1.645  # standard errors of loss that the stand-in may cost
MOST_PRICE = 3.0  # points that the stand-in may cost, with 95% confidence
ALIKE = 0.4  # correlation of a feature with its stand-in, at least


@dataclass(frozen=True)
class Cost:
    """What one model loses against another: points lost with their error, deviation, and points lost at most."""

    loss: float
    error: float
    deviation: float
    most: float

    @property
    def missed(self) -> bool:
        """Whether what was left out is surely missed, and at least `LEAST_LOSS` is lost."""
        return bool(Costs.of([self]).needed[0])


@dataclass(frozen=True, eq=False)
class Costs:
    """What leaving out each feature costs."""

    losses: Array  # points of accuracy (R2 for a measured target)
    errors: Array  # standard errors of these
    deviations: Array  # the increase of the loss of held-out rows, in its standard errors
    most: Array  # points that may be lost at most, with 95% confidence

    @classmethod
    def of(cls, costs: Sequence[Cost]) -> Costs:
        """Return these costs, one for each feature."""
        return cls(*np.array([(one.loss, one.error, one.deviation, one.most) for one in costs]).reshape(-1, 4).T)

    @property
    def p_values(self) -> Array:
        """Of no increase of the loss."""
        return np.asarray(norm.sf(self.deviations))

    @property
    def needed(self) -> NDArray[np.bool_]:
        """Which features no model does as well without, with Holm's correction, and at least `LEAST_LOSS` is lost."""
        return (holm(self.p_values) < SIGNIFICANT) & (self.losses >= LEAST_LOSS)

    def replaced(self, found: Mapping[int, Cost]) -> Costs:
        """Return costs in which those of some features are others."""
        old = zip(self.losses, self.errors, self.deviations, self.most, strict=True)
        return Costs.of([found.get(j, Cost(*cost)) for j, cost in enumerate(old)])


@dataclass(frozen=True, eq=False)
class Information:
    """How surely and how strongly each feature carries information."""

    p_values: Array  # of no information
    q_values: Array  # the same adjusted for the number of features (Benjamini and Hochberg)
    sizes: Array  # the p-values as deviations of a normal variable
    shares: Array  # the largest share of the target's variance that one of the feature's tests explains
    p_alone: Array  # the p-values of the tests that do not account for other features

    @property
    def found(self) -> NDArray[np.bool_]:
        """Features that carry information."""
        return self.q_values < FALSE_DISCOVERIES

    @property
    def found_alone(self) -> NDArray[np.bool_]:
        """Features that carry information which shows without accounting for others."""
        return adjusted(self.p_alone) < FALSE_DISCOVERIES

    def absent(self, n_rows: int) -> NDArray[np.bool_]:
        """Features for which an effect of the usual size would have shown."""
        usual = USUAL * float(np.median(self.sizes[self.found])) if self.found.any() else WORTH_SEEING * n_rows**0.5
        return ~self.found & (self.sizes * usual - usual**2 / 2 < LIKELIHOOD)

    def with_more_rows(self, times: float) -> Information:
        """Return what the same effects would show with this many times the rows."""
        sizes = self.sizes * times**0.5
        p_values = 2 * norm.sf(sizes)
        p_alone = 2 * norm.sf(deviations_of(self.p_alone) * times**0.5)
        return Information(p_values, adjusted(p_values), sizes, self.shares, p_alone)


@dataclass(frozen=True, eq=False)
class Evidence:
    """All that the verdicts on the features of a table follow from; arrays have a value for each feature."""

    information: Information
    costs: Costs
    works: bool  # whether a model beats the class shares, or the mean
    n_rows: int  # that models are refitted to
    missed_together: bool = False  # by models fitted to many rows: all features without evidence, left out together
    most_on_many_rows: Array | None = None  # points that may be lost at most on many rows, where that was tried
    stability: Array | None = None  # share of resamples with the same verdict; missing values without resamples
    in_smallest_set: NDArray[np.bool_] | None = None  # where the smallest sufficient set has not all features


def decide(evidence: Evidence) -> NDArray[np.str_]:
    """Return the verdict on each feature.

    Indispensable: no model does as well without it, after Holm's correction for all features, and at least `LEAST_LOSS`
    is lost. Replaceable: it carries information, and leaving it out costs at most `MOST_LOSS`, also on many rows. No
    evidence: an effect of the usual size would have shown; it is not missed on many rows, and not in the smallest set.
    Everything else is undecided, and so is everything but "no evidence" where no model beats the class shares, and
    every verdict on which fewer than `AGREED` of the resamples agree.

    Information that shows only beside other features is not theirs too, so its absence must cost something: where it
    costs nothing, the two contradict each other, and the feature is undecided.
    """
    costs, information, none = evidence.costs, evidence.information, np.zeros(len(evidence.costs.losses), dtype=bool)
    needed = costs.needed & evidence.works
    found = information.found & (information.found_alone | (costs.deviations > 0))
    spare = found & ~needed & (costs.most <= MOST_LOSS) & evidence.works
    if evidence.most_on_many_rows is not None:
        spare &= ~(evidence.most_on_many_rows > MOST_LOSS)
    kept = none if evidence.in_smallest_set is None else evidence.in_smallest_set
    absent = information.absent(evidence.n_rows) & ~needed & ~kept & (not evidence.missed_together)
    unsure = none if evidence.stability is None else evidence.stability < AGREED
    return np.select([unsure, needed, spare, absent], [UNDECIDED, INDISPENSABLE, REPLACEABLE, NO_EVIDENCE], UNDECIDED)


def meanings(n_resamples: int = 0) -> dict[str, str]:
    """Return what each verdict means, in words.

    >>> meanings()["replaceable"]
    'it carries information, and at most 2 points are lost without it'
    """
    least, most = ("a point is" if one == 1 else f"{one:g} points are" for one in (LEAST_LOSS, MOST_LOSS))
    agree = f", or fewer than {AGREED:.0%} of {n_resamples} resamples agree" if n_resamples else ""
    return {
        INDISPENSABLE: f"no model does as well without it, and at least {least} lost",
        REPLACEABLE: f"it carries information, and at most {most} lost without it",
        UNDECIDED: f"the rows do not settle it{agree}",
        NO_EVIDENCE: "nothing shows that it helps, and an effect of the usual size would have shown",
    }


def holm(p_values: Array) -> Array:
    """Return p-values adjusted for all features by Holm's step-down method.

    >>> holm(np.array([0.01, 0.5, 0.02])).round(3).tolist()
    [0.03, 0.5, 0.04]
    """
    m, order = len(p_values), np.argsort(p_values, kind="stable")
    adjusted = np.empty(m)
    adjusted[order] = np.maximum.accumulate(p_values[order] * np.arange(m, 0, -1))
    return np.minimum(adjusted, 1.0)


def adjusted(p_values: Array) -> Array:
    """Return q-values of Benjamini and Hochberg.

    >>> adjusted(np.array([0.01, 0.5, 0.02])).round(3).tolist()
    [0.03, 0.5, 0.03]
    """
    m, order = len(p_values), np.argsort(p_values, kind="stable")
    scaled = p_values[order] * m / np.arange(1, m + 1)
    q_values = np.empty(m)
    q_values[order] = np.minimum.accumulate(scaled[::-1])[::-1]
    return np.minimum(q_values, 1.0)


def deviations_of(p_values: Array) -> Array:
    """Return p-values as deviations of a normal variable."""
    return np.asarray(norm.isf(np.clip(p_values, 1e-300, 1.0) / 2))


def beats_guessing(losses: RowLosses, target: Target) -> bool:
    """Return whether a model predicts better than the class shares, or the mean, do."""
    gain, error = target.mean_and_error(target.guessed().loss - losses.loss)
    return gain > WORKS * error


def clearly_better(losses: RowLosses, best: RowLosses, target: Target) -> bool:
    """Return whether the loss is clearly less than that of the best model so far."""
    gain, error = target.mean_and_error(best.loss - losses.loss)
    return gain > CLEARLY_BETTER * error


def suffices(found: RowLosses, every: RowLosses, target: Target, tolerance: float | None = None) -> bool:
    """Return whether a set predicts as well as all features, or within the tolerance, in points."""
    if tolerance is None:
        return as_good(found, every, target, BELOW_ALL)
    return float(found.score.mean()) >= float(every.score.mean()) - tolerance / 100 - 1e-12


def sufficing(losses: Sequence[RowLosses], target: Target, tolerance: float | None = None) -> NDArray[np.bool_]:
    """Return which sets are as good as all features and nearly as good as the best set; the last has all features.

    All features suffice where no smaller set does; a tolerance alone decides where one is given.
    """
    every = losses[-1]
    found = np.array([suffices(one, every, target, tolerance) for one in losses])
    if tolerance is not None:
        return found
    excess, errors = np.array([target.mean_and_error(one.loss - every.loss) for one in losses]).T
    best = losses[int(excess.argmin())]
    if _exceeds(every, best, target, SURELY):
        found &= [as_good(one, best, target, BELOW_BEST) for one in losses]
    # Where rows are few or noisy, a set that lacks a feature would seem to suffice.
    found &= errors <= LARGEST_ERROR * float((target.guessed().loss - best.loss).mean())
    found[-1] |= not found.any()
    return found


def as_good(found: RowLosses, other: RowLosses, target: Target, errors: float) -> bool:
    """Return whether a set surely loses little, or it is not clear that it loses anything and it does not seem much."""
    lost, error = target.mean_and_error(other.score - found.score)
    seems_little = lost <= (MOST_LOST if target.measured else max(MOST_LOST, error))
    surely_little = lost + SURELY * error <= MOST_LOST
    return surely_little or (seems_little and not _exceeds(found, other, target, errors))


def _exceeds(found: RowLosses, other: RowLosses, target: Target, errors: float) -> bool:
    """Return whether the loss exceeds another by more than this number of standard errors of the difference."""
    excess, error = target.mean_and_error(found.loss - other.loss)
    return excess > errors * error + 1e-12


def stands_in(price: Cost, back: Cost) -> bool:
    """Return whether a stand-in costs little against the member, and wins back what is lost without either."""
    return price.deviation <= NOT_WORSE and price.most <= MOST_PRICE and back.deviation >= RECOVERED
