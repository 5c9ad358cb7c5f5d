"""Compiled loops of the metric values. They call each other, so they share a file."""

from typing import Any

from numpy.typing import NDArray

from whynear.utils.compiling import njit


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def diagonal_sq_distance(x: NDArray[Any], y: NDArray[Any], weights: NDArray[Any]) -> float:  # pragma: no cover
    """Return sum_l weights[l] (x[l] - y[l])^2."""
    total = 0.0
    for feature in range(len(x)):
        difference = x[feature] - y[feature]
        total += weights[feature] * difference * difference
    return total


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def full_sq_distance(x: NDArray[Any], y: NDArray[Any], omega: NDArray[Any]) -> float:  # pragma: no cover
    """Return ||omega (x - y)||^2."""
    total = 0.0
    for component in range(omega.shape[0]):
        mapped = 0.0
        for feature in range(len(x)):
            mapped += omega[component, feature] * (x[feature] - y[feature])
        total += mapped * mapped
    return total


@njit(cache=True, nogil=True)
def diagonal_sq_distances(
    X: NDArray[Any], anchors: NDArray[Any], weights: NDArray[Any], out: NDArray[Any]
) -> None:  # pragma: no cover
    """Fill out[n, i] with the squared distance from X[n] to anchor i under its weights. Time O(n m d), no memory."""
    for n in range(X.shape[0]):
        for i in range(anchors.shape[0]):
            out[n, i] = diagonal_sq_distance(X[n], anchors[i], weights[i])


@njit(cache=True, nogil=True)
def full_sq_distances(
    X: NDArray[Any], anchors: NDArray[Any], omegas: NDArray[Any], out: NDArray[Any]
) -> None:  # pragma: no cover
    """Fill out[n, i] with the squared distance from X[n] to anchor i under its map. Time O(n m c d), no memory."""
    for n in range(X.shape[0]):
        for i in range(anchors.shape[0]):
            out[n, i] = full_sq_distance(X[n], anchors[i], omegas[i])


@njit(cache=True, nogil=True)
def listed_diagonal(
    X: NDArray[Any], cases: NDArray[Any], weights: NDArray[Any], indices: NDArray[Any], out: NDArray[Any]
) -> None:  # pragma: no cover
    """Fill out[n, k] with the squared distance from X[n] to case indices[n, k]; a single row of weights is for all."""
    for n in range(X.shape[0]):
        for k in range(indices.shape[1]):
            i = indices[n, k]
            out[n, k] = diagonal_sq_distance(X[n], cases[i], weights[i if weights.shape[0] > 1 else 0])


@njit(cache=True, nogil=True)
def listed_full(
    X: NDArray[Any], cases: NDArray[Any], omegas: NDArray[Any], indices: NDArray[Any], out: NDArray[Any]
) -> None:  # pragma: no cover
    """Fill out[n, k] with the squared distance from X[n] to case indices[n, k]; a single map is for all cases."""
    for n in range(X.shape[0]):
        for k in range(indices.shape[1]):
            i = indices[n, k]
            out[n, k] = full_sq_distance(X[n], cases[i], omegas[i if omegas.shape[0] > 1 else 0])


def listed_sq_distances(
    X: NDArray[Any], cases: NDArray[Any], maps: NDArray[Any], indices: NDArray[Any], out: NDArray[Any]
) -> None:
    """Fill out[n, k] with the squared distance from X[n] to case indices[n, k], under one map or one per case.

    Maps are diagonals of shape (n_maps, d), or full ones of shape (n_maps, c, d).
    """
    (listed_diagonal if maps.ndim == 2 else listed_full)(X, cases, maps, indices, out)
