"""Thresholds that keep a promised accuracy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from whynear.reject.certainty import (
    CertaintyModel,
    CertaintyRule,
    ClassScales,
    certainty_folds,
    class_scales,
    fit_certainty,
)
from whynear.reject.nearness import (
    NO_CASES,
    Measure,
    NearCases,
    Nearness,
    measures_of,
    own_and_best_other,
    usual_measures,
)
from whynear.reject.promise import Promise, promise_of
from whynear.utils.arrays import Array, ByValue, Indices


def strangeness(nearness: Nearness) -> Array:
    """Return how strange each class would be for each case, of shape (n, n_classes).

    log(d / d'), for the squared distances d to the class and d' to the nearest other one; for a classifier without
    distances log(p' / p) of the probabilities. Minus infinity at distance zero, infinity for a class without cases,
    zero where both are zero.

    >>> strangeness(Nearness(np.array([0]), np.array([[0.8, 0.2]]))).round(3)
    array([[-1.386,  1.386]])
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        if nearness.sq_by_class is None:
            logs = -np.log(nearness.probabilities)
        else:
            logs = np.log(nearness.sq_by_class)
        nearest = logs.argmin(axis=1)
        own, other = own_and_best_other(-logs, nearest)
        best_other = np.repeat(-own[:, None], logs.shape[1], axis=1)
        best_other[np.arange(len(logs)), nearest] = -other
        found = logs - best_other
    return np.where(np.isnan(found), 0.0, found)


def strangeness_of_true(scores: Array, codes: Indices) -> Array:
    """Return the strangeness of the true class of each case; infinite for a class that is new to the classifier."""
    known = np.where(codes >= 0, codes, 0)
    return np.where(codes >= 0, scores[np.arange(len(scores)), known], np.inf)


def strangest_accepted(of_true: Array, coverage: float) -> float:
    """Return the limit of strangeness below which the true class of a new case lies with this probability.

    That of the k-th of n calibration cases in rising order, k = ceil((n + 1) coverage); infinite where k > n.

    >>> strangest_accepted(np.arange(1.0, 10.0), 0.8), strangest_accepted(np.arange(1.0, 10.0), 0.95)
    (8.0, inf)
    """
    place = math.ceil((len(of_true) + 1) * coverage - 1e-9)
    return float(np.sort(of_true)[place - 1]) if place <= len(of_true) else np.inf


def fewest_for_sets(coverage: float) -> int:
    """Return how many calibration cases sets of this coverage need: with fewer they hold every class.

    >>> fewest_for_sets(0.9), fewest_for_sets(0.99)
    (9, 99)
    """
    return math.ceil(coverage / (1 - coverage) - 1e-9)


def members(scores: Array, limit: float) -> NDArray[np.bool_]:
    """Return for each case which classes are in its set."""
    return scores <= limit


Thresholds = Literal["global", "class"]
CHOOSING_SHARE, MOST_CHOOSING = 0.4, 5_000  # of the cases, those that fit the certainty and do not count for promises
OUTLIER_SHARE = 0.95  # of the calibration cases are nearer than an outlier


@dataclass(frozen=True, eq=False)
class Calibration(ByValue):
    """The calibration of the predictions of a classifier by held-out cases.

    Attributes
    ----------
    classes : ndarray
        The classes.
    rule : CertaintyRule
        Gives cases their certainty. Two fifths of the cases chose it.
    chosen_by : ndarray
        The certainties of these, each by a model fitted to the others.
    certainty, right : ndarray of shape (n_counted,)
        The certainty of each other case, and whether its prediction is right.
    nearest : ndarray
        The sorted distances of all cases to the nearest prototype or training case; empty for a classifier without
        distances.
    strangeness : ndarray
        How strange the true class of each case is.
    unit : {"cases", "groups"}
        What is counted: all cases, or one of each group.
    """

    classes: NDArray[Any]
    rule: CertaintyRule
    chosen_by: Array
    certainty: Array
    right: NDArray[np.bool_]
    nearest: Array
    strangeness: Array
    unit: str = "cases"

    def promise(self, accuracy: float, confidence: float) -> Promise:
        """Return what can be promised for accepted cases: the counted cases had no part in choosing the certainty."""
        return promise_of(self.certainty, self.right, self.chosen_by, accuracy, confidence, self.unit)

    def is_outlier(self, nearness: Nearness) -> NDArray[np.bool_]:
        """Return which cases are farther from the nearest prototype or training case than 95% of the held-out ones."""
        if nearness.sq_nearest is None or not len(self.nearest):
            return np.zeros(len(nearness), dtype=bool)
        nearer = np.searchsorted(self.nearest, np.sqrt(nearness.sq_nearest), side="left")
        return nearer / len(self.nearest) >= OUTLIER_SHARE

    def to_dict(self) -> dict[str, Any]:
        """Return numbers, texts, arrays and lists of these, which a file can hold."""
        return {**vars(self), "rule": self.rule.to_dict()}

    @classmethod
    def from_dict(cls, held: dict[str, Any]) -> Calibration:
        """Return the calibration of which `to_dict` returned this."""
        return cls(**{**held, "rule": CertaintyRule.from_dict(held["rule"])})


def calibrated(
    nearness: Nearness,
    y: ArrayLike,
    classes: NDArray[Any],
    *,
    certainty: Measure | Literal["auto"] = "auto",
    thresholds: Thresholds = "global",
    groups: ArrayLike | None = None,
    seed: int = 0,
) -> tuple[Calibration, Array]:
    """Calibrate the predictions of held-out cases with known classes; return the certainty of each case too.

    Two fifths of the cases, drawn at random, choose the certainty; the others count for promises. All count for sets,
    which do not depend on the certainty. Of each group one case counts, drawn at random: cases of one group are not
    independent.
    """
    codes = pd.Index(classes).get_indexer(np.asarray(y))
    separate = np.arange(len(codes)) if groups is None else np.asarray(groups)
    chooses = choosing(separate, seed)
    near = NO_CASES if nearness.seen is None else NearCases(nearness.seen[chooses], codes[chooses])
    known = nearness.rows(chooses)
    if near:
        known = replace(known, near_shares=near.own_shares(len(classes)))
    cases = _Cases(measures_of(known), known.predicted, codes[chooses] == known.predicted, len(classes))
    names = _checked_names(certainty, known, cases.measures)
    sq = nearness.sq_nearest if nearness.same_units else None
    farthest = np.inf if sq is None else float(np.sqrt(sq[chooses].max()))
    rule = CertaintyRule(*cases.fitted(names, thresholds), near, farthest)
    certainties = rule.certainty_of(nearness)
    certainties[chooses] = cases.held_out(names, thresholds, None if groups is None else separate[chooses], seed)
    one = one_of_each(separate, seed)
    counted = one[~chooses[one]]
    found = Calibration(
        classes,
        rule,
        certainties[chooses],
        certainties[counted],
        (codes == nearness.predicted)[counted],
        np.empty(0) if sq is None else np.sort(np.sqrt(sq)),
        strangeness_of_true(strangeness(nearness.rows(one)), codes[one]),
        "cases" if groups is None else "groups",
    )
    return found, certainties


def choosing(separate: NDArray[Any], seed: int) -> NDArray[np.bool_]:
    """Return which cases choose the certainty: two fifths of the groups, from one to 5,000.

    >>> choosing(np.array(["p", "p", "q", "q", "r", "r"]), seed=0).sum()
    np.int64(2)
    """
    groups = np.unique(separate)
    size = min(max(1, int(CHOOSING_SHARE * len(groups))), MOST_CHOOSING)
    return np.isin(separate, np.random.default_rng([seed, 1]).choice(groups, size, replace=False))


def _checked_names(
    certainty: Measure | Literal["auto"], nearness: Nearness, measures: dict[Measure, Array]
) -> tuple[Measure, ...]:
    names = usual_measures(nearness) if certainty == "auto" else (certainty,)
    if missing := [name for name in names if name not in measures]:
        raise ValueError(
            f"certainty={certainty!r} needs {'near cases' if missing[0] == 'near_share' else 'distances'} that the "
            f"learner does not have. Use certainty='auto', or one of {', '.join(measures)}."
        )
    return names


@dataclass(frozen=True, eq=False)
class _Cases:
    """The measures of cases, their predicted classes, and which predictions are right."""

    measures: dict[Measure, Array]
    predicted: Indices
    right: NDArray[np.bool_]
    n_classes: int

    def rows(self, places: Indices) -> _Cases:
        measures = {name: values[places] for name, values in self.measures.items()}
        return _Cases(measures, self.predicted[places], self.right[places], self.n_classes)

    def held_out(self, names: Sequence[Measure], thresholds: Thresholds, groups: Any, seed: int) -> Array:
        """Return the certainty of each case by a model fitted to others."""
        found = np.empty(len(self.right))
        for train, test in certainty_folds(self.right, groups, seed):
            model, scales = self.rows(train).fitted(names, thresholds)
            others = self.rows(test)
            found[test] = scales.scaled(model.certainty(others.measures, others.predicted), others.predicted)
        return found

    def fitted(self, names: Sequence[Measure], thresholds: Thresholds) -> tuple[CertaintyModel, ClassScales]:
        model = fit_certainty(self.measures, self.predicted, self.right, names, self.n_classes)
        if thresholds == "global":
            return model, ClassScales(())
        certainty = model.certainty(self.measures, self.predicted)
        return model, class_scales(certainty, self.predicted, self.right, self.n_classes)


def one_of_each(groups: ArrayLike, seed: int) -> Indices:
    """Return the places of one case of each group, drawn at random, in rising order.

    >>> one_of_each(["p", "q", "p", "q"], seed=0).tolist() in ([0, 1], [0, 3], [1, 2], [2, 3])
    True
    """
    codes = np.unique(np.asarray(groups), return_inverse=True)[1]
    shuffled = np.random.default_rng(seed).permutation(len(codes))
    return np.sort(shuffled[np.unique(codes[shuffled], return_index=True)[1]])
