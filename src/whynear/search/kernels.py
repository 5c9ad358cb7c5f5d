"""Compiled loops of the neighbour search. They call each other, so they share a file."""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True, nogil=True, inline="always")
def replace_root(heap: NDArray[Any], value: float) -> None:  # pragma: no cover
    """Replace the largest entry of a binary max-heap by a smaller value."""
    place = 0
    while True:
        child = 2 * place + 1
        if child >= len(heap):
            break
        if child + 1 < len(heap) and heap[child + 1] > heap[child]:
            child += 1
        if heap[child] <= value:
            break
        heap[place] = heap[child]
        place = child
    heap[place] = value


@njit(cache=True, nogil=True)
def any_within(scores: NDArray[Any], shifts: NDArray[Any], limit: Any) -> bool:  # pragma: no cover
    """Return whether some score + shift is at most the limit; without a branch, so that it compiles to vector code."""
    count = 0
    for column in range(scores.shape[0]):
        count += scores[column] + shifts[column] <= limit
    return count > 0


@njit(cache=True, nogil=True)
def select_candidates(
    scores: NDArray[Any],
    slack: NDArray[Any],
    relative: float,
    k: int,
    excluded: NDArray[Any],
    found: NDArray[Any],
    counts: NDArray[Any],
) -> None:  # pragma: no cover
    """Find for each row all columns that may be among the k smallest, given that scores are inexact.

    The true value t of a score s obeys |s - t| <= relative t + slack[column]. With U the k-th smallest of the upper
    bounds (s + slack) / (1 - relative), a column is a candidate if its lower bound (s - slack) / (1 + relative) is at
    most U. ``found[row]`` gets the candidates in order, ``counts[row]`` their number, even if there are more than fit.
    Time O(rows columns), memory O(columns); runs of columns without a candidate are skipped at once.
    """
    stretch, columns = 256, scores.shape[1]
    uppers = np.empty(k, dtype=np.float32)
    negative = -slack
    for row in range(scores.shape[0]):
        uppers[:] = np.inf
        for start in range(0, columns, stretch):
            stop = min(start + stretch, columns)
            if any_within(scores[row, start:stop], slack[start:stop], uppers[0]):
                for column in range(start, stop):
                    upper = scores[row, column] + slack[column]
                    if upper < uppers[0] and column != excluded[row]:
                        replace_root(uppers, upper)
        limit = np.float32(uppers[0] * (1.0 + relative) / (1.0 - relative))
        counts[row] = 0
        for start in range(0, columns, stretch):
            stop = min(start + stretch, columns)
            if any_within(scores[row, start:stop], negative[start:stop], limit):
                for column in range(start, stop):
                    if scores[row, column] + negative[column] <= limit and column != excluded[row]:
                        if counts[row] < found.shape[1]:
                            found[row, counts[row]] = column
                        counts[row] += 1
