"""Dask collections as features and targets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils import check_array
from sklearn.utils.validation import column_or_1d, validate_data

from whynear.large.partitions import computed, kept, task
from whynear.learn.inputs import forget_table
from whynear.utils.arrays import Array
from whynear.utils.columns import (
    check_magnitudes,
    column_names,
    default_names,
    is_default,
    names_of_rows,
    refuse_counts,
)
from whynear.utils.text import counted

HEAD_ROWS = 2  # of a partition, by which a learner notes its columns


@dataclass(frozen=True)
class Summary:
    """What is known of a partition without its rows."""

    n_rows: int
    n_targets: int
    names: tuple[str, ...] | None  # of the columns, if they have any
    head: Any  # the first rows
    nans: NDArray[np.intp]  # in each column
    infinities: NDArray[np.intp]
    input_range: Array  # the smallest and the largest value of each column, infinities the other way round without rows
    missing_targets: int
    labels: NDArray[Any]  # the different targets; none where targets are numbers to predict
    counts: NDArray[np.intp]  # of the rows that have them
    index: pd.Index[Any] | None  # the names of the rows, if they have any and are needed


@dataclass(frozen=True)
class ReadTable:
    """A table that was read and checked: its blocks (X, targets, summary) where they were read."""

    blocks: list[Any]
    summaries: list[Summary]
    names: tuple[str, ...]
    input_range: Array

    @property
    def n_rows(self) -> int:
        """Number of rows of all blocks."""
        return sum(summary.n_rows for summary in self.summaries)

    def row_names(self) -> NDArray[Any] | None:
        """The names of all rows, as `names_of_rows` gives them for a table in memory."""
        found = [summary.index for summary in self.summaries if summary.n_rows and summary.index is not None]
        if not found:
            return None
        if all(is_default(index) for index in found):  # as of files that are read one by one
            return np.arange(1, self.n_rows + 1)
        return names_of_rows(pd.DataFrame(index=found[0].append(found[1:])))

    def gathered(self, step: int = 1) -> tuple[Array, NDArray[Any]]:
        """The rows of all blocks and their targets here, every ``step``-th of the table."""
        ends = np.cumsum([summary.n_rows for summary in self.summaries])
        firsts = [(summary.n_rows - end) % step for summary, end in zip(self.summaries, ends.tolist(), strict=True)]
        pairs = zip(self.blocks, firsts, strict=True)
        found = computed([task(_every, block, rows=slice(first, None, step)) for block, first in pairs])
        X, targets = zip(*found, strict=True)
        return np.concatenate(X), np.concatenate(targets)


def read_table(learner: Any, pairs: Sequence[tuple[Any, Any]], *, classes: bool, named: bool = False) -> ReadTable:
    """Read partitions of X and y, keep them as numbers, and refuse what a fit in memory refuses, in the same words.

    With ``classes`` the targets are kept as places in the labels of the summary, else as numbers. With ``named`` the
    names of the rows are fetched. Sets ``n_features_in_``, ``feature_names_in_`` and ``input_range_`` of the learner.
    """
    read = kept([task(_read_classes if classes else _read_numbers, *pair, named=named) for pair in pairs])
    summaries = computed([task(itemgetter(2), part) for part in read])
    filled = [summary for summary in summaries if summary.n_rows]
    for place, summary in enumerate(summaries):
        if summary.n_rows != summary.n_targets:
            raise ValueError(
                f"Partition {place} has {summary.n_rows} rows of X and {summary.n_targets} of y. Give both the same "
                "partitions, for example by taking y as a column of the same table."
            )
        if filled and summary.n_rows and (summary.names, summary.nans.shape) != (filled[0].names, filled[0].nans.shape):
            raise ValueError(f"Partition {place} has other columns than the first. Give all the same columns.")
    n_rows = sum(summary.n_rows for summary in summaries)
    if n_rows < 2:
        raise ValueError(
            f"X has {counted(n_rows, 'row')} in {counted(len(summaries), 'partition')}, and at least 2 are needed."
        )
    heads = [summary.head for summary in filled]
    head = pd.concat(heads) if isinstance(heads[0], pd.DataFrame) else np.concatenate(heads)
    validate_data(learner, head, dtype=np.float64, ensure_all_finite=False)  # notes the columns
    names = filled[0].names or default_names(len(filled[0].nans))
    refuse_counts(sum(s.nans for s in filled), sum(s.infinities for s in filled), names)
    input_range = np.array(
        [np.min([s.input_range[0] for s in filled], axis=0), np.max([s.input_range[1] for s in filled], axis=0)]
    )
    check_magnitudes(input_range, names, by_column=True)
    if missing := sum(summary.missing_targets for summary in summaries):
        raise ValueError(f"y contains NaN or None: {missing} targets are missing. Drop these rows.")
    learner.input_range_ = input_range
    forget_table(learner)
    return ReadTable(read, summaries, names, input_range)


def _read_classes(X: Any, y: Any, named: bool) -> tuple[NDArray[Any], NDArray[Any], Summary]:
    values, labels = stored_numbers(X), column_or_1d(y)
    missing = pd.isna(labels)
    known, codes, counts = np.unique(labels[~missing], return_inverse=True, return_counts=True)
    index = _index_of(X, y) if named else None
    summary = _summary(X, values, len(labels), int(missing.sum()), known, counts, index)
    return values, codes.astype(np.min_scalar_type(len(known))), summary


def _read_numbers(X: Any, y: Any, named: bool) -> tuple[NDArray[Any], NDArray[Any], Summary]:
    values, targets = stored_numbers(X), np.asarray(column_or_1d(y), dtype=np.float64)
    wrong = int(np.count_nonzero(~np.isfinite(targets)))
    nothing, index = np.empty(0, dtype=np.intp), _index_of(X, y) if named else None
    return values, targets, _summary(X, values, len(targets), wrong, nothing, nothing, index)


def _index_of(*tables: Any) -> pd.Index[Any] | None:
    return next((table.index for table in tables if isinstance(table, pd.DataFrame | pd.Series)), None)


def _every(block: tuple[Any, Any, Summary], rows: slice) -> tuple[Array, NDArray[Any]]:
    return block[0][rows].astype(np.float64), block[1][rows]


def _summary(X: Any, values: NDArray[Any], n_targets: int, *of_targets: Any) -> Summary:
    """Return the summary of a partition; ``of_targets`` are its last four parts."""
    nans, infinities = np.isnan(values).sum(axis=0), np.isinf(values).sum(axis=0)
    if len(values):
        ends = np.array([values.min(axis=0), values.max(axis=0)], dtype=np.float64)
    else:
        ends = np.full((2, values.shape[1]), np.inf) * [[1.0], [-1.0]]
    head = X.iloc[:HEAD_ROWS] if isinstance(X, pd.DataFrame) else np.asarray(X)[:HEAD_ROWS]
    head = head.copy()  # a view would keep the whole partition in memory a second time
    return Summary(len(values), n_targets, column_names(X), head, nans, infinities, ends, *of_targets)


def stored_numbers(X: Any) -> NDArray[Any]:
    """Return a partition as one array of numbers, row by row; numbers of four bytes or fewer stay as small as they are.

    They are turned into float64 when they are used, some rows at a time, which changes no value.
    """
    values = check_array(X, dtype="numeric", order="C", ensure_all_finite=False, ensure_min_samples=0)
    if values.dtype.kind in "fiub" and values.dtype.itemsize <= 4:
        return values
    return np.ascontiguousarray(values, dtype=np.float64)
