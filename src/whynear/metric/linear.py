"""One map for all cases, full or diagonal: d(x, y) = ||omega (x - y)||^2 or sum_l w_l (x_l - y_l)^2, also sparse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, issparse
from scipy.spatial.distance import cdist

from whynear.metric.base import Metric, finite, unscaled
from whynear.metric.steps import Units
from whynear.utils.arrays import Array
from whynear.utils.columns import LARGEST_VALUE, SMALLEST_VALUE
from whynear.utils.text import counted
from whynear.utils.threads import row_blocks

# Distances of which rounding may change more than this share are computed again from differences.
PRECISION = 1e-8


class _GlobalMetric(Metric):
    def sq_distances(self, X: ArrayLike, Y: ArrayLike | None = None) -> Array:
        """Return squared distances between the rows of X and of Y, also sparse; exactly zero for equal rows."""
        if any_sparse(X, Y):
            return self.between(sparse_table(self, X), None if Y is None else sparse_table(self, Y, "Y"))
        return super().sq_distances(X, Y)


class LinearMetric(_GlobalMetric):
    r"""The squared distance :math:`d(x, y) = \|\Omega (x - y)\|^2` with :math:`\Lambda = \Omega^T \Omega`.

    Parameters
    ----------
    omega : array-like of shape (n_components, n_features)
        The linear map, copied.
    feature_names : sequence of str, optional
        Names of the columns.
    scale : array-like of shape (n_features,), optional
        What the learner's input was divided by, already contained in ``omega`` (see `Metric`).
    units : str, optional
        What a relevance refers to (see `Metric`); behind a scale "per scaled unit" without it.

    Examples
    --------
    >>> metric = LinearMetric([[1.0, 0.0], [1.0, 2.0]], feature_names=["height", "weight"])
    >>> metric.sq_distances([[0, 0]], [[1, 0], [0, 1]])
    array([[2., 4.]])
    >>> metric.contributions([1, 1], [0, 0])
    array([4., 6.])
    """

    omega: Array

    def __init__(
        self,
        omega: ArrayLike,
        feature_names: Sequence[str] | None = None,
        scale: ArrayLike | None = None,
        units: Units | None = None,
    ) -> None:
        self._settle({"omega": (omega, 2)}, feature_names, scale, units)

    def matrix(self) -> Array:
        """Return Lambda = omega^T omega, of shape (n_features, n_features)."""
        return self.omega.T @ self.omega

    def map(self, X: ArrayLike) -> Array:
        """Return X omega^T, the rows of X, also sparse, in coordinates where the distance is Euclidean."""
        return self.mapped(sparse_table(self, X) if any_sparse(X) else self.table(X))

    def mapped(self, X: Array) -> Array:
        """Return `map` of an array that `table` returned, which is not checked again."""
        return X @ self.omega.T

    def between(self, X: Any, Y: Any = None) -> Array:
        """Return `sq_distances` of checked rows, all of them sparse or none."""
        first, second = X, X if Y is None else Y
        if any_sparse(X):
            return _sparse_linear(self, first, second)
        if not (first.size and second.size):
            return np.zeros((len(first), len(second)))
        centre = second.mean(axis=0)
        sq = finite(cdist((first - centre) @ self.omega.T, (second - centre) @ self.omega.T, "sqeuclidean"))
        # Where rounding of the mapped coordinates could matter, the distance is computed again from the difference.
        lengths = [np.sqrt(np.square(rows - centre).sum(axis=1).max()) for rows in (first, second)]
        rounding = self.n_features * np.finfo(float).eps * np.linalg.norm(self.omega) * sum(lengths)
        close = np.argwhere(sq <= (1e6 * rounding) ** 2)
        for pairs in row_blocks(len(close), row_bytes=24 * self.n_features):
            i, j = close[pairs].T
            sq[i, j] = np.square((first[i] - second[j]) @ self.omega.T).sum(axis=1)
        return sq

    def _parts(self, differences: Array, _anchor: int = 0, /) -> Array:
        return linear_parts(self.omega, differences)

    def pairs(self, first: csr_array, second: csr_array) -> Array:
        """Return squared distances of sparse rows to the same rows of another table, from their differences."""
        return np.square((first - second) @ self.omega.T).sum(axis=1)

    def relevances(self) -> Array:
        """Return the diagonal of Lambda, sum_i omega_il^2 for each feature l."""
        return np.square(self.omega).sum(axis=0)

    def as_learned(self) -> Self:
        """Return the metric in the coordinates of the learner."""
        return self if self.scale is None else type(self)(unscaled(self.omega, self.scale), self.feature_names)

    def _size(self) -> str:
        return f"{self.omega.shape[0]} x {self.n_features}"


class DiagonalMetric(_GlobalMetric):
    r"""The squared distance :math:`d(x, y) = \sum_l w_l (x_l - y_l)^2`, never stored as a matrix.

    Parameters
    ----------
    weights : array-like of shape (n_features,)
        The diagonal of Lambda, non-negative, copied.
    feature_names, scale, units
        As for `LinearMetric`.

    Examples
    --------
    >>> DiagonalMetric([1.0, 4.0]).sq_distances([[0, 0]], [[1, 0], [0, 1]])
    array([[1., 4.]])
    """

    weights: Array

    def __init__(
        self,
        weights: ArrayLike,
        feature_names: Sequence[str] | None = None,
        scale: ArrayLike | None = None,
        units: Units | None = None,
    ) -> None:
        self._settle({"weights": (weights, 1)}, feature_names, scale, units)

    def matrix(self) -> Array:
        """Return Lambda as a full matrix of shape (n_features, n_features)."""
        return np.diag(self.weights)

    def map(self, X: ArrayLike) -> Array:
        """Return the rows of X in coordinates where the distance is Euclidean."""
        return self.mapped(self.table(X))

    def mapped(self, X: Array) -> Array:
        """Return `map` of an array that `table` returned, which is not checked again."""
        return X * np.sqrt(self.weights)

    def between(self, X: Any, Y: Any = None) -> Array:
        """Return `sq_distances` of checked rows, all of them sparse or none."""
        Y = X if Y is None else Y
        if any_sparse(X):
            return _sparse_diagonal(self, X, Y)
        if not (X.size and Y.size):
            return np.zeros((len(X), len(Y)))
        return finite(cdist(X, Y, "sqeuclidean", w=self.weights))

    def _parts(self, differences: Array, _anchor: int = 0, /) -> Array:
        return self.weights * np.square(differences)

    def pairs(self, first: csr_array, second: csr_array) -> Array:
        """Return squared distances of sparse rows to the same rows of another table, from their differences."""
        return np.square(_lengths(csr_array((first - second).multiply(np.sqrt(self.weights)[None]))))

    def relevances(self) -> Array:
        """Return the weights."""
        return self.weights.copy()

    def as_learned(self) -> Self:
        """Return the metric in the coordinates of the learner."""
        if self.scale is None:
            return self
        return type(self)(unscaled(self.weights, np.square(self.scale)), self.feature_names)

    def _size(self) -> str:
        return f"{self.n_features}"


def linear_parts(omega: Array, differences: Array) -> Array:
    r"""Return :math:`z_l (\Lambda z)_l` for each feature l of a difference z, some maybe negative."""
    return differences * ((differences @ omega.T) @ omega)


def any_sparse(*tables: Any) -> bool:
    """Return whether one of the tables is sparse."""
    return any(issparse(table) for table in tables)


def sparse_table(metric: Metric, X: Any, what: str = "X") -> csr_array:
    """Return the rows of X as a sparse array of finite numbers that can be squared; a dense X is checked as always."""
    if not issparse(X):
        return csr_array(metric.table(X, what))
    if X.ndim != 2 or X.shape[1] != metric.n_features:
        raise ValueError(f"{what} must have {counted(metric.n_features, 'feature')}, got shape {X.shape} instead.")
    rows = csr_array(X, dtype=np.float64, copy=True)
    rows.sum_duplicates()
    largest = float(np.abs(rows.data).max(initial=0.0))  # NaN if one is
    reach = largest * float(np.sqrt(metric.relevances().max(initial=0.0)))
    if not max(largest, reach) <= LARGEST_VALUE:
        worst = int(np.argmax(~(np.abs(rows.data) <= LARGEST_VALUE)))
        raise ValueError(
            f"{what} holds {rows.data[worst]:.3g} in column {metric.feature_names[rows.indices[worst]]!r}: "
            "values must be finite, and their squares too. Replace it, or scale the columns."
        )
    if 0 < largest < SMALLEST_VALUE or 0 < reach < SMALLEST_VALUE:
        raise ValueError(
            f"{what} holds nothing larger than {largest:.3g}: squared distances vanish. Scale the columns."
        )
    return rows


def _sparse_linear(metric: LinearMetric, first: csr_array, second: csr_array) -> Array:
    r"""Return :math:`\|\Omega (x - y)\|^2` for all rows x and y, from :math:`\Omega x` and :math:`\Omega y`.

    Time O(nnz k + n m k) for k rows of the map and n and m rows; memory O(n m).
    """
    omega = metric.omega
    sq = finite(cdist(first @ omega.T, second @ omega.T, "sqeuclidean"))
    size = np.linalg.norm(omega)
    rounding = _unit(first, second) * size * (_lengths(first)[:, None] + _lengths(second))
    for i, j in _pairs(np.argwhere(np.sqrt(sq) * PRECISION <= rounding), len(omega)):
        sq[i, j] = metric.pairs(first[i], second[j])
    return sq


def _sparse_diagonal(metric: DiagonalMetric, first: csr_array, second: csr_array) -> Array:
    r"""Return :math:`\sum_l w_l (x_l - y_l)^2 = x^T W x + y^T W y - 2 x^T W y` for all rows x and y.

    Time and memory O(n m) and that of one sparse product.
    """
    root = np.sqrt(metric.weights)[None]
    ours, theirs = csr_array(first.multiply(root)), csr_array(second.multiply(root))
    norms = np.square(_lengths(ours))[:, None] + np.square(_lengths(theirs))
    sq = finite(norms - 2.0 * (ours @ theirs.T).toarray())
    for i, j in _pairs(np.argwhere(sq * PRECISION <= _unit(first, second) * norms), 1):
        sq[i, j] = metric.pairs(first[i], second[j])
    return sq


def _unit(first: csr_array, second: csr_array) -> float:
    """Return the relative rounding error of a sum over the entries of a row."""
    longest = max(int(np.diff(rows.indptr).max(initial=1)) for rows in (first, second))
    return 2.0 * (longest + 1) * float(np.finfo(float).eps)


def _lengths(rows: csr_array) -> Array:
    return np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())


def _pairs(close: Any, n_components: int) -> Any:
    """Yield blocks of pairs of rows, so that their differences stay small."""
    for block in row_blocks(len(close), row_bytes=4096 + 8 * n_components):
        yield close[block].T
