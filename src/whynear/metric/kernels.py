"""Compiled loops of the metric values and their neighbour search. They call each other, so they share a file."""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def diagonal_sq_distances(
    X: NDArray[Any], anchors: NDArray[Any], weights: NDArray[Any], out: NDArray[Any]
) -> None:  # pragma: no cover - compiled
    """Fill out[n, i] = sum_l weights[i, l] (X[n, l] - anchors[i, l])^2. Time O(n m d), no memory."""
    for n in range(X.shape[0]):
        for i in range(anchors.shape[0]):
            total = 0.0
            for feature in range(X.shape[1]):
                difference = X[n, feature] - anchors[i, feature]
                total += weights[i, feature] * difference * difference
            out[n, i] = total


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def full_sq_distances(
    X: NDArray[Any], anchors: NDArray[Any], omegas: NDArray[Any], out: NDArray[Any]
) -> None:  # pragma: no cover - compiled
    """Fill out[n, i] = ||omegas[i] (X[n] - anchors[i])||^2. Time O(n m c d), memory O(d)."""
    difference = np.empty(X.shape[1])
    for n in range(X.shape[0]):
        for i in range(anchors.shape[0]):
            for feature in range(X.shape[1]):
                difference[feature] = X[n, feature] - anchors[i, feature]
            total = 0.0
            for component in range(omegas.shape[1]):
                mapped = 0.0
                for feature in range(X.shape[1]):
                    mapped += omegas[i, component, feature] * difference[feature]
                total += mapped * mapped
            out[n, i] = total
