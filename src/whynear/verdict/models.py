"""The models that answer with and without features: kernel ridge in several shapes, and the learner itself."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from whynear.metric.fit_weights import weights_for
from whynear.utils.arrays import Array, Indices
from whynear.utils.row_order import RowSplit
from whynear.verdict import kernel_ridge
from whynear.verdict.feature_columns import FeatureColumns
from whynear.verdict.targets import Answers, Target

WORKS = 2.33  # standard errors by which a model must beat the class shares


class KernelModels:
    """Kernel ridge models of a table; those near the best of them answer when features are left out.

    Attributes
    ----------
    full : dict of str to Answers
        What each kernel says with all features.
    best : str
        The kernel of least loss.
    near : list of str
        The kernels within a standard error of it.
    """

    def __init__(
        self,
        columns: FeatureColumns,
        target: Target,
        like: KernelModels | None = None,
        names: Sequence[str] = kernel_ridge.KERNELS,
    ) -> None:
        self.columns, self.target = columns, target
        self.products = columns.values @ columns.values.T
        self.near: list[str] = []
        self.full: dict[str, Answers] = {}
        self.ridges: dict[str, float] = {}
        for name in names if like is None else like.near:
            K = kernel_ridge.kernel(name, self.products, columns.n_features)
            if like is None:
                found = kernel_ridge.tuned(K, target.Y, target.groups, target.forward)
            else:
                found = kernel_ridge.at_ridge(K, target.Y, target.groups, like.ridges[name], target.forward)
            self.full[name], self.ridges[name] = target.answers(found.predicted), found.ridge
        self.best = min(self.full, key=lambda name: float(self.full[name].loss.mean()))
        self.near = [name for name, found in self.full.items() if _as_good(found, self.answers, target)]

    @property
    def two_best(self) -> list[str]:
        """The two kernels of least loss, for searches that fit many models."""
        return sorted(self.full, key=lambda name: float(self.full[name].loss.mean()))[:2]

    @property
    def answers(self) -> Answers:
        """What the best kernel says with all features."""
        return self.full[self.best]

    def without(self, features: Sequence[int] | Indices, *, tune: bool = False) -> Answers:
        """Return the best answers of the kernels that are near the best, without these features."""
        own = self.columns.of(features)
        ridges = {name: None if tune else self.ridges[name] for name in self.near}
        return self._best_of(self.products - own @ own.T, self.columns.n_features - len(features), ridges)

    def with_only(self, features: Sequence[int] | Indices, ridges: Mapping[str, float] | None = None) -> Answers:
        """Return the best answers of the kernels with these features alone; of those with given ridges only."""
        own = self.columns.of(features)
        return self._best_of(own @ own.T, len(features), dict.fromkeys(self.full) if ridges is None else ridges)

    def _best_of(self, products: Array, n_features: int, ridges: Mapping[str, float | None]) -> Answers:
        """Return the best answers of kernels, each at its ridge or at the best one."""
        target, answers = self.target, []
        for name, ridge in ridges.items():
            K = kernel_ridge.kernel(name, products, n_features)
            if ridge is None:
                found = kernel_ridge.tuned(K, target.Y, target.groups, target.forward)
            else:
                found = kernel_ridge.at_ridge(K, target.Y, target.groups, ridge, target.forward)
            answers.append(target.answers(found.predicted))
        return min(answers, key=lambda one: float(one.loss.mean()))


def _as_good(found: Answers, best: Answers, target: Target) -> bool:
    """Return whether the loss exceeds the best by at most a standard error of the difference."""
    excess, error = target.mean_and_error(found.loss - best.loss)
    return excess <= error + 1e-12


def beats_guessing(answers: Answers, target: Target) -> bool:
    """Return whether a model predicts better than the class shares, or the mean, do."""
    gain, error = target.mean_and_error(target.guessed().loss - answers.loss)
    return gain > WORKS * error


class Refits:
    """The learner itself, fitted again on folds with some features made constant.

    ``owners`` are the numbers of the features that the columns of X belong to; each column is its own without them.
    ``weights`` say how much each row counts when the learner is fitted.
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
    ) -> None:
        self.learner, self.X, self.y, self.target, self.seed, self.weights = learner, X, y, target, seed, weights
        self.owners = np.arange(np.shape(X)[1]) if owners is None else owners
        self._known: dict[tuple[tuple[int, ...], int], Answers] = {}

    def without(self, features: Sequence[int] = (), repeats: int = 1) -> Answers:
        """Return the answers for held-out rows, as means over repeated cross-validations."""
        key = tuple(sorted(int(j) for j in features)), repeats
        if key not in self._known:
            X = _made_constant(self.X, np.flatnonzero(np.isin(self.owners, key[0])).tolist())
            folds = [self.target.folds(self.seed + repeat) for repeat in range(repeats)]
            found = [self.target.answers(self._held_out([X] * len(one), one)) for one in folds]
            parts = (np.mean([getattr(one, name) for one in found], axis=0) for name in ("loss", "score", "expected"))
            self._known[key] = Answers(*parts)
        return self._known[key]

    def with_only(self, members: Sequence[Sequence[int]], folds: Sequence[RowSplit]) -> Answers:
        """Return the answers for the held-out rows of each fold, with other features on each."""
        tables = [
            _made_constant(self.X, np.flatnonzero(~np.isin(self.owners, list(kept))).tolist()) for kept in members
        ]
        return self.target.answers(self._held_out(tables, folds))

    def _held_out(self, tables: Sequence[Any], folds: Sequence[RowSplit]) -> Array:
        """Return predictions of the columns of the target for rows that were not learned from."""
        predicted = np.tile(self.target.Y.mean(axis=0), (len(self.y), 1))
        classes = None if self.target.measured else np.unique(self.y)
        for X, (some, test) in zip(tables, folds, strict=True):
            train = some if self.weights is None else some[self.weights[some] > 0]
            if not _varies(rows_of(X, train)) or (classes is not None and len(np.unique(self.y[train])) < 2):
                continue  # nothing to learn from: the class shares, or the mean, answer
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # of columns made constant here, and of few steps
                weights = weights_for(self.learner, None if self.weights is None else self.weights[train])
                model = clone(self.learner).fit(rows_of(X, train), self.y[train], **weights)
            if classes is None:
                numbers = self.y.astype(np.float64)
                guessed = np.asarray(model.predict(rows_of(X, test)), dtype=np.float64)
                predicted[test, 0] = (guessed - numbers.mean()) / numbers.std()
                continue
            known = np.searchsorted(classes, np.unique(self.y[train]))
            predicted[test] = 0.0
            if hasattr(model, "predict_proba"):
                predicted[np.ix_(test, known)] = model.predict_proba(rows_of(X, test))
            else:
                guessed = np.searchsorted(classes, model.predict(rows_of(X, test)))
                predicted[test, guessed] = 1.0
        return predicted


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
