"""The learner fitted to many rows of a table, and judged on those that took no part in a choice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from whynear.engine.workers import Workers
from whynear.utils.arrays import Array, Indices
from whynear.utils.progress import Report, silent
from whynear.verdict.feature_columns import chosen_rows
from whynear.verdict.refits import Refits, rows_of
from whynear.verdict.targets import Answers, Target

FOLDS = 3
MOST_ROWS = 5_000  # that the learner is fitted to
FEWEST_TIMES = 2  # as many rows as were used must there be, for more rows to say something else
CLEARLY_WORSE = 2.0  # standard errors of the difference of losses


@dataclass(frozen=True)
class SetCheck:
    """How the learner, fitted to many rows, predicts with a set of features alone.

    Attributes
    ----------
    n_rows, n_judged : int
        The rows that it was fitted to, in folds, and those of them that took no part in choosing the set.
    score, score_of_all : float
        Accuracy (R2 for a measured target) on the latter with the set, and with all features.
    lost, lost_error : float
        The difference of the two scores, and its standard error, which is that of paired rows.
    """

    n_rows: int
    n_judged: int
    score: float
    score_of_all: float
    lost: float
    lost_error: float

    def __str__(self) -> str:
        """Return what was fitted and judged, in a sentence."""
        return (
            f"The learner was fitted to {self.n_rows:,} rows in folds, and judged on the {self.n_judged:,} of them "
            f"that took no part in choosing the set: {self.score:.1%} with the set, {self.score_of_all:.1%} with all."
        )


class ManyRows:
    """Answers of the learner, fitted to folds of many rows, for those of them that are not used elsewhere.

    What few rows say need not hold for many: with more rows some features become needed, and others can be replaced.
    """

    def __init__(self, refits: Refits, used: Indices) -> None:
        held_out = np.arange(len(refits.target.Y))[refits.target.held_out]
        self._refits = refits
        self._places = np.flatnonzero(~np.isin(held_out, used))
        self.target: Target = refits.target.rows(held_out[self._places])

    def prepare(self, sets: Sequence[Sequence[int]], report: Report = silent) -> None:
        """Fit with all features, and without each of these sets of features."""
        self._refits.prepare([(), *sets], report=report)

    def without(self, features: Sequence[int] = ()) -> Answers:
        """Return the answers without some features."""
        found = self._refits.without(features)
        return Answers(found.loss[self._places], found.score[self._places], found.expected[self._places])

    def with_only(self, features: Sequence[int]) -> Answers:
        """Return the answers with some features alone."""
        every = np.unique(self._refits.owners)
        self.prepare([others := every[~np.isin(every, features)].tolist()])
        return self.without(others)

    def may_object(self, best: Answers, target: Target) -> bool:
        """Return whether the learner, fitted to many rows, is not clearly worse than the best model of fewer rows.

        What a worse model can do without, a better one may need.
        """
        mine, my_error = self.target.mean_and_error(self.without().loss)
        loss, error = target.mean_and_error(best.loss)
        return bool(mine - loss <= CLEARLY_WORSE * np.hypot(my_error, error))

    def check(self, features: Sequence[int]) -> SetCheck:
        """Return the score with some features alone beside that with all."""
        found, every = self.with_only(features), self.without()
        lost, error = self.target.mean_and_error(every.score - found.score)
        means = float(found.score.mean()), float(every.score.mean())
        return SetCheck(len(self._refits.table.y), len(self._places), *means, lost, error)


def many_rows(
    learner: BaseEstimator,
    X: Any,
    y: NDArray[Any],
    target: Target,
    used: Indices,
    rng: np.random.Generator,
    *,
    owners: Indices | None = None,
    weights: Array | None = None,
    workers: Workers | None = None,
) -> ManyRows | None:
    """Return the learner fitted to many rows, judged on those not used; None where the table has few others."""
    if len(y) < FEWEST_TIMES * len(used):
        return None
    many = chosen_rows(len(y), MOST_ROWS, target.strata, rng)
    refits = Refits(
        learner, rows_of(X, many), y[many], target.rows(many), int(rng.integers(2**31)),
        owners=owners, weights=None if weights is None else weights[many], workers=workers, n_folds=FOLDS,
    )  # fmt: skip
    return ManyRows(refits, np.flatnonzero(np.isin(many, used)))
