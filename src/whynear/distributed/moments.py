"""Means, variances and ranges of the columns of a table in partitions, in one pass; missing values do not count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import check_array

from whynear.distributed.partitions import computed, task
from whynear.utils.arrays import Array, Indices
from whynear.utils.columns import column_names, default_names, refuse_counts


@dataclass(frozen=True)
class Moments:
    """Summary of the values of each column of some rows.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    names : tuple of str or None
        The names of the columns, if they have any.
    counts : ndarray of shape (n_features,)
        Number of values that are not missing.
    infinities : ndarray of shape (n_features,)
        Number of infinite values.
    mean, squares : ndarray of shape (n_features,)
        The mean, and the sum of the squares about it.
    low, high : ndarray of shape (n_features,)
        The smallest and the largest value, NaN without any.
    """

    n_rows: int
    names: tuple[str, ...] | None
    counts: Indices
    infinities: Indices
    mean: Array
    squares: Array
    low: Array
    high: Array

    @property
    def variance(self) -> Array:
        """The mean square about the mean."""
        return self.squares / np.maximum(self.counts, 1)

    @property
    def ends(self) -> Any:
        """A table of two rows: the smallest and the largest value of each column."""
        rows = np.array([self.low, self.high])
        return rows if self.names is None else pd.DataFrame(rows, columns=list(self.names))

    def joined(self, other: Moments) -> Moments:
        """The moments of these rows and others (Chan, Golub, LeVeque 1983)."""
        counts = self.counts + other.counts
        share = other.counts / np.maximum(counts, 1)
        away = other.mean - self.mean
        return Moments(
            self.n_rows + other.n_rows,
            self.names,
            counts,
            self.infinities + other.infinities,
            self.mean + away * share,
            self.squares + other.squares + np.square(away) * self.counts * share,
            np.fmin(self.low, other.low),
            np.fmax(self.high, other.high),
        )


def moments_of(parts: Sequence[Any]) -> Moments:
    """Return the moments of all partitions; refuse infinities by name."""
    found = [each for each in computed([task(_moments, part) for part in parts]) if each.n_rows]
    if not found:
        raise ValueError(f"X has no rows in {len(parts)} partitions.")
    total = reduce(Moments.joined, found)
    refuse_counts(np.zeros(1), total.infinities, total.names or default_names(len(total.mean)))
    return total


def _moments(X: Any) -> Moments:
    values = check_array(X, dtype=np.float64, ensure_all_finite=False, ensure_min_samples=0)
    known = ~np.isnan(values)
    counts = known.sum(axis=0)
    infinities = np.isinf(values).sum(axis=0)
    filled = np.where(np.isfinite(values), values, 0.0)
    mean = filled.sum(axis=0) / np.maximum(counts, 1)
    squares = np.square(np.where(known, filled - mean, 0.0)).sum(axis=0)
    empty = np.full((1, values.shape[1]), np.nan)
    low, high = (np.fmin.reduce(np.vstack([empty, values])), np.fmax.reduce(np.vstack([empty, values])))
    return Moments(len(values), column_names(X), counts, infinities, mean, squares, low, high)
