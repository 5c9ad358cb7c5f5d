"""One linear map for all cases: d(x, y) = ||omega (x - y)||^2."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist

from whynear.metric.base import Metric, finite, frozen, unscaled
from whynear.metric.sparse import any_sparse, linear_sq_distances, sparse_table
from whynear.metric.steps import Units
from whynear.utils.arrays import Array
from whynear.utils.threads import row_blocks


class LinearMetric(Metric):
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
        omega = frozen(omega, "omega", ndim=2)
        self._settle({"omega": omega}, feature_names, scale, units, omega.shape[1])

    def matrix(self) -> Array:
        """Return Lambda = omega^T omega, of shape (n_features, n_features)."""
        return self.omega.T @ self.omega

    def map(self, X: ArrayLike) -> Array:
        """Return X omega^T, the rows of X, also sparse, in coordinates where the distance is Euclidean."""
        return self.mapped(sparse_table(self, X) if any_sparse(X) else self.table(X))

    def mapped(self, X: Array) -> Array:
        """Return `map` of an array that `table` returned, which is not checked again."""
        return X @ self.omega.T

    def sq_distances(self, X: ArrayLike, Y: ArrayLike | None = None) -> Array:
        """Return squared distances between the rows of X and of Y, also sparse; exactly zero for equal rows."""
        if any_sparse(X, Y):
            return self.between(sparse_table(self, X), None if Y is None else sparse_table(self, Y, "Y"))
        return super().sq_distances(X, Y)

    def between(self, X: Any, Y: Any = None) -> Array:
        """Return `sq_distances` of checked rows, all of them sparse or none."""
        first, second = X, X if Y is None else Y
        if any_sparse(X):
            return linear_sq_distances(self.omega, first, second)
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

    def _stacked_maps(self) -> Array:
        return self.omega[None]

    def _parts(self, differences: Array, _anchor: int = 0, /) -> Array:
        return linear_parts(self.omega, differences)

    def relevances(self) -> Array:
        """Return the diagonal of Lambda, sum_i omega_il^2 for each feature l."""
        return np.square(self.omega).sum(axis=0)

    def as_learned(self) -> Self:
        """Return the metric in the coordinates of the learner."""
        return self if self.scale is None else type(self)(unscaled(self.omega, self.scale), self.feature_names)

    def _size(self) -> str:
        return f"{self.omega.shape[0]} x {self.n_features}"


def linear_parts(omega: Array, differences: Array) -> Array:
    r"""Return :math:`z_l (\Lambda z)_l` for each feature l of a difference z, some maybe negative."""
    return differences * ((differences @ omega.T) @ omega)
