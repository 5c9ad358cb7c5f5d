"""Compression of cases to half as many, class by class; compiled."""

import numpy as np

from whynear.utils.arrays import Array, Flags
from whynear.utils.compiling import njit


@njit(nogil=True, cache=True)
def pairs_joined(cases: Array, weights: Array, n_left: int) -> Flags:
    """Join cases of one class to their nearest neighbours, the nearest pairs first, until ``n_left`` remain.

    Each pass finds the nearest neighbour of every case and joins the pairs of which neither was joined in this pass. A
    pair becomes its mean, at the place of the later case. Changes ``cases``, of shape (n_features, n); returns which
    places remain. Time O(n^2 d) for a pass, few passes.
    """
    d, n = cases.shape
    remains = np.ones(n, dtype=np.bool_)
    count = n
    while count > n_left:
        at = np.flatnonzero(remains)
        sq, neighbour = np.full(len(at), np.inf), np.zeros(len(at), dtype=np.int64)
        row = np.empty(len(at))
        left = np.empty((d, len(at)))
        for f in range(d):
            for i in range(len(at)):
                left[f, i] = cases[f, at[i]]
        for i in range(1, len(at)):
            row[:i] = 0.0
            for f in range(d):
                weight, value = weights[f], left[f, i]
                for j in range(i):
                    difference = left[f, j] - value
                    row[j] += weight * difference * difference
            for j in range(i):
                if row[j] < sq[i]:
                    sq[i], neighbour[i] = row[j], j
                if row[j] < sq[j]:
                    sq[j], neighbour[j] = row[j], i
        joined = np.zeros(len(at), dtype=np.bool_)
        for i in np.argsort(sq, kind="mergesort"):
            j = neighbour[i]
            if joined[i] or joined[j]:
                continue
            joined[i] = joined[j] = True
            later, earlier = max(i, j), min(i, j)
            cases[:, at[later]] = (cases[:, at[later]] + cases[:, at[earlier]]) / 2
            remains[at[earlier]] = False
            count -= 1
            if count == n_left:
                break
    return remains


@njit(nogil=True, cache=True)
def k_means(cases: Array, weights: Array, centres: Array, most_passes: int) -> None:
    """Move centres, of shape (n_features, n_centres), to the means of the cases nearest to them, until none moves.

    Time O(n n_centres d) for a pass. A centre to which no case is nearest stays.
    """
    d, n = cases.shape
    m = centres.shape[1]
    row, nearest = np.empty(m), np.full(n, -1)
    for _ in range(most_passes):
        moved = False
        for i in range(n):
            row[:] = 0.0
            for f in range(d):
                weight, value = weights[f], cases[f, i]
                for j in range(m):
                    difference = centres[f, j] - value
                    row[j] += weight * difference * difference
            best = np.argmin(row)
            if best != nearest[i]:
                nearest[i], moved = best, True
        if not moved:
            return
        counts = np.zeros(m)
        sums = np.zeros((d, m))
        for i in range(n):
            counts[nearest[i]] += 1.0
            for f in range(d):
                sums[f, nearest[i]] += cases[f, i]
        for j in range(m):
            if counts[j] > 0.0:
                for f in range(d):
                    centres[f, j] = sums[f, j] / counts[j]
