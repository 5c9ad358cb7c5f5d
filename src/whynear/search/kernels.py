"""Compiled loops of the neighbour search. They call each other, so they share a file."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from whynear.utils.compiling import njit


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
def scan_scores(
    scores: NDArray[Any],
    slack: NDArray[Any],
    first: int,
    relative: float,
    excluded: NDArray[Any],
    uppers: NDArray[Any],
    found: NDArray[Any],
    lowers: NDArray[Any],
    counts: NDArray[Any],
) -> None:  # pragma: no cover
    """Go on listing for each row the columns that may be among the k smallest, given that scores are inexact.

    The columns of ``scores`` are those from number ``first`` on. For the true value t of a score s,
    |s - t| <= relative t + slack[column]. ``uppers[row]`` is a heap of the k smallest s + slack so far, at first inf.
    With U the largest of them over 1 - relative, a column may be among the k smallest only if its lower bound
    (s - slack) / (1 + relative) is at most U. ``found[row]`` gets such columns in order, ``lowers[row]`` their
    s - slack, ``counts[row]`` their number, one more than fit if there are too many. U falls with every part: those
    listed early may be beyond it in the end, see `drop_beyond`. Time O(rows columns); runs of columns beyond U are
    skipped at once.
    """
    stretch, columns, width = 256, scores.shape[1], found.shape[1]
    negative = -slack
    for row in range(scores.shape[0]):
        limit = np.float32(uppers[row, 0] * (1.0 + relative) / (1.0 - relative))
        for start in range(0, columns, stretch):
            stop = min(start + stretch, columns)
            if counts[row] > width or not any_within(scores[row, start:stop], negative[start:stop], limit):
                continue
            for column in range(start, stop):
                lower = scores[row, column] + negative[column]
                if not lower <= limit or first + column == excluded[row]:
                    continue
                if counts[row] == width:
                    drop_beyond(limit, found[row], lowers[row], counts[row : row + 1])
                if counts[row] == width:
                    counts[row] = width + 1
                    break
                found[row, counts[row]], lowers[row, counts[row]] = first + column, lower
                counts[row] += 1
                upper = scores[row, column] + slack[column]
                if upper < uppers[row, 0]:
                    replace_root(uppers[row], upper)
                    limit = np.float32(uppers[row, 0] * (1.0 + relative) / (1.0 - relative))


@njit(cache=True, nogil=True)
def drop_beyond(limit: Any, found: NDArray[Any], lowers: NDArray[Any], count: NDArray[Any]) -> None:  # pragma: no cover
    """Keep the listed columns of a row whose lower bound is at most the limit, in their order."""
    kept = 0
    for place in range(count[0]):
        if lowers[place] <= limit:
            found[kept], lowers[kept] = found[place], lowers[place]
            kept += 1
    count[0] = kept


@njit(cache=True, nogil=True)
def finish_lists(
    relative: float, uppers: NDArray[Any], found: NDArray[Any], lowers: NDArray[Any], counts: NDArray[Any]
) -> None:  # pragma: no cover
    """Keep of each list of `scan_scores` the columns that may be among the k smallest of all parts."""
    for row in range(found.shape[0]):
        if counts[row] <= found.shape[1]:
            limit = np.float32(uppers[row, 0] * (1.0 + relative) / (1.0 - relative))
            drop_beyond(limit, found[row], lowers[row], counts[row : row + 1])
