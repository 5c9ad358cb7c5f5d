"""Partitions of Dask collections, and the memory of workers."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import lru_cache, partial
from itertools import chain
from operator import itemgetter
from threading import Lock
from typing import Any
from uuid import uuid4

import pandas as pd

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
