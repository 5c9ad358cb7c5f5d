"""Folds, and samples of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from whynear.data.problem import Problem, kind_of_target
from whynear.data.rows import RowSplit, Separation, TimeOrder, groups_by_class, n_different, split_rows, taken
from whynear.utils.progress import Report
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


@dataclass(frozen=True, eq=False)
class Fold:
    """The training rows and the held-out rows, as positions from 0; the number of the fold counts from 1.

    ``groups`` are those of all rows, if there are any: no group is in both parts. Or the times of all rows: those held
    out are later than the training rows.
    """

    number: int
    X: pd.DataFrame
    y: NDArray[Any]
    train: NDArray[np.intp]
    test: NDArray[np.intp]
    groups: Separation | None = None
    weights: pd.Series | None = None

    @property
    def known_weights(self) -> pd.Series | None:
        """The weights of the training rows, copied."""
        return taken(self.weights, self.train)

    @property
    def held_out_weights(self) -> pd.Series | None:
        """The weights of the held-out rows, copied."""
        return taken(self.weights, self.test)

    @property
    def known_groups(self) -> Separation | None:
        """The groups or times of the training rows, copied."""
        return taken(self.groups, self.train)

    @property
    def known(self) -> tuple[pd.DataFrame, NDArray[Any]]:
        """Features and targets of the training rows, copied."""
        return self.X.iloc[self.train], self.y[self.train]

    @property
    def held_out(self) -> tuple[pd.DataFrame, NDArray[Any]]:
        """Features and targets of the held-out rows, copied."""
        return self.X.iloc[self.test], self.y[self.test]

    def table(self, **columns: Any) -> pd.DataFrame:
        """Return a table of the held-out rows: the true target of each, and the columns given."""
        return pd.DataFrame({"true": self.y[self.test], **columns, "place": self.test}, index=self.X.index[self.test])


def folds_of(
    X: pd.DataFrame,
    y: NDArray[Any],
    n_folds: int,
    seed: int,
    report: Report,
    groups: Separation | None = None,
    weights: pd.Series | None = None,
) -> Iterator[Fold]:
    """Yield the folds, each reported when it begins; they are stratified where the target has classes."""
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
    for fold, (train, test) in enumerate(splits):
        report(f"compare learners, fold {fold + 1} of {len(splits)}", fold / len(splits))
        yield Fold(fold + 1, X, y, train, test, groups, weights)


def _check_held_out(y: NDArray[Any], splits: Sequence[RowSplit], name: str) -> None:
    never = np.setdiff1d(y, np.concatenate([y[test] for _, test in splits]))
    if len(never):
        raise ValueError(
            f"Class {str(never[0])!r} occurs only in the first rows by {name!r}, and later rows are held out. Leave "
            "out its rows, merge it with another class, or choose another column (--time)."
        )


def held_out_places(tables: Sequence[pd.DataFrame]) -> NDArray[np.intp]:
    """Return the positions of the rows of all folds, in their order; in time the first rows are in none."""
    return np.sort(np.concatenate([table["place"] for table in tables]))


def in_order(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the tables of all folds as one table, in the order of the rows."""
    return pd.concat(tables).sort_values("place", kind="stable").drop(columns="place")


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
