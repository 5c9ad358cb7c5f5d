"""Rows that belong together, such as those of one patient: held out together, and not independent of each other."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

from whynear.utils.arrays import Array, Indices
from whynear.utils.row_order import RowSplit, TimeOrder, forward_splits, n_different

TRIED_SEEDS = 10
CHOSEN_AFTER = 0.5  # share of the rows, in time


def split_rows(
    y: NDArray[Any],
    n_folds: int,
    seed: int,
    *,
    stratified: bool,
    groups: ArrayLike | TimeOrder | None = None,
    first: float | None = CHOSEN_AFTER,
) -> list[RowSplit]:
    """Return folds of the rows, with the classes in proportion if ``stratified``; each row is held out once.

    Rows of one group are in one fold, so that there are at most as many folds as groups. The rows of a single group are
    split as if they had none. In time, folds are those of `forward_splits`, and the ``first`` rows are never held out:
    half of them, because what is chosen on the others must suit all rows together, not the few of the beginning.

    >>> [held_out.tolist() for _, held_out in split_rows(np.arange(4.0), 2, 0, stratified=False, groups=[0, 1, 1, 0])]
    [[1, 2], [0, 3]]
    """
    if groups is None or (n_groups := n_different(groups)) < 2:
        kind = StratifiedKFold if stratified else KFold
        return list(kind(n_folds, shuffle=True, random_state=seed).split(y, y))
    if isinstance(groups, TimeOrder):
        return forward_splits(groups, n_folds, y if stratified else None, first)
    n_folds = min(n_folds, n_groups)
    if not stratified:
        return list(GroupKFold(n_folds, shuffle=True, random_state=seed).split(y, y, groups))
    return _in_proportion(y, n_folds, seed, groups)


def _in_proportion(y: NDArray[Any], n_folds: int, seed: int, groups: ArrayLike) -> list[RowSplit]:
    """Return the first folds, over a few seeds, that leave every class to learn from; otherwise those that leave most.

    Groups are dealt out by their classes, so that a class of few groups can come to lie in one fold.
    """
    best: list[RowSplit] = []
    most, n_classes = -1, len(np.unique(y))
    for shift in range(TRIED_SEEDS):
        dealt = StratifiedGroupKFold(n_folds, shuffle=True, random_state=(seed + shift) % 2**32)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of classes with fewer rows than folds
            folds = [(train, test) for train, test in dealt.split(y, y, groups) if len(test)]
        left = min(len(np.unique(y[train])) if len(train) else 0 for train, _ in folds)
        if left > most:
            best, most = folds, left
        if left == n_classes:
            break
    return best


def error_of_mean(values: Array, groups: ArrayLike | None = None) -> Array:
    """Return the standard error of the mean over the last axis, of which the rows of a group are not independent.

    With one row or one group the error is infinite.

    >>> float(error_of_mean(np.array([0.0, 0.0, 1.0, 1.0]), np.array([0, 0, 1, 1])))
    0.5
    """
    n = n_groups = values.shape[-1]
    if groups is not None:
        names, codes = np.unique(groups, return_inverse=True)
        n_groups = len(names)
    if n_groups < 2:
        return np.full(values.shape[:-1], np.inf)
    if groups is None:
        return np.asarray(np.std(values, axis=-1, ddof=1) / np.sqrt(n))
    away = values - values.mean(axis=-1, keepdims=True)
    sums = np.add.reduceat(away[..., np.argsort(codes, kind="stable")], _starts(codes), axis=-1)
    return np.asarray(np.sqrt(np.square(sums).sum(axis=-1) * n_groups / (n_groups - 1)) / n)


def resampled_rows(n_rows: int, groups: ArrayLike | None, rng: np.random.Generator) -> Indices:
    """Draw as many rows as there are with replacement; of groups, as many whole groups as there are."""
    if groups is None:
        return rng.integers(n_rows, size=n_rows)
    codes = np.unique(groups, return_inverse=True)[1]
    members = np.split(np.argsort(codes, kind="stable"), _starts(codes)[1:])
    return np.concatenate([members[drawn] for drawn in rng.integers(len(members), size=len(members))])


def _starts(codes: Indices) -> Indices:
    return np.unique(np.sort(codes), return_index=True)[1]
