"""Tables in partitions: with one row, without any, and with a class that stands in one partition only."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import dask
import dask.array as da
import numpy as np
import pandas as pd


def odd_ends(n: int) -> list[int]:
    """Where partitions end: one row, none, a third of the rows, the others, and none again."""
    return [0, min(1, n), min(1, n), max(min(1, n), n // 3), n, n]


def in_partitions(table: Any, ends: list[int] | None = None) -> list[Any]:
    """Delayed partitions of an array, a DataFrame or a Series."""
    rows = table.iloc if isinstance(table, pd.DataFrame | pd.Series) else table
    return [dask.delayed(rows[first:last]) for first, last in pairwise(ends or odd_ends(len(table)))]


def in_chunks(array: np.ndarray) -> Any:
    """The same as a Dask array."""
    sizes = tuple(np.diff(odd_ends(len(array))).tolist())
    return da.from_array(array, chunks=(sizes, *array.shape[1:]))


def sorted_by_class(X: Any, y: Any) -> tuple[Any, Any]:
    """The rows class by class, so that each partition lacks classes and the last class stands in one only."""
    order = np.argsort(np.asarray(y), kind="stable")
    return (X.iloc[order], y.iloc[order]) if isinstance(X, pd.DataFrame) else (X[order], y[order])


@contextmanager
def in_this_process() -> Iterator[None]:
    """Dask without workers, nor threads."""
    with dask.config.set(scheduler="synchronous"):
        yield
