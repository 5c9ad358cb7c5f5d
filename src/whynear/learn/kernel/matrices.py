r"""Distances between mapped rows, their Laplace kernel, and the gradients of a kernel model.

A kernel is :math:`K(x, z) = \exp(-D(x, z) / b)` with a distance of order one, :math:`D = \sum_j |x_j - z_j|`, or of
order two, :math:`D = \sqrt{\sum_j (x_j - z_j)^2}`, between rows that a metric has mapped.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from whynear.utils.compiling import njit
from whynear.utils.threads import row_blocks, run_in_chunks

Floats = NDArray[Any]  # float32 where rows are many, else float64

MOST_PAIRS = 1 << 24  # numbers compared in one call of compiled code, which takes under 0.1 s


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def manhattan(A: Floats, B: Floats, out: Floats, symmetric: bool, first: int) -> None:  # pragma: no cover
    """Fill out[n, i] with sum_j |A[n, j] - B[i, j]|; of a symmetric matrix only up to its diagonal."""
    for n in range(A.shape[0]):
        for i in range(first + n + 1 if symmetric else B.shape[0]):
            total = A[n, 0] - A[n, 0]
            for j in range(A.shape[1]):
                total += abs(A[n, j] - B[i, j])
            out[n, i] = total


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def euclidean(A: Floats, B: Floats, out: Floats, symmetric: bool, first: int) -> None:  # pragma: no cover
    """Fill out[n, i] with ||A[n] - B[i]||; of a symmetric matrix only up to its diagonal."""
    for n in range(A.shape[0]):
        for i in range(first + n + 1 if symmetric else B.shape[0]):
            total = A[n, 0] - A[n, 0]
            for j in range(A.shape[1]):
                difference = A[n, j] - B[i, j]
                total += difference * difference
            out[n, i] = np.sqrt(total)


@njit(cache=True, nogil=True)
def mirrored(out: Floats) -> None:  # pragma: no cover
    """Copy the lower triangle of a square matrix to the upper one, in tiles that fit into the cache."""
    n, tile = out.shape[0], 64
    for top in range(0, n, tile):
        for left in range(0, top + 1, tile):
            for i in range(top, min(top + tile, n)):
                for j in range(left, min(left + tile, i)):
                    out[j, i] = out[i, j]


def distances(A: Floats, B: Floats | None = None, *, order: int, n_jobs: int | None = None) -> Floats:
    """Return the distances of order 1 or 2 between the rows of A and of B, or between those of A, from differences.

    Time O(n m d) on all cores, memory O(n m). Equal rows have a distance of exactly zero.
    """
    others, symmetric = (A, True) if B is None else (B, False)
    A, others = (np.ascontiguousarray(rows) for rows in (A, others))
    out = np.zeros((len(A), len(others)), A.dtype)
    if not A.shape[1]:
        return out
    compare = manhattan if order == 1 else euclidean

    def some(start: int, stop: int) -> None:
        compare(A[start:stop], others, out[start:stop], symmetric, start)

    run_in_chunks(some, len(A), max(1, MOST_PAIRS // max(1, len(others) * A.shape[1])), n_jobs)
    if symmetric:
        mirrored(out)
    return out


def kernel_of(D: Floats, width: float) -> Floats:
    """Return exp(-D / width), in the memory of D."""
    D *= -1.0 / width
    return np.exp(D, out=D)


def weight_gradients(A: Floats, Z: Floats, K: Floats, alpha: Floats, weights: Floats) -> NDArray[np.float64]:
    r"""Return the mean square of :math:`\sum_i \alpha_{ic} K(x, z_i) \mathrm{sign}(x_j - z_{ij})` for each column j.

    ``weights`` are those of the rows A; K is their kernel with the rows Z. This is the mean squared derivative along a
    column of the model, but for the weight of the column over the width.
    """
    found = np.zeros(A.shape[1])
    for rows in row_blocks(len(A), row_bytes=2 * K.itemsize * K.shape[1]):
        for j in range(A.shape[1]):
            signs = np.sign(A[rows, j, None] - Z[None, :, j])
            signs *= K[rows]
            found[j] += weights[rows] @ np.square(signs @ alpha).sum(axis=1, dtype=np.float64)
    return found / weights.sum()


def gradients(A: Floats, Z: Floats, K: Floats, D: Floats, alpha: Floats) -> Floats:
    r"""Return :math:`\sum_i \alpha_{ic} K(x, z_i) (x - z_i) / D(x, z_i)` for each row x and output c: (n, c, d).

    This is the derivative of a model of order two in mapped coordinates, but for minus the width. A row itself, of
    distance zero, adds nothing: the kernel has no derivative there.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(D > 0, K / D, 0.0).astype(K.dtype)
    found = np.empty((len(A), alpha.shape[1], A.shape[1]), K.dtype)
    for c in range(alpha.shape[1]):
        own = shares * alpha[:, c]
        found[:, c] = A * own.sum(axis=1, keepdims=True) - own @ Z
    return found
