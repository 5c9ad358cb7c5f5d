"""A model fitted again without some features; every fit is a piece of work."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from whynear.engine.pieces import Piece
from whynear.engine.processes import Processes
from whynear.engine.running import results_of
from whynear.engine.workers import Workers
from whynear.metric.fit_weights import weights_for
from whynear.utils.arrays import Array, Indices
from whynear.utils.progress import Report, silent
from whynear.utils.row_order import RowSplit
from whynear.verdict.targets import FOLDS, Answers, Target

LEARNER = "the learner"
USUAL_SECONDS = 0.01  # of a fit, before one was timed


@dataclass(frozen=True, eq=False)
class RefitTable:
    """What all refits share.

    ``classes`` are those of the target, None if it is measured. With ``drops``, columns are dropped that are left out,
    which a learner takes that knows no columns; otherwise they are at one value.
    """

    learner: BaseEstimator
    X: Any
    y: NDArray[Any]
    weights: Array | None
    classes: NDArray[Any] | None
    drops: bool = False

    def without(self, columns: Sequence[int]) -> Any:
        """Return the table without some columns."""
        return np.delete(self.X, columns, axis=1) if self.drops else _made_constant(self.X, columns)


def refit(left_out: Sequence[int], train: Indices, test: Indices, table: RefitTable) -> Array | None:
    """Fit the learner without some columns, and predict held-out rows: the probability of each class, or y.

    None where there is nothing to learn from.
    """
    X, y, classes = table.without(left_out), table.y, table.classes
    if table.weights is not None:
        train = train[table.weights[train] > 0]
    if not _varies(rows_of(X, train)) or (classes is not None and len(np.unique(y[train])) < 2):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of columns made constant here, and of few steps
        weights = weights_for(table.learner, None if table.weights is None else table.weights[train])
        model = clone(table.learner).fit(rows_of(X, train), y[train], **weights)
    if classes is None:
        return np.asarray(model.predict(rows_of(X, test)), dtype=np.float64)[:, None]
    predicted = np.zeros((len(test), len(classes)))
    if hasattr(model, "predict_proba"):
        known = np.searchsorted(classes, np.unique(y[train]))
        predicted[:, known] = model.predict_proba(rows_of(X, test))
    else:
        predicted[np.arange(len(test)), np.searchsorted(classes, model.predict(rows_of(X, test)))] = 1.0
    return predicted


class Refits:
    """A model, such as the learner itself, fitted again on folds without some features.

    ``owners`` are the numbers of the features that the columns of X belong to; each column is its own without them.
    ``weights`` say how much each row counts when the learner is fitted. ``workers`` do the fits; this process alone
    without them. ``n_folds`` is the number of folds, as far as the rows have as many. With ``drops``, columns that are
    left out are dropped instead of made constant. ``name`` is what the model is called in messages.
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
        self._known: dict[tuple[tuple[int, ...], int], Answers] = {}

    def without(self, features: Sequence[int] = (), repeats: int = 1) -> Answers:
        """Return the answers for held-out rows, as means over repeated cross-validations."""
        self.prepare([features], repeats)
        return self._known[_key(features, repeats)]

    def prepare(self, sets: Sequence[Sequence[int]], repeats: int = 1, report: Report = silent) -> None:
        """Fit without each of these sets of features, as far as that has not been done."""
        keys = [key for key in (_key(features, repeats) for features in sets) if key not in self._known]
        folds = [self.target.folds(self.seed + repeat, self.n_folds) for repeat in range(repeats)]
        left_out = [np.flatnonzero(np.isin(self.owners, features)).tolist() for features, _ in keys]
        predictions = self._held_out([([own] * len(fold), fold) for own in left_out for fold in folds], report)
        for key in keys:
            found = [self.target.answers(next(predictions)) for _ in folds]
            parts = (np.mean([getattr(one, name) for one in found], axis=0) for name in ("loss", "score", "expected"))
            self._known[key] = Answers(*parts)

    def with_only(
        self, sets: Sequence[Sequence[Sequence[int]]], folds: Sequence[RowSplit], report: Report = silent
    ) -> list[Answers]:
        """Return the answers for the held-out rows of each fold, for sets that have other features on each."""
        runs = [
            ([np.flatnonzero(~np.isin(self.owners, list(kept))).tolist() for kept in members], folds)
            for members in sets
        ]
        return [self.target.answers(predicted) for predicted in self._held_out(runs, report)]

    def _held_out(
        self, runs: Sequence[tuple[Sequence[list[int]], Sequence[RowSplit]]], report: Report
    ) -> Iterator[Array]:
        """Yield predictions of the columns of the target for rows that were not learned from, for each run.

        A run has for each fold the columns that are left out.
        """
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
            predicted = np.tile(self.target.Y.mean(axis=0), (len(self.table.y), 1))
            for piece in run:
                if found[piece] is not None:  # else the class shares, or the mean, answer
                    predicted[piece.arguments["test"]] = self._as_target(found[piece])
            yield predicted

    def _as_target(self, predicted: Array) -> Array:
        """Return predictions in the unit of the columns of the target, which may be standardised by more rows."""
        if not self.target.measured:
            return predicted
        y, Y = self.table.y.astype(np.float64), self.target.Y
        spread = float(y.std())
        return np.asarray(Y.mean() + (predicted - y.mean()) * (Y.std() / spread if spread > 0 else 0.0))


def _key(features: Sequence[int], repeats: int) -> tuple[tuple[int, ...], int]:
    return tuple(sorted(int(j) for j in features)), repeats


def rows_of(X: Any, chosen: Indices) -> Any:
    """Return some rows of a table or an array."""
    return X.iloc[chosen] if isinstance(X, pd.DataFrame) else np.asarray(X)[chosen]


def _varies(X: Any) -> bool:
    """Return whether some column has different values."""
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
