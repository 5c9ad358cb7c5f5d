"""Numeric targets sorted into classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whynear.utils.checks import whole
from whynear.utils.row_names import rows_at


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
    values = _finite_column(y)
    distinct, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    if len(distinct) < n_bins:
        raise ValueError(
            f"n_bins={n_bins} is more than y has distinct values ({len(distinct)}). Use n_bins <= {len(distinct)}."
        )
    cuts = _balanced_cuts(np.cumsum(counts), n_bins)
    return np.searchsorted(cuts, place, side="left").astype(np.int64)


def _finite_column(y: ArrayLike) -> NDArray[np.float64]:
    try:
        values = np.asarray(y, dtype=float)
    except (TypeError, ValueError):
        raise ValueError("y must be numeric, got values that are not numbers instead.") from None
    if values.ndim != 1 or not len(values):
        raise ValueError(f"y must be one column with at least one row, got shape {values.shape} instead.")
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        raise ValueError(
            f"y must be finite, got {len(bad)} missing or infinite values instead, in rows {rows_at(bad, y)}. "
            "Drop these rows first."
        )
    return values


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
