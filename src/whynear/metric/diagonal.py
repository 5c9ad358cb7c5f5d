"""One weight per feature for all cases: d(x, y) = sum_l w_l (x_l - y_l)^2."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist

from whynear.metric.base import Metric, finite, frozen_weights, unscaled
from whynear.metric.sparse import any_sparse, diagonal_sq_distances, sparse_table
from whynear.metric.steps import Units
from whynear.utils.arrays import Array


class DiagonalMetric(Metric):
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
        weights = frozen_weights(weights, ndim=1)
        self._settle({"weights": weights}, feature_names, scale, units, len(weights))

    def matrix(self) -> Array:
        """Return Lambda as a full matrix of shape (n_features, n_features)."""
        return np.diag(self.weights)

    def map(self, X: ArrayLike) -> Array:
        """Return the rows of X in coordinates where the distance is Euclidean."""
        return self.mapped(self.table(X))

    def mapped(self, X: Array) -> Array:
        """Return `map` of an array that `table` returned, which is not checked again."""
        return X * np.sqrt(self.weights)

    def sq_distances(self, X: ArrayLike, Y: ArrayLike | None = None) -> Array:
        """Return squared distances between the rows of X and of Y, also sparse; exactly zero for equal rows."""
        if any_sparse(X, Y):
            return self.between(sparse_table(self, X), None if Y is None else sparse_table(self, Y, "Y"))
        return super().sq_distances(X, Y)

    def between(self, X: Any, Y: Any = None) -> Array:
        """Return `sq_distances` of checked rows, all of them sparse or none."""
        Y = X if Y is None else Y
        if any_sparse(X):
            return diagonal_sq_distances(self.weights, X, Y)
        if not (X.size and Y.size):
            return np.zeros((len(X), len(Y)))
        return finite(cdist(X, Y, "sqeuclidean", w=self.weights))

    def _stacked_maps(self) -> Array:
        return self.weights[None]

    def _parts(self, differences: Array, _anchor: int = 0, /) -> Array:
        return self.weights * np.square(differences)

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
