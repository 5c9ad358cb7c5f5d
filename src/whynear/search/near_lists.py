"""Lists of near cases for every case of a large table: trees of random splits, then the neighbours of neighbours.

Each tree splits the cases at the median of a random direction until the parts are small; the cases of a part are
compared with each other. Most neighbours that several trees miss are neighbours of neighbours. Every case has a heap of
the nearest cases found so far, the farthest on top; a thread writes only to the heaps of its own cases, so the result
does not depend on threads.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from numba import njit
from numpy.typing import NDArray

from whynear.utils.threads import run_in_chunks

Floats = NDArray[np.float32]
Numbers = NDArray[np.int32]

N_TREES = 5
N_ROUNDS = 2  # of comparing with the neighbours of neighbours
NEAREST_COMPARED = 30  # neighbours, with whose nearest neighbours a case is compared
SMALLEST_LEAF = 100
LEAVES_AT_ONCE, CASES_AT_ONCE = 8, 2_000  # in one call: an interrupt takes effect between calls


def neighborly_order(X: NDArray[np.floating], seed: int = 0) -> NDArray[np.intp]:
    """Return an order in which most near cases are close together, so that memory is read faster for large tables."""
    cases = np.ascontiguousarray(X, dtype=np.float32)
    return _tree(cases, SMALLEST_LEAF, np.random.default_rng(seed))[0].astype(np.intp)


def near_lists(X: NDArray[np.floating], length: int, seed: int = 0, n_jobs: int | None = None) -> NDArray[np.intp]:
    """Return for each case the numbers of ``length`` near other cases, nearest first; there must be more cases.

    Approximate: see `CandidateSearch.recall`. Time O(n log n d), memory O(n (length + d)).
    """
    n, rng = len(X), np.random.default_rng(seed)
    centred = X - X.mean(axis=0)
    cases = np.ascontiguousarray(centred / (np.abs(centred).max() or 1.0), dtype=np.float32)
    sq, numbers = np.full((n, length), np.inf, dtype=np.float32), np.full((n, length), -1, dtype=np.int32)

    def in_parallel(work: Callable[[int, int], None], n_items: int, at_once: int) -> None:
        run_in_chunks(work, n_items, chunk=at_once, n_jobs=n_jobs)

    for _ in range(N_TREES):
        order, edges = _tree(cases, max(3 * length, SMALLEST_LEAF), rng)
        compare = partial(_compare, cases, order, edges, sq, numbers)
        in_parallel(compare, len(edges) - 1, LEAVES_AT_ONCE)
    for _ in range(N_ROUNDS):
        near = np.empty((n, min(NEAREST_COMPARED, length)), dtype=np.int32)
        in_parallel(partial(_nearest, sq, numbers, near), n, CASES_AT_ONCE)
        in_parallel(partial(compare_with_neighbors, cases, near, sq, numbers), n, CASES_AT_ONCE)
    in_parallel(partial(_nearest, sq, numbers, numbers), n, CASES_AT_ONCE)
    return numbers.astype(np.intp)


def _compare(
    cases: Floats, order: Numbers, edges: NDArray[np.intp], sq: Floats, numbers: Numbers, first: int, last: int
) -> None:
    compare_leaves(cases, order, edges[first : last + 1], sq, numbers)


def _nearest(sq: Floats, numbers: Numbers, near: Numbers, first: int, last: int) -> None:
    """Fill near with the nearest cases of the heaps, nearest first."""
    order = np.argsort(sq[first:last], axis=1)[:, : near.shape[1]]
    near[first:last] = np.take_along_axis(numbers[first:last], order, axis=1)


def _tree(cases: Floats, leaf: int, rng: np.random.Generator) -> tuple[Numbers, NDArray[np.intp]]:
    """Return the cases in the order of the leaves of a tree, and where each leaf begins."""
    n = len(cases)
    order = np.arange(n, dtype=np.int32)
    depth = max(0, int(np.ceil(np.log2(n / leaf))))
    edges = np.array([0, n], dtype=np.intp)
    for _ in range(depth):
        pairs = rng.integers(0, 1 << 30, (len(edges) - 1, 2))
        edges = _split(cases, order, edges, pairs)
    return order, edges


def _split(cases: Floats, order: Numbers, edges: NDArray[np.intp], pairs: NDArray[np.int64]) -> NDArray[np.intp]:
    """Divide each part of the order at the median along the line through two of its cases."""
    along = np.empty(len(order), np.float32)
    project(cases, order, edges, pairs, along)
    middles = (edges[:-1] + edges[1:]) // 2
    for first, middle, last in zip(edges[:-1], middles, edges[1:], strict=True):
        # Sorting is not compiled, which would take seconds.
        order[first:last] = order[first:last][np.argpartition(along[first:last], middle - first)]
    return np.append(np.column_stack([edges[:-1], middles]).ravel(), edges[-1])


@njit(cache=True, nogil=True)
def project(
    cases: Floats, order: Numbers, edges: NDArray[np.intp], pairs: NDArray[np.int64], along: Floats
) -> None:  # pragma: no cover - compiled
    """Project the cases of each part of the order on the line through two of them."""
    for part in range(len(edges) - 1):
        first, last = edges[part], edges[part + 1]
        one = order[first + pairs[part, 0] % (last - first)]
        other = order[first + pairs[part, 1] % (last - first)]
        for place in range(first, last):
            total = np.float32(0.0)
            for f in range(cases.shape[1]):
                total += cases[order[place], f] * (cases[one, f] - cases[other, f])
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
def push(sq: Floats, numbers: Numbers, d: np.float32, number: int) -> None:  # pragma: no cover - compiled
    """Replace the farthest case of a heap by another, unless that is farther or in the heap already."""
    if d >= sq[0]:
        return
    m = len(sq)
    for place in range(m):
        if numbers[place] == number:
            return
    place = 0
    while True:
        child = 2 * place + 1
        if child >= m:
            break
        if child + 1 < m and sq[child + 1] > sq[child]:
            child += 1
        if sq[child] <= d:
            break
        sq[place], numbers[place] = sq[child], numbers[child]
        place = child
    sq[place], numbers[place] = d, number


@njit(cache=True, nogil=True)
def compare_leaves(
    cases: Floats, order: Numbers, edges: NDArray[np.intp], sq: Floats, numbers: Numbers
) -> None:  # pragma: no cover - compiled
    """Compare all cases of each leaf with each other."""
    for part in range(len(edges) - 1):
        for a in range(edges[part], edges[part + 1]):
            i = order[a]
            for b in range(edges[part], a):
                j = order[b]
                d = sq_distance(cases, i, j)
                push(sq[i], numbers[i], d, j)
                push(sq[j], numbers[j], d, i)


@njit(cache=True, nogil=True)
def compare_with_neighbors(
    cases: Floats, near: Numbers, sq: Floats, numbers: Numbers, first: int, last: int
) -> None:  # pragma: no cover - compiled
    """Compare each case with the nearest neighbours of its nearest neighbours."""
    for i in range(first, last):
        for a in range(near.shape[1]):
            if near[i, a] < 0:
                continue
            for b in range(near.shape[1]):
                j = near[near[i, a], b]
                if j >= 0 and j != i:
                    push(sq[i], numbers[i], sq_distance(cases, i, j), j)
