"""Measures of how well a metric ranks matches before mismatches, by classes or by an expensive similarity."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import column_or_1d

from whynear.metric import Metric
from whynear.model.as_metric import as_metric
from whynear.search import NeighborSearch
from whynear.search.exact import checked_exclude
from whynear.utils.arrays import Array
from whynear.utils.checks import number, whole
from whynear.utils.threads import row_blocks

Similarity = Callable[[int, NDArray[np.intp]], ArrayLike]


class Found(NamedTuple):
    """For each query, and each tolerance if there are several, the matches among the nearest and in all cases.

    Examples
    --------
    >>> Found(found=np.array([1, 0]), total=np.array([2, 1])).total.sum()  # `matches_at` returns it
    np.int64(3)
    """

    found: NDArray[np.intp]
    total: NDArray[np.intp]


def mean_rank(
    metric: Metric | BaseEstimator,
    X: ArrayLike,
    y: ArrayLike,
    *,
    base: ArrayLike | None = None,
    base_y: ArrayLike | None = None,
    exclude: ArrayLike | None = None,
    n_mismatches: int = 10,
) -> float:
    """Return the expected rank of a random match among ``n_mismatches`` random mismatches, as a mean over queries.

    One is best. A rank is one more than the number of mismatches nearer than the match; equally near ones count half.
    Queries without a match or without a mismatch in the base are left out.

    Parameters
    ----------
    metric : metric, fitted learner or Pipeline
        The metric.
    X, y : array-like of shape (n_queries, n_features), (n_queries,)
        The queries and their classes.
    base, base_y : array-like, optional
        The cases they are ranked among; without them X itself, each query without itself.
    exclude : array-like of shape (n_queries,), optional
        For each query the number of one case of the base to leave out, -1 for none.
    n_mismatches : int, default=10
        Number of mismatches.

    Examples
    --------
    >>> mean_rank(as_metric([1.0]), [[0], [1], [5], [6]], ["a", "a", "b", "b"])
    1.0
    >>> mean_rank(as_metric([1.0]), [[0], [5], [1], [6]], ["a", "a", "b", "b"])
    8.5
    """
    m = whole("n_mismatches", n_mismatches, 1)
    shares = []
    for sq, same in _compared(metric, X, y, base, base_y, exclude):
        near, far = sq[same], np.sort(sq[~same & np.isfinite(sq)])
        if len(near) and len(far):
            nearer = np.searchsorted(far, near, "left") + np.searchsorted(far, near, "right")
            shares.append(nearer.mean() / (2 * len(far)))
    return 1.0 + m * _mean(shares)


def match_share(
    metric: Metric | BaseEstimator,
    X: ArrayLike,
    y: ArrayLike,
    *,
    base: ArrayLike | None = None,
    base_y: ArrayLike | None = None,
    exclude: ArrayLike | None = None,
    nearest: float = 0.1,
) -> float:
    """Return the share of matches among the nearest part of the base, as a mean over queries.

    Parameters
    ----------
    metric, X, y, base, base_y, exclude
        As for `mean_rank`.
    nearest : float, default=0.1
        The part of the base, at least one case; with 1.0, all of it, the share depends on the classes alone.

    Examples
    --------
    >>> cases, classes = [[0], [1], [5], [6]], ["a", "a", "b", "b"]
    >>> match_share(as_metric([1.0]), cases, classes, nearest=0.4)
    1.0
    >>> round(match_share(as_metric([1.0]), cases, classes, nearest=1.0), 2)
    0.33
    """
    if not 0 < number("nearest", nearest) <= 1:
        raise ValueError(f"nearest must be above 0 and at most 1, got {nearest!r} instead.")
    shares = []
    for sq, same in _compared(metric, X, y, base, base_y, exclude):
        k = max(1, int(nearest * np.isfinite(sq).sum()))
        shares.append(same[np.argsort(sq, kind="stable")[:k]].mean())
    return _mean(shares)


def reciprocal_rank(
    metric: Metric | BaseEstimator,
    X: ArrayLike,
    y: ArrayLike,
    *,
    base: ArrayLike | None = None,
    base_y: ArrayLike | None = None,
    exclude: ArrayLike | None = None,
) -> float:
    """Return the mean of 1 / rank of the nearest match in the whole base; equally near mismatches count half.

    Parameters
    ----------
    metric, X, y, base, base_y, exclude
        As for `mean_rank`.

    Examples
    --------
    >>> round(reciprocal_rank(as_metric([1.0]), [[0], [2], [3], [9]], ["a", "b", "a", "b"]), 3)
    0.458
    """
    values = []
    for sq, same in _compared(metric, X, y, base, base_y, exclude):
        if same.any():
            first, others = sq[same].min(), sq[~same]
            values.append(1.0 / (1.0 + (others < first).sum() + 0.5 * (others == first).sum()))
    return _mean(values)


def matches_at(
    metric: Metric | BaseEstimator,
    base: ArrayLike,
    queries: ArrayLike,
    similarity: Similarity,
    *,
    k: int,
    tolerance: ArrayLike,
) -> Found:
    """Return how many true matches of each query are among its k nearest cases, and how many there are.

    Parameters
    ----------
    metric : metric, fitted learner or Pipeline
        The metric.
    base : array-like of shape (n_cases, n_features)
        The cases.
    queries : array-like of int
        Which of them are queries; each is left out of its own base.
    similarity : callable
        The true, expensive similarity: ``similarity(i, others)`` of case i to the cases numbered ``others``.
    k : int
        The number of nearest cases.
    tolerance : float or array-like of shape (n_tolerances,)
        A case is a match if its similarity is at least that of the best case less this. Several give results of shape
        (n_tolerances, n_queries).

    Examples
    --------
    >>> cases = np.array([[0.0], [1.0], [2.0], [9.0]])
    >>> alike = lambda i, others: -abs(cases[others, 0] - cases[i, 0])
    >>> found = matches_at(as_metric([1.0]), cases, [0, 3], alike, k=1, tolerance=1)
    >>> found.found.tolist(), found.total.tolist()  # of the two matches of case 0, one is its nearest case
    ([1, 1], [2, 2])
    """
    slack = np.array([number("tolerance", value) for value in np.ravel(tolerance)])
    value = as_metric(metric)
    cases, rows = value.table(base, "base"), np.asarray(queries, dtype=np.intp)
    nearest = NeighborSearch(value, cases).nearest(cases[rows], k, exclude=rows)[1]
    counts = np.empty((2, len(slack), len(rows)), dtype=np.intp)
    for place, (query, found) in enumerate(zip(rows, nearest, strict=True)):
        others = np.delete(np.arange(len(cases)), query)
        true = np.asarray(similarity(int(query), others), dtype=np.float64)
        matching = true >= true.max() - slack[:, None]
        among = np.isin(others, found)
        counts[:, :, place] = (matching & among).sum(axis=1), matching.sum(axis=1)
    return Found(*(counts if np.ndim(tolerance) else counts[:, 0]))


def recall_at(
    metric: Metric | BaseEstimator,
    base: ArrayLike,
    queries: ArrayLike,
    similarity: Similarity,
    *,
    k: int,
    tolerance: float,
) -> float:
    """Return the share of true matches that are among the k nearest cases, as a mean over queries; see `matches_at`.

    Examples
    --------
    >>> from whynear.datasets import make_casebase
    >>> cases = make_casebase(500, random_state=0)
    >>> recall_at(as_metric(np.ones(76)), cases.X, [0, 1], cases.similarity, k=499, tolerance=0.1)
    1.0
    """
    counts = matches_at(metric, base, queries, similarity, k=k, tolerance=tolerance)
    return _mean(counts.found / counts.total)


def _compared(
    metric: Metric | BaseEstimator,
    X: ArrayLike,
    y: ArrayLike,
    base: ArrayLike | None,
    base_y: ArrayLike | None,
    exclude: ArrayLike | None,
) -> Iterator[tuple[Array, NDArray[np.bool_]]]:
    """Yield for each query its squared distances to the base, infinite to itself, and which cases match."""
    if (base is None) != (base_y is None):
        raise ValueError("base and base_y belong together: give both or neither.")
    value = as_metric(metric)
    queries, labels = value.table(X), column_or_1d(y)
    cases = queries if base is None else value.table(base, "base")
    known = labels if base_y is None else column_or_1d(base_y)
    for name, table, classes in (("y", queries, labels), ("base_y", cases, known)):
        if len(table) != len(classes):
            raise ValueError(f"{name} must hold one class for each of the {len(table)} rows, got {len(classes)}.")
    own = np.arange(len(queries)) if base is None else checked_exclude(exclude, len(queries), len(cases))
    for rows in row_blocks(len(queries), row_bytes=24 * len(cases)):
        sq, match = value.sq_distances(queries[rows], cases), labels[rows][:, None] == known
        skipped = np.flatnonzero(own[rows] >= 0)
        sq[skipped, own[rows][skipped]], match[skipped, own[rows][skipped]] = np.inf, False
        yield from zip(sq, match, strict=True)


def _mean(values: ArrayLike) -> float:
    numbers = np.asarray(values, dtype=np.float64)
    if not len(numbers):
        raise ValueError("No query has both a match and a mismatch in the base, so no rank is defined.")
    return float(numbers.mean())
