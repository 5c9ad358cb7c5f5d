"""One weight per feature under a distance of order p: D(x, y) = sum_l w_l |x_l - y_l|^p."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whynear.metric.base import Metric, finite, read_only, unscaled
from whynear.metric.steps import Units
from whynear.utils.arrays import Array
from whynear.utils.columns import LARGEST_VALUE, SMALLEST_VALUE
from whynear.utils.compiling import njit


class MinkowskiMetric(Metric):
    r"""The weighted Minkowski distance of order p, by its p-th power :math:`D(x, y) = \sum_l w_l |x_l - y_l|^p`.

    The p-th power takes the place of the square: `sq_distances` returns it and contributions sum to it. It ranks cases
    as the distance itself does. Manhattan is ``p=1``; for ``p=2`` this is `DiagonalMetric`.

    Parameters
    ----------
    weights : array-like of shape (n_features,)
        One weight per feature, non-negative, copied.
    p : float
        The order, at least one; or one such number per feature, all equal.
    feature_names, scale, units
        As for `LinearMetric`.

    Examples
    --------
    >>> MinkowskiMetric([1.0, 4.0], p=1).sq_distances([[0, 0]], [[3, 0], [0, 2]])
    array([[3., 8.]])
    """

    weights: Array
    p: float

    def __init__(
        self,
        weights: ArrayLike,
        p: ArrayLike,
        feature_names: Sequence[str] | None = None,
        scale: ArrayLike | None = None,
        units: Units | None = None,
    ) -> None:
        self._settle({"weights": (weights, 1)}, feature_names, scale, units)
        orders = np.unique(np.asarray(p, dtype=np.float64))
        if len(orders) != 1 or not (np.isfinite(orders[0]) and orders[0] >= 1):
            raise ValueError(f"p must be one finite number of at least 1, got {p!r} instead.")
        vars(self)["p"] = float(orders[0])

    def arrays(self) -> dict[str, Array]:
        """Return the weights, the scale if there is one, and the order, once per feature like the others."""
        return {**super().arrays(), "p": read_only(np.full(self.n_features, self.p))}

    def map(self, X: ArrayLike) -> Array:
        """Return the rows of X in coordinates where all weights are one."""
        return self.mapped(self.table(X))

    def mapped(self, X: Array) -> Array:
        """Return `map` of an array that `table` returned, which is not checked again."""
        return X * self.weights ** (1.0 / self.p)

    def between(self, X: Array, Y: Array | None = None) -> Array:
        """Return the p-th powers of the distances between the rows of X and of Y; exactly zero for equal rows."""
        Y = X if Y is None else Y
        out = np.empty((len(X), len(Y)))
        all_powers(X, Y, self.weights, self.p, out)
        return finite(out)

    def sq_distances_at(self, X: Array, cases: Array, indices: NDArray[np.intp]) -> Array:
        """Return the p-th powers of the distances from row n of X to the cases numbered ``indices[n]``."""
        out = np.empty(indices.shape)
        listed_powers(X, cases, self.weights, self.p, indices, out)
        return finite(out)

    def _parts(self, differences: Array, _anchor: int = 0, /) -> Array:
        return self.weights * np.abs(differences) ** self.p

    def relevances(self) -> Array:
        """Return the weights."""
        return self.weights.copy()

    def as_learned(self) -> Self:
        """Return the metric in the coordinates of the learner."""
        if self.scale is None:
            return self
        return type(self)(unscaled(self.weights, self.scale**self.p), self.p, self.feature_names)

    def measurable(self, values: Array, what: str = "X") -> Array:
        """Return checked rows whose distances of order p are in the range of float64; refuse others."""
        values = super().measurable(values, what)
        reach = float(np.abs(values).max(initial=0.0)) * float(self.weights.max(initial=0.0)) ** (1.0 / self.p)
        if reach > LARGEST_VALUE ** (2.0 / self.p) or 0 < reach < SMALLEST_VALUE ** (2.0 / self.p):
            raise ValueError(
                f"Distances of order {self.p:g} {'overflow' if reach > 1 else 'vanish'}: {what} times its largest "
                f"weight reaches {reach:.3g}. Scale the columns, for example with StandardScaler."
            )
        return values

    def _size(self) -> str:
        return f"order {self.p:g}, {self.n_features}"


@njit(cache=True, nogil=True)
def weighted_power(x: NDArray[Any], y: NDArray[Any], weights: NDArray[Any], p: float) -> float:  # pragma: no cover
    """Return sum_l weights[l] |x[l] - y[l]|^p."""
    total = 0.0
    if p == 1.0:
        for feature in range(len(x)):
            total += weights[feature] * abs(x[feature] - y[feature])
    elif p == 3.0:
        for feature in range(len(x)):
            size = abs(x[feature] - y[feature])
            total += weights[feature] * (size * size * size)
    else:
        for feature in range(len(x)):
            total += weights[feature] * abs(x[feature] - y[feature]) ** p
    return total


@njit(cache=True, nogil=True)
def all_powers(
    X: NDArray[Any], Y: NDArray[Any], weights: NDArray[Any], p: float, out: NDArray[Any]
) -> None:  # pragma: no cover
    """Fill out[n, i] with the p-th power of the distance from X[n] to Y[i]. Time O(n m d), no memory."""
    for n in range(X.shape[0]):
        for i in range(Y.shape[0]):
            out[n, i] = weighted_power(X[n], Y[i], weights, p)


@njit(cache=True, nogil=True)
def listed_powers(
    X: NDArray[Any], cases: NDArray[Any], weights: NDArray[Any], p: float, indices: NDArray[Any], out: NDArray[Any]
) -> None:  # pragma: no cover
    """Fill out[n, k] with the p-th power of the distance from X[n] to the case numbered indices[n, k]."""
    for n in range(X.shape[0]):
        for k in range(indices.shape[1]):
            out[n, k] = weighted_power(X[n], cases[indices[n, k]], weights, p)
