"""Models fitted to many rows of a table, and judged on those that took no part in a choice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from whynear.engine.workers import Workers
from whynear.utils.arrays import Array, Indices
from whynear.utils.progress import Report, one_after_the_other, silent
from whynear.verdict.feature_columns import FeatureColumns, chosen_rows
from whynear.verdict.outside_models import BetterModel, better_model, clearly_better, outside_models
from whynear.verdict.refits import Refits, rows_of
from whynear.verdict.targets import Answers, Target, best_of

FOLDS = 3
MOST_ROWS = 5_000  # that the learner is fitted to
FEWEST_TIMES = 2  # as many rows as were used must there be, for more rows to say something else
CLEARLY_WORSE = 2.0  # standard errors of the difference of losses


@dataclass(frozen=True)
class SetCheck:
    """How models that are fitted to many rows predict with a set of features alone.

    Attributes
    ----------
    models : tuple of str
        The learner, and models that are not of distances where they are clearly better. The best of them answers.
    n_rows, n_judged : int
        The rows that they were fitted to, in folds, and those of them that took no part in choosing the set.
    score, score_of_all : float
        Accuracy (R2 for a measured target) on the latter with the set, and with all features.
    lost, lost_error : float
        The difference of the two scores, and its standard error, which is that of paired rows.
    """

    models: tuple[str, ...]
    n_rows: int
    n_judged: int
    score: float
    score_of_all: float
    lost: float
    lost_error: float

    def __str__(self) -> str:
        """Return what was fitted and judged, in a sentence."""
        first, *more = self.models
        names = f"{', '.join(self.models[:-1])} and {more[-1]} were" if more else f"{first} was"
        return (
            f"{names[0].upper()}{names[1:]} fitted to {self.n_rows:,} rows in folds, and judged on the "
            f"{self.n_judged:,} of them that took no part in choosing the set: {self.score:.1%} with the set, "
            f"{self.score_of_all:.1%} with all{', by the best of them' if more else ''}."
        )


class ManyRows:
    """Answers of models, fitted to folds of many rows, for those of them that are not used elsewhere.

    The first of the models is the learner; others answer too if they are clearly better with all features.
    What few rows say need not hold for many: with more rows some features become needed, and others can be replaced.
    """

    def __init__(self, models: Sequence[Refits], used: Indices) -> None:
        self._models, first = models, models[0]
        held_out = np.arange(len(first.target.Y))[first.target.held_out]
        self._places = np.flatnonzero(~np.isin(held_out, used))
        self.target: Target = first.target.rows(held_out[self._places])

    @cached_property
    def answering(self) -> list[Refits]:
        """The models that answer."""
        learner, *outside = self._models
        return [learner, *clearly_better(outside, self._of_others, self._of_others(learner), self.target)]

    @property
    def better_model(self) -> BetterModel | None:
        """The best of the models if it measures no distances; kernel ridge models are not fitted to many rows."""
        learner, *outside = self.answering
        return better_model(outside, self._of_others, self._of_others(learner), learner_only=True)

    def prepare(self, sets: Sequence[Sequence[int]], report: Report = silent) -> None:
        """Fit with all features, and without each of these sets of features."""
        for model, part in zip(self.answering, one_after_the_other(report, len(self.answering)), strict=True):
            model.prepare([(), *sets], report=part)

    def without(self, features: Sequence[int] = ()) -> Answers:
        """Return the best answers without some features."""
        return best_of(self._of_others(model, features) for model in self.answering)

    def with_only(self, features: Sequence[int]) -> Answers:
        """Return the best answers with some features alone."""
        every = np.unique(np.concatenate([model.owners for model in self._models]))
        self.prepare([others := every[~np.isin(every, features)].tolist()])
        return self.without(others)

    def _of_others(self, model: Refits, features: Sequence[int] = ()) -> Answers:
        """Return the answers of a model for the rows that are not used elsewhere."""
        found = model.without(features)
        return Answers(found.loss[self._places], found.score[self._places], found.expected[self._places])

    def may_object(self, best: Answers, target: Target) -> bool:
        """Return whether the best of these models is not clearly worse than the best model of fewer rows.

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
        names = tuple(model.name for model in self.answering)
        return SetCheck(names, len(self._models[0].table.y), len(self._places), *means, lost, error)


def many_rows(
    learner: BaseEstimator,
    X: Any,
    y: NDArray[Any],
    columns: FeatureColumns,
    target: Target,
    used: Indices,
    rng: np.random.Generator,
    *,
    owners: Indices | None = None,
    weights: Array | None = None,
    workers: Workers | None = None,
) -> ManyRows | None:
    """Return models fitted to many rows, judged on those not used; None where the table has few others."""
    if len(y) < FEWEST_TIMES * len(used):
        return None
    many = chosen_rows(len(y), MOST_ROWS, target.strata, rng)
    own, aim, seed = columns.rows(many), target.rows(many), int(rng.integers(2**31))
    of_rows = None if weights is None else weights[many]
    refits = Refits(
        learner, rows_of(X, many), y[many], aim, seed, owners=owners, weights=of_rows, workers=workers, n_folds=FOLDS
    )
    outside = outside_models(own, aim, seed, workers=workers, n_folds=FOLDS)
    return ManyRows([refits, *outside], np.flatnonzero(np.isin(many, used)))
