"""The directions in which data vary: the projection Psi_K of Strickert et al. (2013)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from whynear.utils.arrays import Array


@dataclass(frozen=True, eq=False)
class Directions:
    r"""Eigenvectors of the covariance of centred data, largest eigenvalue first, and how many are kept.

    Psi_K = sum_{j <= K} u_j u_j^T is never formed: it is applied as two thin products.

    Attributes
    ----------
    vectors : ndarray of shape (n_features, rank)
        The orthonormal u_j with a non-zero eigenvalue.
    singular_values : ndarray of shape (rank,)
        Square roots of the eigenvalues of the scatter matrix of the centred data.
    effective_dim : int
        K, the number of directions kept.
    tolerance : float
        Singular values up to this one count as zero.
    """

    vectors: Array
    singular_values: Array
    effective_dim: int
    tolerance: float

    @property
    def rank(self) -> int:
        """Number of directions in which the data vary."""
        return self.vectors.shape[1]

    @property
    def kept(self) -> Array:
        """The first K vectors, of shape (n_features, K)."""
        return self.vectors[:, : self.effective_dim]

    def project(self, rows: ArrayLike) -> Array:
        """Return rows times Psi_K."""
        return (np.asarray(rows, dtype=np.float64) @ self.kept) @ self.kept.T


def principal_directions(X: Array, effective_dim: int | None = None, weights: Array | None = None) -> Directions:
    """Return the principal directions of the rows of X about their mean.

    The numerical rank counts singular values above ``max(n, d) eps`` times the norm of the data, offset included.
    Time O(n d min(n, d)), memory O(n d): with more features than rows nothing of size d x d is made.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The data.
    effective_dim : int, optional
        How many directions to keep; all without it.
    weights : ndarray of shape (n_samples,), optional
        How much each row counts: one of weight two counts as two copies of it.
    """
    mean = X.mean(axis=0) if weights is None else np.average(X, axis=0, weights=weights)
    centred: Any = X - mean if weights is None else np.sqrt(weights)[:, None] * (X - mean)
    if X.shape[0] > X.shape[1]:
        centred = np.linalg.qr(centred, mode="r")
    return directions_of(centred, mean, len(X), len(X) if weights is None else float(weights.sum()), effective_dim)


def directions_of(
    centred: Array, mean: Array, n_rows: int, total_weight: float, effective_dim: int | None = None
) -> Directions:
    """Return the principal directions of so many rows from their centred values, or from any factor of their scatter.

    A factor of the scatter S is a matrix R with R^T R = S, such as that of a QR decomposition.
    """
    _, singular, rows = np.linalg.svd(centred, full_matrices=False)
    # Values far from zero have rounding errors in proportion to their offset, which remain when the mean is subtracted.
    offset = np.sqrt(total_weight) * float(np.linalg.norm(mean))
    tolerance = max(n_rows, len(mean)) * np.finfo(float).eps * max(singular.max(initial=0.0), offset)
    rank = int(np.count_nonzero(singular > tolerance))
    if effective_dim is None:
        effective_dim = rank
    elif not 1 <= effective_dim <= rank:
        raise ValueError(
            f"effective_dim={effective_dim} is not among the {rank} directions in which the {n_rows} rows vary. "
            f"Use 1 <= effective_dim <= {rank}, or None for all."
        )
    return Directions(rows[:rank].T, singular[:rank], effective_dim, float(tolerance))


def turned_up(vectors: Array) -> Array:
    """Return column vectors of which the largest entry is positive: a direction and its opposite are then the same.

    >>> turned_up(np.array([[0.6, 0.8], [-0.8, 0.6]]))
    array([[-0.6,  0.8],
           [ 0.8,  0.6]])
    """
    largest = np.take_along_axis(vectors, np.abs(vectors).argmax(axis=0)[None], axis=0)
    return vectors * np.where(largest < 0, -1.0, 1.0)
