"""Exact nearest neighbours among sparse cases, which are compared with all queries of a block at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from whynear.metric.diagonal import DiagonalMetric
from whynear.metric.linear import LinearMetric
from whynear.metric.sparse import (
    PRECISION,
    diagonal_pairs,
    linear_pairs,
    sparse_table,
)
from whynear.utils.arrays import Array, Indices
from whynear.utils.threads import row_blocks

QUERY_BYTES = 64 << 20


def sparse_cases(metric: LinearMetric | DiagonalMetric, Y: Any) -> csr_array:
    """Return a checked copy of sparse cases to search among."""
    cases = sparse_table(metric, Y, "Y")
    if not cases.shape[0]:
        raise ValueError("Y must have at least one row to search among, got none.")
    return cases


def nearest_sparse(
    metric: LinearMetric | DiagonalMetric, cases: csr_array, queries: csr_array, k: int, skipped: Indices
) -> tuple[Array, Indices]:
    """Return squared distances and numbers of the k nearest cases, without ``skipped[n]``; ties by number.

    Distances are measured from products, and those within rounding of the k-th again from differences.
    """
    n = queries.shape[0]
    sq, indices = np.empty((n, k)), np.empty((n, k), dtype=np.intp)
    for block in row_blocks(n, row_bytes=48 * cases.shape[0], budget=QUERY_BYTES):
        rows = np.arange(n)[block]
        found = metric.between(queries[rows], cases)
        left_out = np.flatnonzero(skipped[rows] >= 0)
        found[left_out, skipped[rows][left_out]] = np.inf
        bound = np.partition(found, k - 1, axis=1)[:, k - 1] * (1 + 4 * PRECISION)
        place, number = np.nonzero(found <= bound[:, None])
        measured = _measured(metric, queries[rows[place]], cases[number])
        order = np.lexsort((number, measured, place))
        first = np.searchsorted(place, np.arange(len(rows)))  # places are sorted before and after
        chosen = order[first[:, None] + np.arange(k)]
        sq[rows], indices[rows] = measured[chosen], number[chosen]
    return sq, indices


def _measured(metric: LinearMetric | DiagonalMetric, first: csr_array, second: csr_array) -> Array:
    if isinstance(metric, LinearMetric):
        return linear_pairs(metric.omega, first, second)
    return diagonal_pairs(metric.weights, first, second)
