"""The column of groups: rows that belong together, such as those of one patient."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from whynear.tables.target import is_missing
from whynear.utils.text import counted, listed


def groups_of(frame: pd.DataFrame, column: str, target: str, source: str) -> pd.Series:
    """Return the number of the group of each row, under the name of its column, which may be that of the index."""
    if column == target:
        raise ValueError(
            f"{source}: column {column!r} is the target, and cannot say which rows belong together too. "
            "Choose another column (--group)."
        )
    values = frame[column] if column in frame.columns else frame.index.to_series()
    if (missing := is_missing(values)).any():
        rows = counted(int(missing.sum()), "row", "rows")
        raise ValueError(
            f"{source}: column {column!r} names no group in {rows} (first: row {frame.index[int(missing.argmax())]}). "
            "Fill in what is missing, or remove such rows."
        )
    codes, names = pd.factorize(values.astype(str).str.strip().to_numpy())
    if len(names) < 2:
        raise ValueError(
            f"{source}: column {column!r} holds the single group {str(names[0])!r}; at least two are needed, so that "
            "one can be held out. Choose another column (--group)."
        )
    return pd.Series(codes, frame.index, name=column)


def in_two_groups(y: NDArray[Any], groups: pd.Series, source: str) -> tuple[NDArray[np.bool_], list[str]]:
    """Return which rows belong to classes of two groups or more, and a caveat where others are left out."""
    classes, codes = np.unique(y, return_inverse=True)
    n_groups = groups_by_class(y, groups)
    if np.count_nonzero(n_groups >= 2) < 2:
        raise ValueError(
            f"{source}: every row of {counted(int((n_groups < 2).sum()), 'class', 'classes')} "
            f"({listed(list(classes[n_groups < 2]))}) has the same {groups.name!r}; at least two classes must occur in "
            "two groups, so that one can be held out. Choose another column (--group), or add groups."
        )
    caveat = (
        f"Classes within a single {groups.name!r} cannot be held out together with it and were left out: "
        f"{listed(list(classes[n_groups < 2]))}."
    )
    return n_groups[codes] >= 2, [caveat] if (n_groups < 2).any() else []


def groups_by_class(y: NDArray[Any], groups: pd.Series) -> NDArray[np.intp]:
    """Return the number of groups in which each class occurs, in the order of the classes.

    >>> groups_by_class(np.array(["u", "u", "v"]), pd.Series([0, 1, 1])).tolist()
    [2, 1]
    """
    return np.asarray(groups.groupby(y).nunique().sort_index(), dtype=np.intp)
