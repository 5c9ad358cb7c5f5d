"""Models fitted again without some features: the learner, and others that measure no distances; also on many rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression

from whynear.data.rows import RowSplit, rows_of
from whynear.learn.inputs import checked_weights, far_rows_unsaid
from whynear.metric.steps import estimators_of
from whynear.model.pipeline import FittedPipeline, weights_for
from whynear.utils.arrays import Array, Indices
from whynear.utils.progress import Report, one_after_the_other, silent
from whynear.verdict.outside import random_forest
from whynear.verdict.rules import CLEARLY_WORSE, clearly_better
from whynear.verdict.table import (
    FOLDS,
    FeatureColumns,
    RowLosses,
    Target,
    best_of,
    chosen_rows,
    feature_columns,
    owners_of,
    target_of,
)
from whynear.work.pieces import Piece
from whynear.work.processes import Processes
from whynear.work.workers import ENGINES, Engine, Workers, results_of, start_workers

LEARNER = "the learner"
USUAL_SECONDS = 0.01  # of a fit, before one was timed
# A tree of numbers tries every column at every split: with many cells, a forest of fewer trees is nearly as good.
MANY_CELLS, USUAL_TREES, FEW_TREES = 30_000, 100, 25
MANY_ROWS = 5_000  # at most, that models are fitted to where there are more than verdicts are made from
FOLDS_OF_MANY = 3
FEWEST_TIMES = 2  # as many rows as were used must there be, for a check on more rows


@dataclass(frozen=True, eq=False)
class RefitTable:
    """What all refits share."""

    learner: BaseEstimator
    X: Any
    y: NDArray[Any]
    weights: Array | None
    classes: NDArray[Any] | None  # of the target; None if it is measured
    drops: bool = False  # columns that are left out, which a learner takes that knows no columns; else one value


def refit(left_out: Sequence[int], train: Indices, test: Indices, table: RefitTable) -> Array | None:
    """Fit the learner without some columns, and predict held-out rows: the probability of each class, or y.

    None where there is nothing to learn from.
    """
    X = np.delete(table.X, left_out, axis=1) if table.drops else _made_constant(table.X, left_out)
    model = _fitted(X, train, table)
    return None if model is None else _predicted(model, rows_of(X, test), train, table)


def _fitted(X: Any, train: Indices, table: RefitTable) -> Any:
    """Return the learner fitted to some rows; None where there is nothing to learn from."""
    train = _counting(train, table)
    if not _varies(rows_of(X, train)) or (table.classes is not None and len(np.unique(table.y[train])) < 2):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of columns made constant here, and of few steps
        weights = weights_for(table.learner, None if table.weights is None else table.weights[train])
        return clone(table.learner).fit(rows_of(X, train), table.y[train], **weights)


def _counting(train: Indices, table: RefitTable) -> Indices:
    return train if table.weights is None else train[table.weights[train] > 0]


def _predicted(model: Any, X: Any, train: Indices, table: RefitTable) -> Array:
    """Return the probabilities of the classes of the target for rows, or their predicted numbers."""
    classes = table.classes
    if classes is None:
        with far_rows_unsaid():
            return np.asarray(model.predict(X), dtype=np.float64)[:, None]
    predicted = np.zeros((len(X), len(classes)))
    if hasattr(model, "predict_proba"):
        known = np.searchsorted(classes, np.unique(table.y[_counting(train, table)]))
        predicted[:, known] = model.predict_proba(X)
    else:
        predicted[np.arange(len(X)), np.searchsorted(classes, model.predict(X))] = 1.0
    return predicted


def fits_without(
    left_out: Sequence[Sequence[int]], train: Indices, test: Indices, table: RefitTable
) -> list[Array | None] | None:
    """Fit the learner once, and predict held-out rows without each of these sets of columns by what it has learned.

    None where steps before the learner mix columns.
    """
    model = _fitted(table.X, train, table)
    if model is None:
        return [None] * len(left_out)
    parts = FittedPipeline.of(model)
    if parts.reached is None:
        return None
    sources = np.array([parts.columns.index(parts.sources[place]) for place in parts.reached])
    seen = parts.seen(parts.table(rows_of(table.X, test)))
    return [
        _predicted(parts.learner.without(np.flatnonzero(np.isin(sources, columns))), seen, train, table)
        for columns in left_out
    ]


class Refits:
    """A model, such as the learner itself, fitted again on folds without some features.

    ``owners`` are the numbers of the features that the columns of X belong to; each column is its own without them.
    This process alone fits without ``workers``. There are ``n_folds`` folds, as far as the rows have as many. With
    ``drops``, columns that are left out are dropped instead of made constant. ``name`` is that of messages.
    """

    def __init__(
        self,
        learner: BaseEstimator,
        X: Any,
        y: NDArray[Any],
        target: Target,
        seed: int,
        *,
        owners: Indices | None = None,
        weights: Array | None = None,
        workers: Workers | None = None,
        n_folds: int = FOLDS,
        drops: bool = False,
        name: str = LEARNER,
    ) -> None:
        self.table = RefitTable(learner, X, y, weights, None if target.measured else np.unique(y), drops)
        self.target, self.seed, self.n_folds, self.name = target, seed, n_folds, name
        self.owners = np.arange(np.shape(X)[1]) if owners is None else owners
        self.workers = Processes(1) if workers is None else workers
        self.seconds = USUAL_SECONDS
        self._known: dict[tuple[tuple[int, ...], int], RowLosses] = {}

    def without(self, features: Sequence[int] = (), repeats: int = 1) -> RowLosses:
        """Return the losses for held-out rows, as means over repeated cross-validations."""
        self.prepare([features], repeats)
        return self._known[_key(features, repeats)]

    def prepare(self, sets: Sequence[Sequence[int]], repeats: int = 1, report: Report = silent) -> None:
        """Fit without each of these sets of features, as far as that has not been done."""
        keys = [key for key in (_key(features, repeats) for features in sets) if key not in self._known]
        folds = [self.target.folds(self.seed + repeat, self.n_folds) for repeat in range(repeats)]
        left_out = [np.flatnonzero(np.isin(self.owners, features)).tolist() for features, _ in keys]
        predictions = self._held_out([([own] * len(fold), fold) for own in left_out for fold in folds], report)
        for key in keys:
            found = [self.target.losses(next(predictions)) for _ in folds]
            parts = (np.mean([getattr(one, name) for one in found], axis=0) for name in ("loss", "score", "expected"))
            self._known[key] = RowLosses(*parts)

    def without_by_one_fit(self, sets: Sequence[Sequence[int]], report: Report = silent) -> list[RowLosses] | None:
        """Return the losses without each of these sets of features by models fitted once for each fold, with all.

        They are at least those of refits, but for chance. None where the learner cannot predict without columns.
        """
        if not hasattr(estimators_of(self.table.learner)[-1], "without"):
            return None
        folds = self.target.folds(self.seed, self.n_folds)
        left_out = [np.flatnonzero(np.isin(self.owners, features)).tolist() for features in sets]
        pieces = [Piece(fits_without, {"left_out": left_out, "train": train, "test": test}) for train, test in folds]
        found = {}
        for piece, done in results_of(self.workers, pieces, {"table": self.table}):
            found[piece] = done.result
            report(f"fit {self.name} for each fold, {len(found)} of {len(pieces)}", len(found) / len(pieces))
        if any(found[piece] is None for piece in pieces):
            return None
        predictions = ([found[piece][place] for piece in pieces] for place in range(len(left_out)))
        return [self.target.losses(self._of_rows(new, folds)) for new in predictions]

    def with_only(
        self, sets: Sequence[Sequence[Sequence[int]]], folds: Sequence[RowSplit], report: Report = silent
    ) -> list[RowLosses]:
        """Return the losses for the held-out rows of each fold, for sets that have other features on each."""
        runs = [
            ([np.flatnonzero(~np.isin(self.owners, list(kept))).tolist() for kept in members], folds)
            for members in sets
        ]
        return [self.target.losses(predicted) for predicted in self._held_out(runs, report)]

    def _held_out(
        self, runs: Sequence[tuple[Sequence[list[int]], Sequence[RowSplit]]], report: Report
    ) -> Iterator[Array]:
        """Yield predictions of held-out rows for each run, which has the columns that are left out on each fold."""
        pieces = [
            [
                Piece(refit, {"left_out": columns, "train": train, "test": test}, self.seconds)
                for columns, (train, test) in zip(left_out, folds, strict=True)
            ]
            for left_out, folds in runs
        ]
        every, found = [piece for run in pieces for piece in run], {}
        for piece, done in results_of(self.workers, every, {"table": self.table}):
            found[piece], self.seconds = done.result, done.elapsed
            report(f"refit {self.name}, {len(found):,} of {len(every):,} fits", len(found) / len(every))
        for run in pieces:
            yield self._of_rows([found[piece] for piece in run], [(0, piece.arguments["test"]) for piece in run])

    def _of_rows(self, found: Sequence[Array | None], folds: Sequence[Any]) -> Array:
        """Return the predictions of folds in the order of the rows."""
        Y, y = self.target.Y, self.table.y.astype(np.float64) if self.target.measured else self.table.y
        predicted = np.tile(Y.mean(axis=0), (len(y), 1))
        for new, (_, test) in zip(found, folds, strict=True):
            if new is None:  # the class shares, or the mean, are predicted
                continue
            if self.target.measured:  # in the unit of the target, which may be standardised by more rows
                spread = float(y.std())
                new = Y.mean() + (new - y.mean()) * (Y.std() / spread if spread > 0 else 0.0)
            predicted[test] = new
        return predicted


def _key(features: Sequence[int], repeats: int) -> tuple[tuple[int, ...], int]:
    return tuple(sorted(int(j) for j in features)), repeats


def _varies(X: Any) -> bool:
    if isinstance(X, pd.DataFrame):
        return any(column.nunique() > 1 for _, column in X.items())
    return bool((np.asarray(X) != np.asarray(X)[:1]).any())


def _made_constant(X: Any, features: Sequence[int]) -> Any:
    """Return the table with some columns at one value: any Pipeline takes it, and none learns from them."""
    if not features:
        return X
    changed = X.copy()
    for j in features:
        if isinstance(X, pd.DataFrame):
            column = X.iloc[:, j]
            usual = column.mode(dropna=bool(column.notna().any())).iloc[0]
            changed.isetitem(j, pd.Series([usual] * len(X), X.index, column.dtype))
        else:
            changed[:, j] = pd.Series(X[:, j]).mode(dropna=not pd.isna(X[:, j]).all()).iloc[0]
    return changed


@dataclass(frozen=True)
class BetterModel:
    """A model that measures no distances, and predicts clearly better with all features than those that do."""

    name: str  # what it is, such as "a random forest"
    n_rows: int  # that were held out and predicted
    score: float  # accuracy (R2 for a measured target)
    score_of_distances: float  # the same of the best of the others
    learner_only: bool = False  # whether the only other is the learner, as on many rows; else kernel ridge models too


def outside_models(
    columns: FeatureColumns, target: Target, seed: int, *, workers: Workers | None = None, n_folds: int = FOLDS
) -> list[Refits]:
    """Return these models, to be fitted to standardised columns on folds."""
    if target.measured:  # for which one of the kernel ridge models is linear
        trees = FEW_TREES if columns.values.size > MANY_CELLS else USUAL_TREES
        models = {"a random forest": random_forest(measured=True, n_trees=trees)}
    else:
        models = {"a random forest": random_forest(measured=False), "logistic regression": LogisticRegression()}
    return [
        Refits(
            model, columns.values, target.Y[:, 0] if target.measured else target.strata, target, seed,
            owners=columns.owners, workers=workers, n_folds=n_folds, drops=True, name=name,
        )
        for name, model in models.items()
    ]  # fmt: skip


def better_model(
    models: Sequence[Refits], losses: Callable[[Refits], RowLosses], best: RowLosses, *, learner_only: bool = False
) -> BetterModel | None:
    """Return the best of models that are clearly better than the best of others, if it is right more often."""
    if not models:
        return None
    first = min(models, key=lambda model: float(losses(model).loss.mean()))
    score, other = float(losses(first).score.mean()), float(best.score.mean())
    return BetterModel(first.name, len(best.loss), score, other, learner_only) if score > other else None


@dataclass(frozen=True)
class SetCheck:
    """How models that are fitted to many rows predict with a set of features alone; the best of them counts."""

    models: tuple[str, ...]  # the learner, and models that are not of distances where they are clearly better
    n_rows: int  # that they were fitted to, in folds
    n_judged: int  # those of them that took no part in choosing the set
    score: float  # accuracy (R2 for a measured target) on these with the set
    score_of_all: float  # and with all features
    lost: float  # the difference of the two scores
    lost_error: float  # its standard error, which is that of paired rows

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
    """Models fitted to folds of many rows, and their losses for those rows that are not used elsewhere.

    The first candidate is the learner; others are used beside it if they are clearly better with all features.
    Results on few rows need not hold on many: with more rows some features become needed, and others can be replaced.
    """

    def __init__(self, candidates: Sequence[Refits], used: Indices) -> None:
        self._candidates, first = candidates, candidates[0]
        held_out = np.arange(len(first.target.Y))[first.target.held_out]
        self._places = np.flatnonzero(~np.isin(held_out, used))
        self.target: Target = first.target.rows(held_out[self._places])

    @cached_property
    def models(self) -> list[Refits]:
        """The learner, and the others that are clearly better."""
        learner, *outside = self._candidates
        best = self._of_others(learner)
        return [learner, *(one for one in outside if clearly_better(self._of_others(one), best, self.target))]

    @property
    def better_model(self) -> BetterModel | None:
        """The best of the models if it measures no distances; kernel ridge models are not fitted to many rows."""
        learner, *outside = self.models
        return better_model(outside, self._of_others, self._of_others(learner), learner_only=True)

    def prepare(self, sets: Sequence[Sequence[int]], report: Report = silent) -> None:
        """Fit with all features, and without each of these sets of features."""
        for model, part in zip(self.models, one_after_the_other(report, len(self.models)), strict=True):
            model.prepare([(), *sets], report=part)

    def without(self, features: Sequence[int] = ()) -> RowLosses:
        """Return the losses of the best model without some features."""
        return best_of(self._of_others(model, features) for model in self.models)

    def with_only(self, features: Sequence[int]) -> RowLosses:
        """Return the losses of the best model with some features alone."""
        every = np.unique(np.concatenate([model.owners for model in self._candidates]))
        self.prepare([others := every[~np.isin(every, features)].tolist()])
        return self.without(others)

    def _of_others(self, model: Refits, features: Sequence[int] = ()) -> RowLosses:
        """Return the losses of a model for the rows that are not used elsewhere."""
        found = model.without(features)
        return RowLosses(found.loss[self._places], found.score[self._places], found.expected[self._places])

    def may_object(self, best: RowLosses, target: Target) -> bool:
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
        names = tuple(model.name for model in self.models)
        return SetCheck(names, len(self._candidates[0].table.y), len(self._places), *means, lost, error)


@dataclass(frozen=True, eq=False)
class JudgedTable:
    """A table whose features are judged: as the learner takes it, and as standardised columns."""

    learner: BaseEstimator
    X: Any
    y: NDArray[Any]
    columns: FeatureColumns
    target: Target
    workers: Workers
    owners: Indices | None = None  # the features that columns of X belong to, where several belong to one
    weights: Array | None = None

    def refits(self, rows: Indices, seed: int, n_folds: int = FOLDS) -> Refits:
        """Return the learner to refit to some rows."""
        return Refits(
            self.learner, rows_of(self.X, rows), self.y[rows], self.target.rows(rows), seed, owners=self.owners,
            weights=None if self.weights is None else self.weights[rows], workers=self.workers, n_folds=n_folds,
        )  # fmt: skip

    def on_many_rows(self, used: Indices, rng: np.random.Generator) -> ManyRows | None:
        """Return models fitted to many rows, judged on those not used; None where the table has few others."""
        if len(self.y) < FEWEST_TIMES * len(used):
            return None
        many = chosen_rows(len(self.y), MANY_ROWS, self.target.strata, rng)
        refits = self.refits(many, int(rng.integers(2**31)), FOLDS_OF_MANY)
        columns = self.columns.rows(many)
        outside = outside_models(columns, refits.target, refits.seed, workers=self.workers, n_folds=FOLDS_OF_MANY)
        return ManyRows([refits, *outside], np.flatnonzero(np.isin(many, used)))


def workers_of(engine: Engine | str | Workers, n_jobs: int | None) -> AbstractContextManager[Workers]:
    """Return workers that are given, or what runs an engine, also the cluster at an address, and ends it."""
    if not isinstance(engine, str):
        return nullcontext(engine)
    if "://" in engine:
        return start_workers("dask", n_jobs, engine, also_here=True)
    if engine not in ENGINES:
        known = ", ".join(map(repr, ENGINES))
        raise ValueError(f"engine must be {known} or an address such as 'tcp://host:8786', got {engine!r} instead.")
    return start_workers(cast("Engine", engine), n_jobs, also_here=True)


def judged_table(
    workers: Workers,
    learner: BaseEstimator,
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    sample_weight: Any = None,
    features: Sequence[str] | None = None,
) -> JudgedTable:
    """Return a table whose features are judged, after a check of what was given."""
    columns = feature_columns(X, features)
    target = target_of(learner, y, groups, len(columns.values))
    weights = None if sample_weight is None else checked_weights(sample_weight, len(target.Y), X)
    owners = None if features is None else owners_of(features)[1]
    return JudgedTable(learner, X, np.asarray(y), columns, target, workers, owners, weights)
