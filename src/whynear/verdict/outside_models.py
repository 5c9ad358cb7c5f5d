"""Models that measure no distances: where they predict better than all that do, sets must suffice for them too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression

from whynear.engine.workers import Workers
from whynear.verdict.feature_columns import FeatureColumns
from whynear.verdict.refits import Refits
from whynear.verdict.targets import FOLDS, Answers, Target

CLEARLY = 2.0  # standard errors of loss by which a model must beat the others to answer in their place
# A tree of numbers tries every column at every split: with many cells, a forest of fewer trees is nearly as good.
MANY_CELLS, USUAL_TREES, FEW_TREES = 30_000, 100, 25


@dataclass(frozen=True)
class BetterModel:
    """A model that measures no distances, and predicts clearly better with all features than those that do.

    Attributes
    ----------
    name : str
        What it is, such as "a random forest".
    n_rows : int
        The held-out rows that were predicted.
    score, score_of_distances : float
        Accuracy (R2 for a measured target) of this model, and of the best of the others.
    learner_only : bool
        Whether the learner is the only other, as on many rows; otherwise kernel ridge models are among them.
    """

    name: str
    n_rows: int
    score: float
    score_of_distances: float
    learner_only: bool = False


def outside_models(
    columns: FeatureColumns, target: Target, seed: int, *, workers: Workers | None = None, n_folds: int = FOLDS
) -> list[Refits]:
    """Return these models, to be fitted to standardised columns on folds."""
    y = target.Y[:, 0] if target.measured else target.strata
    return [
        Refits(
            model, columns.values, y, target, seed,
            owners=columns.owners, workers=workers, n_folds=n_folds, drops=True, name=name,
        )
        for name, model in _models(measured=target.measured, n_cells=columns.values.size).items()
    ]  # fmt: skip


def _models(*, measured: bool, n_cells: int) -> dict[str, BaseEstimator]:
    if measured:  # for which one of the kernel ridge models is linear
        trees = FEW_TREES if n_cells > MANY_CELLS else USUAL_TREES
        return {"a random forest": RandomForestRegressor(trees, min_samples_leaf=2, random_state=0)}
    return {"a random forest": RandomForestClassifier(random_state=0), "logistic regression": LogisticRegression()}


def clearly_better(
    models: Sequence[Refits], answers: Callable[[Refits], Answers], best: Answers, target: Target
) -> list[Refits]:
    """Return the models whose loss with all features is clearly less than that of the best answers so far."""
    found = []
    for model in models:
        gain, error = target.mean_and_error(best.loss - answers(model).loss)
        if gain > CLEARLY * error:
            found.append(model)
    return found


def better_model(
    models: Sequence[Refits], answers: Callable[[Refits], Answers], best: Answers, *, learner_only: bool = False
) -> BetterModel | None:
    """Return the best of models that are clearly better than the best answers of others, if it is right more often."""
    if not models:
        return None
    first = min(models, key=lambda model: float(answers(model).loss.mean()))
    score, other = float(answers(first).score.mean()), float(best.score.mean())
    return BetterModel(first.name, len(best.loss), score, other, learner_only) if score > other else None
