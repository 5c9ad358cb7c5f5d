"""Approximate neighbours for large tables: lists of candidates, with exact distances and a measured recall.

Candidates come from trees of random splits, then from the neighbours of neighbours. Each tree splits the cases at the
median of a random direction until the parts are small; the cases of a part are compared with each other. Most
neighbours that several trees miss are neighbours of neighbours. Every case has a heap of the nearest cases found so
far, the farthest on top; a thread writes only to the heaps of its own cases, so the result does not depend on threads.
"""

from collections.abc import Callable
from functools import cached_property, partial
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from whynear.metric.base import Metric
from whynear.metric.local import LocalMetric
from whynear.search.exact import (
    AnyMetric,
    ExactSearch,
    check_k,
    checked_exclude,
    nearest_listed,
    searchable,
    searched_cases,
)
from whynear.utils.arrays import Array, Indices
from whynear.utils.checks import Seed, seed_of
from whynear.utils.compiling import njit
from whynear.utils.threads import n_threads, run_in_chunks

Floats = NDArray[np.float32]
Numbers = NDArray[np.int32]

N_TREES = 5
N_ROUNDS = 2  # of comparing with the neighbours of neighbours
NEAREST_COMPARED = 30  # neighbours, with whose nearest neighbours a case is compared
SMALLEST_LEAF = 100
LEAVES_AT_ONCE, CASES_AT_ONCE = 8, 2_000  # in one call: an interrupt takes effect between calls
INDEX_LOCK = Lock()  # pynndescent makes and searches an index on all cores, for one caller at a time


class CandidateSearch:
    """The nearest of given cases among lists of candidates: fast for large tables, approximate.

    Candidates are the nearest cases in the mapped coordinates of a global metric; for a local one in columns weighted
    by the mean relevances of the anchors, each scaled to sum to one. Their distances are those of the metric itself.
    ``recall`` measures what is missed.

    Parameters
    ----------
    metric : metric, fitted learner or Pipeline
        The metric.
    Y : array-like of shape (n_cases, n_features), optional
        The cases to search among; the anchors of a local metric.
    n_candidates : int
        Length of the lists.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the search for candidates.
    n_jobs : int, optional
        Number of threads; all cores without it.

    Attributes
    ----------
    lists : ndarray of shape (n_cases, n_candidates)
        The candidates of each case, without the case itself.

    Examples
    --------
    >>> import numpy as np
    >>> from whynear import DiagonalMetric
    >>> cases = np.random.default_rng(0).normal(size=(500, 2))
    >>> search = CandidateSearch(DiagonalMetric([1.0, 4.0]), cases, n_candidates=20)
    >>> search.lists.shape  # ``nearest`` and ``recall`` take new cases; the first call compiles for most of a minute
    (500, 20)
    """

    metric: AnyMetric
    cases: Array
    lists: Indices

    def __init__(
        self,
        metric: Metric | BaseEstimator,
        Y: ArrayLike | None = None,
        *,
        n_candidates: int = 64,
        random_state: Seed = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.metric = searchable(metric)
        self.cases = searched_cases(self.metric, Y)
        check_k(n_candidates, len(self.cases), excluding=True)
        self.n_candidates = n_candidates
        self._centre = self.cases.mean(axis=0)
        self._unit = float(np.abs(self._mapped(self.cases)).max()) or 1.0
        self._seed, self._n_jobs = seed_of(random_state), n_jobs
        self.lists = near_lists(self._coordinates(self.cases), n_candidates, self._seed, n_jobs)

    @cached_property
    def _index(self) -> Any:
        """The index for new cases; made on first use, because the first import of pynndescent compiles for long."""
        from pynndescent import NNDescent

        coordinates = self._coordinates(self.cases)
        n_jobs = n_threads(self._n_jobs)
        return NNDescent(
            coordinates, n_neighbors=self.n_candidates + 1, random_state=self._seed, compressed=False, n_jobs=n_jobs
        )

    def nearest(self, X: ArrayLike, k: int, *, exclude: ArrayLike | None = None) -> tuple[Array, Indices]:
        """Find the k nearest cases among the candidates of each row of X; see `NeighborSearch.nearest`."""
        return self.find(*self._checked(X, k, exclude))

    def find(self, queries: Array, k: int, skipped: Indices | None = None) -> tuple[Array, Indices]:
        """Return the same for queries that `Metric.table` returned, which are not checked again."""
        skipped = np.full(len(queries), -1) if skipped is None else skipped
        with INDEX_LOCK:
            found, _ = self._index.query(self._coordinates(queries), k=self.n_candidates)
        counts = np.full(len(queries), self.n_candidates)
        return nearest_listed(self.metric, queries, self.cases, k, found.astype(np.intp), counts, skipped)

    def recall(self, X: ArrayLike, k: int, *, exclude: ArrayLike | None = None) -> float:
        """Return the share of the true k nearest cases of the rows of X that this search finds, by an exact search."""
        checked = self._checked(X, k, exclude)
        _, found = self.find(*checked)
        sq, _ = ExactSearch(self.metric, self.cases).find(*checked)
        reached = self.metric.sq_distances_at(checked[0], self.cases, found)
        return float(np.mean(reached <= sq[:, -1:] * (1 + 1e-9)))

    def _checked(self, X: ArrayLike, k: int, exclude: ArrayLike | None) -> tuple[Array, int, Indices]:
        queries = self.metric.table(X)
        skipped = checked_exclude(exclude, len(queries), len(self.cases))
        check_k(k, self.n_candidates, excluding=bool((skipped >= 0).any()))
        return queries, k, skipped

    def _coordinates(self, X: Array) -> NDArray[np.float32]:
        return (self._mapped(X) / self._unit).astype(np.float32)

    def _mapped(self, X: Array) -> Array:
        centred = X - self._centre
        if not isinstance(self.metric, LocalMetric):
            return self.metric.mapped(centred)
        return centred * np.sqrt(self.metric.mean_shares())


def neighborly_order(X: NDArray[np.floating], seed: int = 0) -> Indices:
    """Return an order in which most near cases are close together, so that memory is read faster for large tables."""
    cases = np.ascontiguousarray(X, dtype=np.float32)
    return _tree(cases, SMALLEST_LEAF, np.random.default_rng(seed))[0].astype(np.intp)


def near_lists(
    X: NDArray[np.floating],
    length: int,
    seed: int = 0,
    n_jobs: int | None = None,
    known: Indices | None = None,
) -> Indices:
    """Return for each case the numbers of ``length`` near other cases, nearest first; there must be more cases.

    ``known`` are lists of the same cases and length in other units of the columns: they are improved, which takes less
    time than to begin with trees. Approximate: see `CandidateSearch.recall`. Time O(n log n d), memory
    O(n (length + d)).
    """
    n, centred = len(X), X - X.mean(axis=0)
    cases = np.ascontiguousarray(centred / (np.abs(centred).max() or 1.0), dtype=np.float32)

    def in_parallel(work: Callable[[int, int], None], n_items: int, at_once: int) -> None:
        run_in_chunks(work, n_items, chunk=at_once, n_jobs=n_jobs)

    sq, numbers = np.full((n, length), np.inf, dtype=np.float32), np.full((n, length), -1, dtype=np.int32)
    if known is None:
        rng = np.random.default_rng(seed)
        for _ in range(N_TREES):
            order, edges = _tree(cases, max(3 * length, SMALLEST_LEAF), rng)
            in_parallel(partial(_compare, cases, order, edges, sq, numbers), len(edges) - 1, LEAVES_AT_ONCE)
    else:
        in_parallel(partial(_measure, cases, known, sq, numbers), n, CASES_AT_ONCE)
    for _ in range(N_ROUNDS):
        near = np.empty((n, min(NEAREST_COMPARED, length)), dtype=np.int32)
        in_parallel(partial(_nearest, sq, numbers, near), n, CASES_AT_ONCE)
        in_parallel(partial(compare_with_neighbors, cases, near, sq, numbers), n, CASES_AT_ONCE)
    in_parallel(partial(_nearest, sq, numbers, numbers), n, CASES_AT_ONCE)
    return numbers.astype(np.intp)


def _measure(cases: Floats, known: Indices, sq: Floats, numbers: Numbers, first: int, last: int) -> None:
    """Fill the heaps with known cases, the farthest first."""
    apart = np.empty((last - first, known.shape[1]), dtype=np.float32)
    measure_lists(cases, known, first, apart)
    order = np.argsort(-apart, axis=1)
    sq[first:last] = np.take_along_axis(apart, order, axis=1)
    numbers[first:last] = np.take_along_axis(known[first:last], order, axis=1)


def _compare(
    cases: Floats, order: Numbers, edges: Indices, sq: Floats, numbers: Numbers, first: int, last: int
) -> None:
    compare_leaves(cases, order, edges[first : last + 1], sq, numbers)


def _nearest(sq: Floats, numbers: Numbers, near: Numbers, first: int, last: int) -> None:
    order = np.argsort(sq[first:last], axis=1)[:, : near.shape[1]]
    near[first:last] = np.take_along_axis(numbers[first:last], order, axis=1)


def _tree(cases: Floats, leaf: int, rng: np.random.Generator) -> tuple[Numbers, Indices]:
    """Return the cases in the order of the leaves of a tree, and where each leaf begins."""
    order, edges = np.arange(len(cases), dtype=np.int32), np.array([0, len(cases)], dtype=np.intp)
    along = np.empty(len(order), np.float32)
    for _ in range(int(np.ceil(np.log2(len(cases) / leaf)))):
        # Each part is divided at the median along the line through two of its cases.
        project(cases, order, edges, rng.integers(0, 1 << 30, (len(edges) - 1, 2)), along)
        middles = (edges[:-1] + edges[1:]) // 2
        for first, middle, last in zip(edges[:-1], middles, edges[1:], strict=True):
            # Sorting is not compiled, which would take seconds.
            order[first:last] = order[first:last][np.argpartition(along[first:last], middle - first)]
        edges = np.append(np.column_stack([edges[:-1], middles]).ravel(), edges[-1])
    return order, edges


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def project(
    cases: Floats, order: Numbers, edges: Indices, pairs: NDArray[np.int64], along: Floats
) -> None:  # pragma: no cover - compiled
    """Project the cases of each part of the order on the line through two of them."""
    direction = np.empty(cases.shape[1], np.float32)
    for part in range(len(edges) - 1):
        first, last = edges[part], edges[part + 1]
        one = order[first + pairs[part, 0] % (last - first)]
        other = order[first + pairs[part, 1] % (last - first)]
        for f in range(cases.shape[1]):
            direction[f] = cases[one, f] - cases[other, f]
        for place in range(first, last):
            case, total = order[place], np.float32(0.0)
            for f in range(cases.shape[1]):
                total += cases[case, f] * direction[f]
            along[place] = total


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def sq_distance(cases: Floats, i: int, j: int) -> np.float32:  # pragma: no cover - compiled
    """Return the squared distance of two cases."""
    total = np.float32(0.0)
    for f in range(cases.shape[1]):
        part = cases[i, f] - cases[j, f]
        total += part * part
    return total


@njit(cache=True, nogil=True)
def measure_lists(cases: Floats, known: Indices, first: int, apart: Floats) -> None:  # pragma: no cover - compiled
    """Fill the squared distances of the cases from ``first`` on to those of their lists."""
    for place in range(len(apart)):
        for number in range(known.shape[1]):
            apart[place, number] = sq_distance(cases, first + place, known[first + place, number])


@njit(cache=True, nogil=True)
def holds(numbers: Numbers, i: int, number: int) -> bool:  # pragma: no cover - compiled
    """Return whether a number stands in the heap of case i; without a branch, so that it compiles to vector code."""
    count = 0
    for place in range(numbers.shape[1]):
        count += numbers[i, place] == number
    return count > 0


@njit(cache=True, nogil=True)
def replace_farthest(sq: Floats, numbers: Numbers, i: int, d: np.float32, number: int) -> None:  # pragma: no cover
    """Replace the farthest case of the heap of case i by a nearer one that is not in the heap yet."""
    place, m = 0, sq.shape[1]
    while True:
        child = 2 * place + 1
        if child >= m:
            break
        if child + 1 < m and sq[i, child + 1] > sq[i, child]:
            child += 1
        if sq[i, child] <= d:
            break
        sq[i, place], numbers[i, place] = sq[i, child], numbers[i, child]
        place = child
    sq[i, place], numbers[i, place] = d, number


@njit(cache=True, nogil=True)
def compare_leaves(
    cases: Floats, order: Numbers, edges: Indices, sq: Floats, numbers: Numbers
) -> None:  # pragma: no cover - compiled
    """Compare all cases of each leaf with each other."""
    apart = np.empty(np.diff(edges).max(), np.float32)
    for part in range(len(edges) - 1):
        first = edges[part]
        for a in range(first, edges[part + 1]):
            i = order[a]
            for b in range(first, a):
                apart[b - first] = sq_distance(cases, i, order[b])
            for b in range(first, a):
                j, d = order[b], apart[b - first]
                if d < sq[i, 0] and not holds(numbers, i, j):
                    replace_farthest(sq, numbers, i, d, j)
                if d < sq[j, 0] and not holds(numbers, j, i):
                    replace_farthest(sq, numbers, j, d, i)


@njit(cache=True, nogil=True)
def compare_with_neighbors(
    cases: Floats, near: Numbers, sq: Floats, numbers: Numbers, first: int, last: int
) -> None:  # pragma: no cover - compiled
    """Compare each case with the nearest neighbours of its nearest neighbours, each of which comes up many times."""
    width = near.shape[1]
    seen = np.full(len(cases) + 1, -1, np.int32)  # the last case that another was compared with; at -1 no case
    others, apart = np.empty(width * width, np.int32), np.empty(width * width, np.float32)
    for i in range(first, last):
        seen[i] = seen[-1] = i
        for place in range(sq.shape[1]):
            seen[numbers[i, place]] = i
        count = 0
        for a in range(width):
            if near[i, a] < 0:
                continue
            for b in range(width):
                j = near[near[i, a], b]
                others[count] = j  # kept if it is new, without a branch that nothing predicts
                count += seen[j] != i
                seen[j] = i
        # All distances first: without branches between them, reading one case does not wait for another.
        for place in range(count):
            apart[place] = sq_distance(cases, i, others[place])
        for place in range(count):
            if apart[place] < sq[i, 0]:
                replace_farthest(sq, numbers, i, apart[place], others[place])
