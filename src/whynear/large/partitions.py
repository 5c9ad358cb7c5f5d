"""Dask collections: their partitions, tasks on these, and the tables that they hold."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain
from operator import itemgetter
from threading import Lock
from typing import Any
from uuid import uuid4

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils import check_array
from sklearn.utils.validation import column_or_1d, validate_data

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
from whynear.utils.threads import one_blas_thread

TRIM_VARIABLE = "MALLOC_TRIM_THRESHOLD_"  # set by Dask for its workers
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
DEFAULT_MMAP_THRESHOLD = 128 << 10
MOST_KEPT = 32 << 20  # the largest threshold that glibc takes
_USERS, _LOCK = [0], Lock()


@contextmanager
def freed_memory_kept() -> Iterator[None]:
    """Keep what is freed inside within glibc, where it is set to return it at once; it is returned at the end.

    Workers of Dask return freed memory at once. Each array of more than 128 kB is then new memory, and the page faults
    of small blocks of rows take as long as the work on them.
    """
    libc, asked = _glibc(), os.environ.get(TRIM_VARIABLE, "")
    if libc is None or not asked.isdigit():
        yield
        return
    with _LOCK:
        _USERS[0] += 1
        libc.mallopt(M_TRIM_THRESHOLD, MOST_KEPT)
        libc.mallopt(M_MMAP_THRESHOLD, MOST_KEPT)
    try:
        yield
    finally:
        with _LOCK:
            _USERS[0] -= 1
            if not _USERS[0]:
                libc.mallopt(M_TRIM_THRESHOLD, int(asked))
                libc.mallopt(M_MMAP_THRESHOLD, DEFAULT_MMAP_THRESHOLD)
                libc.malloc_trim(0)


@lru_cache
def _glibc() -> Any:
    """The C library, if it is glibc."""
    try:
        libc = ctypes.CDLL("libc.so.6")
    except OSError:
        return None
    return libc if hasattr(libc, "mallopt") and hasattr(libc, "malloc_trim") else None


TARGET = "target of whynear"  # the name of y beside the columns of X
KINDS = "a Dask array, a Dask DataFrame or Series, or a list of delayed partitions"


def dask_module() -> Any:
    """Return the module ``dask``; the error without it has the line to type."""
    try:
        import dask
    except ImportError:
        raise ImportError("Dask is not installed: pip install 'whynear[dask]'") from None
    return dask


def partitions_of(collection: Any, what: str = "X") -> list[Any]:
    """Return the partitions of rows as delayed objects, in order."""
    dask = dask_module()
    from dask.delayed import Delayed

    if isinstance(collection, list | tuple) and collection and all(isinstance(part, Delayed) for part in collection):
        return list(collection)
    if not dask.is_dask_collection(collection) or not hasattr(collection, "to_delayed"):
        raise TypeError(
            f"{what} must be {KINDS}, got {type(collection).__name__} instead. For tables in memory use the methods "
            "of the learner."
        )
    if getattr(collection, "chunks", None) is not None:
        collection = with_whole_rows(collection)
    found = collection.to_delayed()
    return list(found) if isinstance(found, list) else list(found.ravel())


def with_whole_rows(array: Any) -> Any:
    """Return a Dask array whose chunks hold all columns of their rows; the numbers of rows may be unknown."""
    return array.rechunk({1: -1}) if array.ndim == 2 and len(array.chunks[1]) > 1 else array


def paired_partitions(X: Any, y: Any) -> list[tuple[Any, Any]]:
    """Return the partitions of X, each with that of y."""
    if y is None:
        raise ValueError("y is None, and the target is needed. Give a Dask collection with the partitions of X.")
    if all(hasattr(collection, "divisions") for collection in (X, y)):
        _check_numbers(X.npartitions, y.npartitions)
        # Dask may read several files as one partition, and fewer of a table than of one of its columns.
        together = X.assign(**{TARGET: y[y.columns[0]] if y.ndim == 2 else y})
        return [
            (task(pd.DataFrame.drop, part, columns=TARGET), task(itemgetter(TARGET), part))
            for part in partitions_of(together)
        ]
    rows, targets = partitions_of(X), partitions_of(y, "y")
    _check_numbers(len(rows), len(targets))
    return list(zip(rows, targets, strict=True))


def _check_numbers(n_of_rows: int, n_of_targets: int) -> None:
    if n_of_rows != n_of_targets:
        raise ValueError(
            f"X has {n_of_rows} partitions and y has {n_of_targets}. Give both the same, for example by taking y as a "
            "column of the same table."
        )


def task(work: Callable[..., Any], /, *parts: Any, **settings: Any) -> Any:
    """Return the delayed ``work(*parts, **settings)``; Dask does not look into the settings."""
    delayed = dask_module().delayed(partial(_with_settings, work, settings), pure=False, traverse=False)
    return delayed(*parts, dask_key_name=f"{getattr(work, '__name__', 'work').strip('_')}-{uuid4().hex}")


def items(whole: Any, n: int) -> list[Any]:
    """Return tasks for the items of a delayed list, so that each is sent alone to where it is needed."""
    return [task(itemgetter(place), whole) for place in range(n)]


def computed(tasks: Sequence[Any]) -> list[Any]:
    """Return the results of tasks, in order: from the workers of a client, if there is one, else from here."""
    with _one_thread_each():
        return list(dask_module().compute(*tasks))


def kept(tasks: Sequence[Any]) -> list[Any]:
    """Return tasks whose results are kept where they were computed; a lost one is computed again."""
    with _one_thread_each():
        return list(dask_module().persist(*tasks))


def computed_where_kept(
    work: Callable[..., Any], parts: Sequence[Any], settings: Sequence[dict[str, Any]]
) -> list[Any]:
    """Return ``work(part, **settings)`` of every kept part, in order: one task for all parts on one thread of a worker.

    A task takes milliseconds of the scheduler, and there are tasks for every step of a descent.
    """
    groups = groups_where_kept(parts)
    tasks = [
        task(_on_each, [parts[i] for i in group], work=work, settings=[settings[i] for i in group]) for group in groups
    ]
    found = dict(zip(chain(*groups), chain(*computed(tasks)), strict=True))
    return [found[place] for place in range(len(parts))]


def _on_each(parts: list[Any], work: Callable[..., Any], settings: list[dict[str, Any]]) -> list[Any]:
    return [work(part, **own) for part, own in zip(parts, settings, strict=True)]


def groups_where_kept(parts: Sequence[Any]) -> list[list[int]]:
    """The numbers of the parts by the thread that works on them; a part that no worker has at the moment is alone."""
    client = _client()
    if client is None:
        return [[place] for place in range(len(parts))]
    holders, threads = client.who_has(parts), client.nthreads()
    by_worker: dict[Any, list[int]] = {}
    for place, part in enumerate(parts):
        held = sorted(holders.get(part.key, ()))
        by_worker.setdefault(held[0] if held else place, []).append(place)
    return [
        group[first :: threads.get(worker, 1)]
        for worker, group in by_worker.items()
        for first in range(min(len(group), threads.get(worker, 1)))
    ]


def shared(value: Any) -> Any:
    """Return a value as a delayed object, once for all tasks: a client sends it to every worker."""
    dask = dask_module()
    client = _client()
    return dask.delayed(value if client is None else client.scatter(value, broadcast=True, hash=False), traverse=False)


def n_workers() -> int:
    """Return how many tasks run at once on the workers of a client; one without a client."""
    client = _client()
    return 1 if client is None else max(1, sum(client.nthreads().values()))


def _one_thread_each() -> Any:
    """A context in which BLAS uses one thread for each task of this process; Dask does the same on its workers."""
    return one_blas_thread() if _client() is None else nullcontext()


def _client() -> Any:
    """The client whose workers compute tasks; None where they are computed in this process."""
    from dask.base import get_scheduler

    client = getattr(get_scheduler(), "__self__", None)
    return client if hasattr(client, "scatter") else None


def _with_settings(work: Callable[..., Any], settings: dict[str, Any], /, *parts: Any) -> Any:
    with freed_memory_kept():
        return work(*parts, **settings)


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
