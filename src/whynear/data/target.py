"""The target of a table: classes or numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from whynear.data.cells import as_text, is_missing
from whynear.data.column_types import kind_of, note_on_spellings
from whynear.data.options import TableRefused
from whynear.data.rows import numbers_in_file
from whynear.utils.checks import whole
from whynear.utils.columns import as_numbers, rows_at
from whynear.utils.text import listed


def bin_target(y: ArrayLike, n_bins: int = 3) -> NDArray[np.int64]:
    r"""Sort a numeric target into bins of (nearly) equal size, by value.

    Parameters
    ----------
    y : array-like of shape (n,)
        Numeric target, finite everywhere.
    n_bins : int, default=3
        Number of bins, at least 2 and at most the number of distinct values.

    Returns
    -------
    ndarray of shape (n,), int64
        Codes ``0 .. n_bins - 1``; code 0 holds the smallest values. Equal values always share a bin.

    Notes
    -----
    With :math:`c_j` the number of samples up to and including the j-th distinct value, the cuts
    :math:`j_1 < \ldots < j_{b-1}` minimise :math:`\sum_k |c_{j_k} - k n / b|`. Without ties the sizes
    differ by one at most. Time and memory O(u b) for u distinct values, after sorting.

    Examples
    --------
    >>> bin_target([0.3, 9.0, 5.1, 0.3, 7.2, 4.8]).tolist()
    [0, 2, 1, 0, 2, 1]
    """
    n_bins = whole("n_bins", n_bins, 2)
    try:
        values = np.asarray(y, dtype=float)
    except (TypeError, ValueError):
        raise ValueError("y must be numeric, got values that are not numbers instead.") from None
    if values.ndim != 1 or not len(values):
        raise ValueError(f"y must be one column with at least one row, got shape {values.shape} instead.")
    if len(bad := np.flatnonzero(~np.isfinite(values))):
        raise ValueError(
            f"y must be finite, got {len(bad)} missing or infinite values instead, in rows {rows_at(bad, y)}. "
            "Drop these rows first."
        )
    distinct, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    if len(distinct) < n_bins:
        raise ValueError(
            f"n_bins={n_bins} is more than y has distinct values ({len(distinct)}). Use n_bins <= {len(distinct)}."
        )
    cuts = _balanced_cuts(np.cumsum(counts), n_bins)
    return np.searchsorted(cuts, place, side="left").astype(np.int64)


def _balanced_cuts(cumulative: NDArray[np.int64], n_bins: int) -> NDArray[np.int64]:
    """Return the place of the last distinct value of every bin but the last, by dynamic programming over the cuts."""
    n, u = int(cumulative[-1]), len(cumulative)
    best = np.zeros(u)
    came_from = np.zeros((n_bins - 1, u), dtype=np.int64)
    for k in range(1, n_bins):
        # n_bins * |c - k n / n_bins| is a whole number, so ties are exact
        cost = np.abs(n_bins * cumulative - k * n).astype(float)
        if k > 1:
            reach = np.minimum.accumulate(best)
            is_new = np.concatenate([[True], best[1:] < reach[:-1]])
            arg = np.maximum.accumulate(np.where(is_new, np.arange(u), 0))
            cost[1:] += reach[:-1]
            cost[0] = np.inf
            came_from[k - 1, 1:] = arg[:-1]
        best = cost
    best[-1] = np.inf  # the last bin keeps at least one value
    cuts = np.empty(n_bins - 1, dtype=np.int64)
    cuts[-1] = int(np.argmin(best))
    for k in range(n_bins - 2, 0, -1):
        cuts[k - 1] = came_from[k, cuts[k]]
    return cuts


# A numeric target with more distinct values than this is a measurement, not classes.
MOST_CLASSES = 50


def class_names(column: pd.Series) -> pd.Series:
    """Return the class of each row of a target without missing values."""
    return _as_written(column).str.strip()


def _as_written(column: pd.Series) -> pd.Series:
    return (as_text(column) if pd.api.types.is_float_dtype(column) else column).astype(str)  # 1.0 is the class '1'


def target_of(
    column: pd.Series, source: str, bins: int | None, is_number: bool = False
) -> tuple[NDArray[Any], list[str]]:
    """Return the class of each row, and caveats where classes differ only in blanks around them or in case.

    A numeric target with many different values is returned as numbers, with ``is_number`` every numeric target.
    """
    given = _as_written(column)
    names = given.str.strip()
    numbers = None if pd.api.types.is_bool_dtype(column) else as_numbers(column)
    missing = is_missing(column)
    for fault, rows in {"missing": missing, "infinite": numbers is not None and np.isinf(numbers)}.items():
        if np.any(rows):
            codes = ("inf", "-inf") if fault == "infinite" else ()
            places = numbers_in_file(column)[rows]
            message = unusable_target(places.tolist(), len(places), fault, str(column.name), source)
            raise TableRefused(message, drop_missing_target=True, **({"missing": codes} if codes else {}))
    if bins is not None:
        if numbers is None:
            raise ValueError(f"bins={bins} needs a numeric target, got {column.name!r} ({kind_of(column)}) instead.")
        return np.array([f"bin {code + 1} of {bins}" for code in bin_target(numbers, bins)]), []
    counts = names.value_counts()
    if numbers is not None and (is_number or len(counts) > MOST_CLASSES or (counts == 1).mean() > 0.5):
        return numbers, []
    spellings = given.groupby(names.to_numpy()).nunique()
    merged = list(spellings.index[spellings > 1])
    caveat = f"Classes that differ only in blanks around their names were merged: {listed(merged)}."
    alike = note_on_spellings(names.astype(object), "classes")
    return names.to_numpy(dtype=str), [*([caveat] if merged else []), *alike]


def unusable_target(rows: Sequence[int], count: int, fault: str, name: str, source: str) -> str:
    """Return what is wrong with a target of missing or infinite values; ``rows`` are the first of them, from 1."""
    counting = "(counting from 1 below the header)"
    if count == 1:
        fact = f"1 value of the target {name!r} is {fault}, in row {rows[0]} {counting}."
    else:
        shown = ", ".join(map(str, rows[:10])) + (", ..." if count > 10 else "")
        fact = f"{count:,} values of the target {name!r} are {fault}, in rows {shown} {counting}."
    it, these = ("it", "this row") if count == 1 else ("them", "these rows")
    if fault == "missing":
        return f"{source}: {fact} Fill {it} in, or leave {these} out (--drop-missing-target)."
    return f"{source}: {fact} Correct {it}, or remove {these}."
