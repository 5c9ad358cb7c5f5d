"""Training rows as kernels are learned from them: each different row once, and how rows are held out."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
import pandas as pd

from whynear.data.rows import RowSplit, TimeOrder, forward_splits, n_different, split_rows
from whynear.learn.kernel.learning import Rows
from whynear.learn.kernel.ridge import mean_squares
from whynear.utils.arrays import Array, Indices

CHOOSING_ROWS = 600  # at most, from which a shape is chosen
LEARNING_ROWS = 4_000  # at most, from which a distance is learned
GRADIENT_ROWS = 500  # at most, over which squared derivatives are averaged
FORWARD_FOLDS = 5


class Table(NamedTuple):
    """Different training rows: targets, weights and classes, and the groups or times by which they are held out."""

    X: Array
    Y: Array
    weights: Array
    strata: Indices
    groups: Indices | TimeOrder | None

    def rows(self, places: Indices) -> Rows:
        """Return some of the rows, as they are held out."""
        groups = None if self.groups is None else self.groups[places]
        rows = Rows(self.X[places], self.Y[places], self.weights[places])
        if groups is None or n_different(groups) < 2:
            return rows
        if isinstance(groups, TimeOrder):
            return rows._replace(forward=forward_splits(groups, FORWARD_FOLDS) or None)
        return rows._replace(groups=groups)

    def variance(self, places: Indices) -> float:
        """Return the mean squared error of some rows if their mean is predicted."""
        Y, weights = self.Y[places], self.weights[places]
        return mean_squares(Y - np.average(Y, axis=0, weights=weights), weights)

    def folds(self, places: Indices, n_folds: int, classes: bool, rng: np.random.Generator) -> list[RowSplit]:
        """Return folds of some rows that leave two classes to learn from; none where there are none."""
        strata, groups = self.strata[places], None if self.groups is None else self.groups[places]
        n_folds = min(n_folds, int(np.bincount(strata).max()) if classes else len(places) // 2)
        if n_folds < 2:
            return []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of classes with fewer rows than folds
            parts = split_rows(strata, n_folds, int(rng.integers(2**31)), stratified=classes, groups=groups)
        return [part for part in parts if len(part[0]) > 1 and (not classes or len(np.unique(strata[part[0]])) > 1)]


def distinct(X: Array, Y: Array, groups: Indices | TimeOrder | None) -> tuple[Indices, Indices]:
    """Return a place of each different row, and which of them each row is.

    They are in an order that depends on the order of values within columns alone.
    """
    apart = [] if groups is None else [groups.times if isinstance(groups, TimeOrder) else groups]
    columns = [np.unique(column, return_inverse=True)[1] for column in (*X.T, *Y.T, *apart)]
    keys = pd.util.hash_pandas_object(pd.DataFrame(dict(enumerate(columns))), index=False).to_numpy()
    _, first, copy_of = np.unique(keys, return_index=True, return_inverse=True)
    return first, copy_of


def at_most(most: int, n: int, rng: np.random.Generator) -> Indices:
    """Return all of n places, or so many that are drawn."""
    return np.arange(n) if n <= most else np.sort(rng.permutation(n)[:most])
