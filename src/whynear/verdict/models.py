"""The models that answer with and without features: kernel ridge in several shapes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from whynear.utils.arrays import Array, Indices
from whynear.verdict import feature_maps, kernel_ridge
from whynear.verdict.feature_columns import FeatureColumns
from whynear.verdict.kernel_ridge import HeldOut
from whynear.verdict.targets import Answers, Target, best_of

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

    Every kernel of ``names`` is fitted, or those of ``ridges`` at their given ridges.
    """

    def __init__(
        self,
        columns: FeatureColumns,
        target: Target,
        names: Sequence[str] = kernel_ridge.KERNELS,
        ridges: Mapping[str, float] | None = None,
    ) -> None:
        self.columns, self.target = columns, target
        self.products = columns.values @ columns.values.T
        self.near: list[str] = []
        self.full: dict[str, Answers] = {}
        self.ridges: dict[str, float] = {}
        for name in names if ridges is None else ridges:
            ridge = None if ridges is None else ridges[name]
            found = held_out(name, columns.values, lambda: self.products, columns.n_features, target, ridge)
            self.full[name], self.ridges[name] = target.answers(found.predicted), found.ridge
        self.best = min(self.full, key=lambda name: float(self.full[name].loss.mean()))
        self.near = [name for name, found in self.full.items() if _as_good(found, self.answers, target)]

    @property
    def two_best(self) -> list[str]:
        """The two kernels of least loss, for searches that fit many models."""
        return sorted(self.full, key=lambda name: float(self.full[name].loss.mean()))[:2]

    @property
    def settled(self) -> dict[str, float]:
        """The kernels near the best, each with its ridge."""
        return {name: self.ridges[name] for name in self.near}

    @property
    def answers(self) -> Answers:
        """What the best kernel says with all features."""
        return self.full[self.best]

    def without(self, features: Sequence[int] | Indices, *, tune: bool = False) -> Answers:
        """Return the best answers of the kernels that are near the best, without these features."""
        own, rest = self.columns.of(features), self.columns.of(np.setdiff1d(self.columns.owners, features))
        ridges = {name: None if tune else self.ridges[name] for name in self.near}
        n_features = self.columns.n_features - len(features)
        return self._best_of(rest, lambda: self.products - own @ own.T, n_features, ridges)

    def with_only(self, features: Sequence[int] | Indices, ridges: Mapping[str, float] | None = None) -> Answers:
        """Return the best answers of the kernels with these features alone; of those with given ridges only."""
        own = self.columns.of(features)
        asked = dict.fromkeys(self.full) if ridges is None else ridges
        return self._best_of(own, lambda: own @ own.T, len(features), asked)

    def _best_of(
        self, values: Array, products: Callable[[], Array], n_features: int, ridges: Mapping[str, float | None]
    ) -> Answers:
        """Return the best answers of kernels, each at its ridge or at the best one."""
        found = [held_out(name, values, products, n_features, self.target, ridge) for name, ridge in ridges.items()]
        return best_of(self.target.answers(one.predicted) for one in found)


def held_out(
    name: str, values: Array, products: Callable[[], Array], n_features: int, target: Target, ridge: float | None
) -> HeldOut:
    """Predict held-out rows by one kernel of some columns, at a ridge or at the best one.

    ``products`` makes the products of the rows, for kernels that cannot be written out as few features.
    """
    alone = target.forward is None and not target.grouped
    features = feature_maps.mapped(name, values, n_features) if alone else None
    if features is not None and ridge is None:
        return feature_maps.tuned(features, target.Y)
    if features is not None and ridge is not None:
        return feature_maps.at_ridge(features, target.Y, ridge)
    K = kernel_ridge.kernel(name, products(), n_features)
    if ridge is None:
        return kernel_ridge.tuned(K, target.Y, target.groups, target.forward)
    return kernel_ridge.at_ridge(K, target.Y, target.groups, ridge, target.forward)


def predict(name: str, ridge: float, known: Array, Y: Array, new: Array, n_features: int) -> Array:
    """Learn from the columns and targets of known rows by one kernel, and predict the targets of new rows."""
    features = feature_maps.mapped(name, known, n_features)
    if features is None:
        return kernel_ridge.predict(name, ridge, known, Y, new, n_features)
    others = feature_maps.written_out(name, new, n_features)
    return feature_maps.predict(features, Y, others, ridge)


def _as_good(found: Answers, best: Answers, target: Target) -> bool:
    """Return whether the loss exceeds the best by at most a standard error of the difference."""
    excess, error = target.mean_and_error(found.loss - best.loss)
    return excess <= error + 1e-12


def beats_guessing(answers: Answers, target: Target) -> bool:
    """Return whether a model predicts better than the class shares, or the mean, do."""
    gain, error = target.mean_and_error(target.guessed().loss - answers.loss)
    return gain > WORKS * error
