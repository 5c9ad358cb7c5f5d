"""Folds, and samples of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from whynear.data.problem import Problem, kind_of_target
from whynear.data.rows import RowSplit, Separation, TimeOrder, groups_by_class, n_different, split_rows
from whynear.utils.arrays import Indices
from whynear.utils.text import counted


def at_most(problem: Problem, most: int, seed: int) -> Problem:
    """Return the problem, or a random sample of ``most`` of its rows, stratified if the target has classes."""
    return problem if len(problem.y) <= most else problem.rows(sampled_rows(problem, most, seed))


def sampled_rows(problem: Problem, most: int, seed: int) -> NDArray[np.intp]:
    """Return the positions of these rows, in their order."""
    if len(problem.y) <= most:
        return np.arange(len(problem.y))
    rng = np.random.default_rng(seed)
    if kind_of_target(problem.y) == "numbers":
        return np.sort(rng.permutation(len(problem.y))[:most])
    return stratified_rows(problem.y, most, rng)


def stratified_rows(y: NDArray[Any], most: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw ``most`` rows in their order: at least two of each class, and otherwise each class in its share.

    Every class must have two rows, and ``2 * n_classes <= most <= len(y)``.
    """
    _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    shuffled = rng.permutation(len(y))
    by_class = shuffled[np.argsort(codes[shuffled], kind="stable")]
    place_in_class = np.arange(len(y)) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.sort(by_class[place_in_class < np.repeat(_quotas(counts, most), counts)])


def _quotas(counts: NDArray[np.intp], most: int) -> NDArray[np.intp]:
    """Return the number of rows of each class: near its share of ``most``, at least two, with sum ``most``."""
    shares = counts * (most / counts.sum())
    quotas = np.maximum(2, np.floor(shares)).astype(np.intp)
    while quotas.sum() > most:
        quotas[np.argmax(np.where(quotas > 2, quotas - shares, -np.inf))] -= 1
    while quotas.sum() < most:
        quotas[np.argmax(np.where(quotas < counts, shares - quotas, -np.inf))] += 1
    return quotas


def folds_of(y: NDArray[Any], n_folds: int, seed: int, groups: Separation | None = None) -> list[RowSplit]:
    """Return the training rows and the held-out rows of each fold, stratified where the target has classes.

    No group is in both. Where ``groups`` are times, the held-out rows are later than the training rows.
    """
    of_classes = kind_of_target(y) == "classes"
    splits = split_rows(y, n_folds, seed, stratified=of_classes, groups=groups, first=None)
    if isinstance(groups, TimeOrder) and not splits:
        raise ValueError(
            f"Two classes come together only at the last of {groups.name!r}, so that no later row can be held out. "
            "Choose another column (--time), or add later rows."
        )
    if isinstance(groups, TimeOrder) and of_classes:
        _check_held_out(y, splits, groups.name)
    if of_classes and groups is not None and any(len(np.unique(y[train])) < 2 for train, _ in splits):
        raise ValueError(
            f"The groups of {groups.name!r} cannot be divided into folds that each leave two classes to learn from. "
            "Merge classes, or add groups that contain them."
        )
    return splits


def _check_held_out(y: NDArray[Any], splits: Sequence[RowSplit], name: str) -> None:
    never = np.setdiff1d(y, np.concatenate([y[test] for _, test in splits]))
    if len(never):
        raise ValueError(
            f"Class {str(never[0])!r} occurs only in the first rows by {name!r}, and later rows are held out. Leave "
            "out its rows, merge it with another class, or choose another column (--time)."
        )


def in_order(parts: Sequence[Indices], values: Sequence[NDArray[Any]]) -> tuple[Indices, NDArray[Any]]:
    """Return the positions of the rows of all parts, and the value of each row, in the order of the rows.

    >>> in_order([np.array([3, 0]), np.array([1])], [np.array(["d", "a"]), np.array(["b"])])
    (array([0, 1, 3]), array(['a', 'b', 'd'], dtype='<U1'))
    """
    places = np.concatenate(parts)
    order = np.argsort(places, kind="stable")
    return places[order], np.concatenate(values)[order]


def possible_folds(y: NDArray[Any], wanted: int, groups: Separation | None = None) -> tuple[int, tuple[str, ...]]:
    """Return the number of folds, which is the one wanted or the largest possible, and a caveat if it is smaller."""
    if isinstance(groups, TimeOrder):
        most = n_different(groups) - 1
        fact = f"Column {groups.name!r} has {counted(most + 1, 'different time')}"
        return (wanted, ()) if wanted <= most else (most, (f"{fact}, so at most {counted(most, 'fold')} can be made.",))
    if groups is not None:
        return _folds_of_groups(y, wanted, groups)
    if kind_of_target(y) == "numbers":
        most = len(y) // 2
        return (wanted, ()) if wanted <= most else (most, (f"{most} folds were made of {len(y)} rows.",))
    classes, counts = np.unique(y, return_counts=True)
    smallest = int(counts.min())
    if wanted <= smallest:
        return wanted, ()
    name = str(classes[counts.argmin()])
    return smallest, (f"Class {name!r} has {smallest} rows, so {smallest} folds were made instead of {wanted}.",)


def _folds_of_groups(y: NDArray[Any], wanted: int, groups: pd.Series) -> tuple[int, tuple[str, ...]]:
    most, fact = groups.nunique(), f"Column {groups.name!r} has {counted(groups.nunique(), 'group')}"
    if kind_of_target(y) == "classes":
        by_class = groups_by_class(y, groups)
        if (smallest := int(by_class.min())) < most:
            most = smallest
            fact = (
                f"Class {str(np.unique(y)[by_class.argmin()])!r} occurs in {counted(most, 'group')} of {groups.name!r}"
            )
    if most < 2:
        raise ValueError(
            f"{fact}, and one to learn from and one to hold out are needed. Leave out "
            "this class, or add rows of other groups."
        )
    return (wanted, ()) if wanted <= most else (most, (f"{fact}, so {most} folds were made instead of {wanted}.",))
