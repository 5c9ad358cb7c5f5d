"""The folds of a study: each holds out a part of the rows, the same part for all methods."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import KFold, StratifiedKFold

from whynear.study.progress import Progress
from whynear.tables.problem import kind_of_target


@dataclass(frozen=True, eq=False)
class Fold:
    """The training rows and the held-out rows, as positions from 0; the number of the fold counts from 1."""

    number: int
    X: pd.DataFrame
    y: NDArray[Any]
    train: NDArray[np.intp]
    test: NDArray[np.intp]

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


def folds_of(X: pd.DataFrame, y: NDArray[Any], n_folds: int, seed: int, report: Progress) -> Iterator[Fold]:
    """Yield the folds, each reported when it begins; they are stratified where the target has classes."""
    kind = StratifiedKFold if kind_of_target(y) == "classes" else KFold
    splits = kind(n_folds, shuffle=True, random_state=seed).split(X, y)
    for fold, (train, test) in enumerate(splits):
        report(f"compare learners, fold {fold + 1} of {n_folds}", fold / n_folds)
        yield Fold(fold + 1, X, y, train, test)


def in_order(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the tables of all folds as one table, in the order of the rows."""
    return pd.concat(tables).sort_values("place", kind="stable").drop(columns="place")


def possible_folds(y: NDArray[Any], wanted: int) -> tuple[int, tuple[str, ...]]:
    """Return the number of folds, which is the one wanted or the largest possible, and a caveat if it is smaller."""
    if kind_of_target(y) == "numbers":
        most = len(y) // 2
        return (wanted, ()) if wanted <= most else (most, (f"{most} folds were made of {len(y)} rows.",))
    classes, counts = np.unique(y, return_counts=True)
    smallest = int(counts.min())
    if wanted <= smallest:
        return wanted, ()
    name = str(classes[counts.argmin()])
    return smallest, (f"Class {name!r} has {smallest} rows, so {smallest} folds were made instead of {wanted}.",)
