"""Lists of candidates: the near cases of each case, among which its neighbours are looked for while it learns."""

from __future__ import annotations

import numpy as np
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from whynear.metric import LocalMetric
from whynear.search import CandidateSearch
from whynear.search.exact import ExactSearch
from whynear.search.near_lists import near_lists
from whynear.utils.arrays import Array, Indices
from whynear.utils.threads import openmp_threads, row_blocks

EXACT_LIST_CASES = 30_000  # for more cases, the lists are approximate
RECALL_CASES = 200  # whose true neighbours are looked for in their lists
SEARCH_PRODUCTS_AT_ONCE = 200_000_000  # of a thread in one call of the search


def candidate_lists(
    X: Array, n_candidates: int, seed: int, n_jobs: int | None = None, known: Indices | None = None
) -> Indices:
    """The nearest other cases of each case: all of them, or ``n_candidates``; an interrupt ends it at once.

    Approximate lists are improved ones, where lists that hold most of the nearest are known.
    """
    n = len(X)
    length = min(n_candidates, n - 1)
    if n > EXACT_LIST_CASES:
        return near_lists(X, length, seed, n_jobs, known)
    threads = openmp_threads(n_jobs)
    search = NearestNeighbors(n_neighbors=length + 1, algorithm="brute", n_jobs=threads).fit(X)
    found = np.empty((n, length + 1), dtype=np.intp)
    with threadpool_limits(threads):
        for rows in row_blocks(n, row_bytes=X.size, budget=SEARCH_PRODUCTS_AT_ONCE * threads):
            found[rows] = search.kneighbors(X[rows], return_distance=False)
    itself = found == np.arange(n)[:, None]
    itself[~itself.any(axis=1), -1] = True  # pushed out by copies of it
    return np.ascontiguousarray(found[~itself].reshape(n, length), dtype=np.intp)


def local_lists(metric: LocalMetric, n_candidates: int, seed: int) -> Indices:
    """The nearest other anchors of each anchor, each by its own metric."""
    if len(metric) > EXACT_LIST_CASES:
        return CandidateSearch(metric, n_candidates=n_candidates, random_state=seed).lists
    return ExactSearch(metric, metric.anchors).find(metric.anchors, n_candidates, np.arange(len(metric)))[1]


def recall_of_lists(search: ExactSearch, lists: Indices, k: int, seed: int) -> float:
    """The share of the true k nearest other cases, of some of the searched ones, that stand in their lists."""
    some = np.sort(np.random.default_rng(seed).permutation(len(lists))[:RECALL_CASES])
    _, true = search.find(search.cases[some], k, some)
    return float(np.mean((true[:, :, None] == lists[some][:, None, :]).any(axis=2)))


def unit_of(X: Array, lists: Indices, k: int) -> float:
    """The typical distance to the k-th neighbour, among those that are not zero."""
    columns = [min(k, lists.shape[1]) - 1, lists.shape[1] - 1]
    for column in columns:
        sq = np.square(X - X[lists[:, column]]).sum(axis=1)
        if (sq > 0).any():
            return float(np.sqrt(np.median(sq[sq > 0])))
    return 1.0
