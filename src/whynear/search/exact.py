"""Exact nearest neighbours under any metric."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator

from whynear.metric.base import Metric, finite
from whynear.metric.linear import PRECISION, DiagonalMetric, LinearMetric, any_sparse, sparse_table
from whynear.metric.local import LocalMetric
from whynear.metric.minkowski import MinkowskiMetric
from whynear.metric.monotone import MonotoneMetric
from whynear.model.as_metric import as_metric
from whynear.search.engines import Engine, Everything, Products, Tree
from whynear.utils.arrays import Array, Indices
from whynear.utils.checks import whole
from whynear.utils.columns import check_dense
from whynear.utils.text import counted
from whynear.utils.threads import row_blocks, run_in_chunks

SPARSE_BYTES = 64 << 20


def nearest_sparse(
    metric: LinearMetric | DiagonalMetric, cases: csr_array, queries: csr_array, k: int, skipped: Indices
) -> tuple[Array, Indices]:
    """Return squared distances and numbers of the k nearest cases, without ``skipped[n]``; ties by number.

    Distances are measured from products, and those within rounding of the k-th again from differences.
    """
    n = queries.shape[0]
    sq, indices = np.empty((n, k)), np.empty((n, k), dtype=np.intp)
    for block in row_blocks(n, row_bytes=48 * cases.shape[0], budget=SPARSE_BYTES):
        rows = np.arange(n)[block]
        found = metric.between(queries[rows], cases)
        left_out = np.flatnonzero(skipped[rows] >= 0)
        found[left_out, skipped[rows][left_out]] = np.inf
        bound = np.partition(found, k - 1, axis=1)[:, k - 1] * (1 + 4 * PRECISION)
        place, number = np.nonzero(found <= bound[:, None])
        measured = metric.pairs(queries[rows[place]], cases[number])
        order = np.lexsort((number, measured, place))
        first = np.searchsorted(place, np.arange(len(rows)))  # places are sorted before and after
        chosen = order[first[:, None] + np.arange(k)]
        sq[rows], indices[rows] = measured[chosen], number[chosen]
    return sq, indices


AnyMetric = LinearMetric | DiagonalMetric | LocalMetric | MinkowskiMetric | MonotoneMetric

# With more coordinates a tree visits most of its leaves, and matrix products are faster (`make bench-search`).
TREE_COMPONENTS = 6

# Longer lists are cut down to the k nearest before they are sorted.
SORTED_LIST_LENGTH = 1_000

# Larger blocks of scores are slower because of page faults.
QUERY_BYTES = 32 << 20


class ExactSearch:
    """Exact search among cases that `Metric.table` returned: neither cases nor queries are checked again, or copied."""

    def __init__(self, metric: AnyMetric, cases: Array, n_jobs: int | None = None) -> None:
        self.metric, self.n_jobs = metric, n_jobs
        self.cases: Any = cases.view()  # sparse in a `NeighborSearch` of sparse cases
        self.cases.setflags(write=False)
        self._engine: Engine | None
        self._measured: tuple[AnyMetric, Array] = (metric, self.cases)
        if isinstance(metric, MonotoneMetric):
            metric, cases = self._measured = (metric.behind, metric.placed(cases))
        if isinstance(metric, MinkowskiMetric) or (isinstance(metric, LocalMetric) and metric.weights is None):
            self._engine = Everything(len(cases))
        elif isinstance(metric, LocalMetric):
            self._engine = Products(metric, cases, n_jobs)
        else:
            few = len(metric.omega) if isinstance(metric, LinearMetric) else np.count_nonzero(metric.weights)
            self._engine = (Tree if few <= TREE_COMPONENTS else Products)(metric, cases, n_jobs)

    def find(self, queries: Array, k: int, skipped: Indices | None = None) -> tuple[Array, Indices]:
        """Return squared distances and numbers of the k nearest cases of each query, without ``skipped[n]``."""
        assert self._engine is not None, "sparse cases have a search of their own"
        skipped = np.full(len(queries), -1) if skipped is None else skipped
        sq, indices = np.empty((len(queries), k)), np.empty((len(queries), k), dtype=np.intp)
        everything = np.arange(len(self.cases))
        metric, cases = self._measured
        if isinstance(self.metric, MonotoneMetric):
            queries = self.metric.placed(queries)

        def measure(alone: Indices, start: int, stop: int) -> None:
            rows = alone[start:stop]
            listed, counts = np.tile(everything, (len(rows), 1)), np.full(len(rows), len(everything))
            sq[rows], indices[rows] = nearest_listed(metric, queries[rows], cases, k, listed, counts, skipped[rows])

        for rows in row_blocks(len(queries), row_bytes=self._engine.row_bytes(k), budget=QUERY_BYTES):
            found, counts = self._engine.candidates(queries[rows], k, skipped[rows])
            sq[rows], indices[rows] = nearest_listed(metric, queries[rows], cases, k, found, counts, skipped[rows])
            alone = rows.start + np.flatnonzero(_unlisted(found, counts))  # without a short list
            run_in_chunks(partial(measure, alone), len(alone), chunk=1 + 500_000 // len(everything), n_jobs=self.n_jobs)
        return finite(sq), indices


class NeighborSearch(ExactSearch):
    r"""Exact search of the nearest cases under a metric; of equal distances the lower number comes first.

    Parameters
    ----------
    metric : metric, fitted learner or Pipeline
        The metric.
    Y : array-like of shape (n_cases, n_features), optional
        The cases to search among, copied. A local metric searches among its anchors and takes no others. A linear or
        diagonal metric also takes a sparse array, and then sparse queries.
    n_jobs : int, optional
        Number of threads; None or -1 for all cores.

    Notes
    -----
    With few mapped coordinates the search uses a k-d tree. Otherwise all distances of a block of queries are one matrix
    product in float32, because with a and x centred on the mean of the cases

    .. math:: \sum_l w_{il} (x_l - a_{il})^2 = \langle (x^2, x, 1), (w_i, -2 w_i a_i, \sum_l w_{il} a_{il}^2) \rangle .

    Its rounding error is bounded: every case within that bound of the k-th is measured again in float64, from its
    difference to the query; a query with too many such cases is compared with all cases in float64.

    Examples
    --------
    >>> search = NeighborSearch(DiagonalMetric([1.0, 0.0]), [[0, 0], [1, 5], [3, 0]])
    >>> search.nearest([[2, 9]], k=2)
    (array([[1., 1.]]), array([[1, 2]]))
    """

    cases: Any

    def __init__(
        self, metric: Metric | BaseEstimator, Y: ArrayLike | None = None, *, n_jobs: int | None = None
    ) -> None:
        value = searchable(metric)
        if any_sparse(Y) and isinstance(value, LinearMetric | DiagonalMetric):
            self.metric, self.n_jobs, self._engine = value, n_jobs, None  # sparse cases are compared without an engine
            self.cases = _not_empty(sparse_table(value, Y, "Y"))
        else:
            super().__init__(value, searched_cases(value, Y), n_jobs)

    def nearest(self, X: ArrayLike, k: int, *, exclude: ArrayLike | None = None) -> tuple[Array, Indices]:
        """Find the k nearest cases of each row of X.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            The queries.
        k : int
            Number of neighbours.
        exclude : array-like of shape (n_queries,), optional
            For each query the number of one case to leave out, -1 for none. With ``np.arange(n)`` no case is its own
            neighbour.

        Returns
        -------
        sq_distances, indices : ndarrays of shape (n_queries, k)
            In ascending order; equal distances in the order of their numbers.
        """
        queries: Any = self.metric.table(X) if self._engine is not None else sparse_table(self.metric, X)
        skipped = checked_exclude(exclude, queries.shape[0], self.cases.shape[0])
        check_k(k, self.cases.shape[0], excluding=bool((skipped >= 0).any()))
        if self._engine is not None:
            return self.find(queries, k, skipped)
        assert isinstance(self.metric, LinearMetric | DiagonalMetric), "other metrics take no sparse cases"
        return nearest_sparse(self.metric, self.cases, queries, k, skipped)


def _unlisted(found: Indices, counts: Indices) -> NDArray[np.bool_]:
    return (counts < 0) | (counts > found.shape[1])


def nearest_listed(
    metric: AnyMetric, queries: Array, cases: Array, k: int, found: Indices, counts: Indices, skipped: Indices
) -> tuple[Array, Indices]:
    """Return the k nearest of the cases ``found[n, :counts[n]]`` without ``skipped[n]``, by distances in float64."""
    counts = np.where(_unlisted(found, counts), 0, counts)
    width = max(k, int(counts.max(initial=0)))
    listed = found[:, :width]
    outside = (np.arange(listed.shape[1]) >= counts[:, None]) | (listed == skipped[:, None]) | (listed < 0)
    sq = np.where(outside, np.inf, metric.sq_distances_at(queries, cases, np.where(outside, 0, listed)))
    order = _order_of_nearest(sq, listed, k)
    return np.take_along_axis(sq, order, axis=1), np.take_along_axis(listed, order, axis=1)


def _order_of_nearest(sq: Array, listed: Indices, k: int) -> Indices:
    """Where in each row the k smallest distances stand, rising, ties by number; long rows are not sorted whole."""
    if sq.shape[1] <= SORTED_LIST_LENGTH + k:
        return np.lexsort((listed, sq), axis=1)[:, :k]
    order = np.empty((len(sq), k), dtype=np.intp)
    for row, kth in enumerate(np.partition(sq, k - 1, axis=1)[:, k - 1]):
        near = np.flatnonzero(sq[row] <= kth)
        order[row] = near[np.lexsort((listed[row, near], sq[row, near]))[:k]]
    return order


def searchable(metric: Metric | BaseEstimator) -> AnyMetric:
    """Return the metric of a value, learner or Pipeline; refuse classes of metrics without a search."""
    value = as_metric(metric)
    if not isinstance(value, AnyMetric):
        raise TypeError(f"There is no search for metrics of the class {type(value).__name__}.")
    return value


def searched_cases(metric: Metric, Y: ArrayLike | None) -> Array:
    """Return the cases to search among: a copy of the rows of Y, or the anchors of a local metric."""
    check_dense(Y, "Y")
    if isinstance(metric, LocalMetric):
        if Y is not None and not np.array_equal(np.asarray(Y, dtype=np.float64), metric.anchors):
            raise ValueError("A local metric searches among its anchors only: leave Y out.")
        return metric.anchors
    if Y is None:
        raise ValueError(f"Y is missing: {type(metric).__name__} holds no cases to search among.")
    return _not_empty(metric.table(Y, "Y").copy())


def _not_empty(cases: Any) -> Any:
    if not cases.shape[0]:
        raise ValueError("Y must have at least one row to search among, got none.")
    return cases


def check_k(k: int, n_cases: int, *, excluding: bool) -> None:
    """Refuse more neighbours than there are cases."""
    most = n_cases - excluding
    if whole("k", k) > most:
        raise ValueError(
            f"k={k} is more than the {counted(n_cases, 'case')}{' less the excluded one' if excluding else ''}. "
            f"Use 1 <= k <= {most}."
        )


def checked_exclude(exclude: ArrayLike | None, n_queries: int, n_cases: int) -> Indices:
    """Return one case number per query, -1 where none is excluded."""
    if exclude is None:
        return np.full(n_queries, -1)
    skipped = np.asarray(exclude)
    if skipped.shape != (n_queries,) or (skipped.size and skipped.dtype.kind not in "iu"):
        raise ValueError(
            f"exclude must hold one case number for each of the {n_queries} queries, "
            f"got shape {skipped.shape} of {skipped.dtype} instead."
        )
    if skipped.size and not (skipped.min() >= -1 and skipped.max() < n_cases):
        raise ValueError(f"exclude must hold numbers from -1 to {n_cases - 1}, got {skipped.min()} to {skipped.max()}.")
    return skipped.astype(np.intp)
