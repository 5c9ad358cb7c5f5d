"""Squared distances between the rows of sparse arrays, which are never made dense."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from scipy.spatial.distance import cdist

from whynear.metric.base import Metric, finite
from whynear.utils.arrays import Array
from whynear.utils.columns import LARGEST_VALUE, SMALLEST_VALUE
from whynear.utils.text import counted
from whynear.utils.threads import row_blocks

# Distances of which rounding may change more than this share are computed again from differences.
PRECISION = 1e-8


def any_sparse(*tables: Any) -> bool:
    """Return whether one of the tables is sparse."""
    return any(issparse(table) for table in tables)


def sparse_table(metric: Metric, X: Any, what: str = "X") -> csr_array:
    """Return the rows of X as a sparse array of finite numbers that can be squared; a dense X is checked as always."""
    if not issparse(X):
        return csr_array(metric.table(X, what))
    if X.ndim != 2 or X.shape[1] != metric.n_features:
        raise ValueError(f"{what} must have {counted(metric.n_features, 'feature')}, got shape {X.shape} instead.")
    rows = csr_array(X, dtype=np.float64, copy=True)
    rows.sum_duplicates()
    largest = float(np.abs(rows.data).max(initial=0.0))  # NaN if one is
    reach = largest * float(np.sqrt(metric.relevances().max(initial=0.0)))
    if not max(largest, reach) <= LARGEST_VALUE:
        worst = int(np.argmax(~(np.abs(rows.data) <= LARGEST_VALUE)))
        raise ValueError(
            f"{what} holds {rows.data[worst]:.3g} in column {metric.feature_names[rows.indices[worst]]!r}: "
            "values must be finite, and their squares too. Replace it, or scale the columns."
        )
    if 0 < largest < SMALLEST_VALUE or 0 < reach < SMALLEST_VALUE:
        raise ValueError(
            f"{what} holds nothing larger than {largest:.3g}: squared distances vanish. Scale the columns."
        )
    return rows


def linear_sq_distances(omega: Array, first: csr_array, second: csr_array) -> Array:
    r"""Return :math:`\|\Omega (x - y)\|^2` for all rows x and y, from :math:`\Omega x` and :math:`\Omega y`.

    Time O(nnz k + n m k) for k rows of the map and n and m rows; memory O(n m).
    """
    sq = finite(cdist(first @ omega.T, second @ omega.T, "sqeuclidean"))
    size = np.linalg.norm(omega)
    rounding = _unit(first, second) * size * (_lengths(first)[:, None] + _lengths(second))
    for i, j in _pairs(np.argwhere(np.sqrt(sq) * PRECISION <= rounding), len(omega)):
        sq[i, j] = linear_pairs(omega, first[i], second[j])
    return sq


def linear_pairs(omega: Array, first: csr_array, second: csr_array) -> Array:
    """Return the squared distance of each row of one table to the same row of another, from their difference."""
    return np.square((first - second) @ omega.T).sum(axis=1)


def diagonal_sq_distances(weights: Array, first: csr_array, second: csr_array) -> Array:
    r"""Return :math:`\sum_l w_l (x_l - y_l)^2 = x^T W x + y^T W y - 2 x^T W y` for all rows x and y.

    Time and memory O(n m) and that of one sparse product.
    """
    root = np.sqrt(weights)[None]
    ours, theirs = csr_array(first.multiply(root)), csr_array(second.multiply(root))
    norms = np.square(_lengths(ours))[:, None] + np.square(_lengths(theirs))
    sq = finite(norms - 2.0 * (ours @ theirs.T).toarray())
    for i, j in _pairs(np.argwhere(sq * PRECISION <= _unit(first, second) * norms), 1):
        sq[i, j] = diagonal_pairs(weights, first[i], second[j])
    return sq


def diagonal_pairs(weights: Array, first: csr_array, second: csr_array) -> Array:
    """Return the squared distance of each row of one table to the same row of another, from their difference."""
    return np.square(_lengths(csr_array((first - second).multiply(np.sqrt(weights)[None]))))


def _unit(first: csr_array, second: csr_array) -> float:
    """Return the relative rounding error of a sum over the entries of a row."""
    longest = max(int(np.diff(rows.indptr).max(initial=1)) for rows in (first, second))
    return 2.0 * (longest + 1) * float(np.finfo(float).eps)


def _lengths(rows: csr_array) -> Array:
    return np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())


def _pairs(close: Any, n_components: int) -> Any:
    """Yield blocks of pairs of rows, so that their differences stay small."""
    for block in row_blocks(len(close), row_bytes=4096 + 8 * n_components):
        yield close[block].T
