"""A metric behind a monotone map of each column, such as the one from values to ranks."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whynear.metric.base import Metric, finite, frozen, rebuild
from whynear.metric.linear import DiagonalMetric, LinearMetric
from whynear.metric.minkowski import MinkowskiMetric
from whynear.metric.steps import Units
from whynear.utils.arrays import Array


class MonotoneMetric(Metric):
    r"""A distance between columns that are mapped first, each by its own monotone map: d(phi(x), phi(y)).

    The map of a column is linear between its knots and constant outside of them. As no map mixes columns, the parts
    that columns add to a distance are parts of the columns of the table.

    Parameters
    ----------
    knots : array-like of shape (n_knots, n_features)
        Values of each column, in order; a column with fewer values repeats its last one.
    levels : array-like of shape (n_knots, n_features)
        What they are mapped to, in order too.
    weights : array-like of shape (n_features,), optional
        One weight for each mapped column, as of a `DiagonalMetric`, or with ``p`` of a `MinkowskiMetric`.
    omega : array-like of shape (n_components, n_features), optional
        A map of the mapped columns instead, as of a `LinearMetric`.
    p : float or array-like, optional
        The order of the distance, of two without it.
    feature_names, scale, units
        As for `LinearMetric`.

    Examples
    --------
    >>> metric = MonotoneMetric([[0.0], [1.0], [100.0]], [[0.0], [1.0], [2.0]], weights=[1.0])
    >>> metric.sq_distances([[0.0]], [[100.0], [5000.0]])
    array([[4., 4.]])
    """

    knots: Array
    levels: Array
    behind: LinearMetric | DiagonalMetric | MinkowskiMetric

    def __init__(
        self,
        knots: ArrayLike,
        levels: ArrayLike,
        weights: ArrayLike | None = None,
        omega: ArrayLike | None = None,
        p: ArrayLike | None = None,
        feature_names: Sequence[str] | None = None,
        scale: ArrayLike | None = None,
        units: Units | None = None,
    ) -> None:
        if (weights is None) == (omega is None):
            raise ValueError("A monotone metric needs either weights or omega.")
        fields: dict[str, tuple[ArrayLike | None, int]] = (
            {"omega": (omega, 2)} if weights is None else {"weights": (weights, 1)}
        )
        self._settle(fields, feature_names, scale, units)
        held = {"knots": frozen(knots, "knots", 2), "levels": frozen(levels, "levels", 2)}
        if held["knots"].shape != held["levels"].shape or held["knots"].shape[1:] != (self.n_features,):
            raise ValueError(
                f"knots and levels must have a column for each of the {self.n_features} features and as many rows as "
                f"each other, got shapes {held['knots'].shape} and {held['levels'].shape} instead."
            )
        for name, array in held.items():
            if not len(array) or (np.diff(array, axis=0) < 0).any():
                raise ValueError(f"{name} must hold the values of each column in order, at least one.")
        names = self.feature_names
        if omega is not None:
            behind: Any = LinearMetric(self.maps, names)
        else:
            behind = DiagonalMetric(self.maps, names) if p is None else MinkowskiMetric(self.maps, p, names)
        vars(self).update(held, behind=behind)

    def arrays(self) -> dict[str, Array]:
        """Return the knots and levels, the weights or the map, and the order if it is given."""
        behind = {name: array for name, array in self.behind.arrays().items() if name == "p"}
        return {"knots": self.knots, "levels": self.levels, **super().arrays(), **behind}

    def placed(self, X: Array) -> Array:
        """Return rows of the table with each column mapped; not checked."""
        return monotone(X, self.knots, self.levels)

    def map(self, X: ArrayLike) -> Array:
        """Return the rows of X in coordinates where the distance has no weights."""
        return self.mapped(self.table(X))

    def mapped(self, X: Array) -> Array:
        """Return `map` of an array that `table` returned, which is not checked again."""
        return self.behind.mapped(self.placed(X))

    def between(self, X: Array, Y: Array | None = None) -> Array:
        """Return the distances between the rows of X and of Y, as the metric of the mapped columns gives them."""
        first = self.placed(X)
        return self.behind.between(first, first if Y is None else self.placed(Y))

    def sq_distances_at(self, X: Array, cases: Array, indices: NDArray[np.intp]) -> Array:
        """Return the distances from row n of X to the cases numbered ``indices[n]``."""
        return self.behind.sq_distances_at(self.placed(X), self.placed(cases), indices)

    def contributions(self, x: ArrayLike, y: ArrayLike) -> Array:
        """Return what each feature adds to the distance of x and y; the parts sum to it."""
        first, second = self.placed(self.rows(x, "x")), self.placed(self.rows(y, "y"))
        single = np.ndim(x) == np.ndim(y) == 1
        return self.behind.contributions(first[0], second[0]) if single else self.behind.contributions(first, second)

    def contributions_at(self, x: Array, cases: Array, indices: NDArray[np.intp]) -> Array:
        """Return the `contributions` to the distances from one case to those numbered ``indices``, a row for each."""
        return finite(np.array([self._parts(row) for row in self.placed(x[None]) - self.placed(cases[indices])]))

    def _parts(self, differences: Array, _anchor: int = 0, /) -> Array:
        return self.behind._parts(differences)

    def relevances(self) -> Array:
        """Return the relevance of each mapped column."""
        return self.behind.relevances()

    def as_learned(self) -> Self:
        """Return the metric in the coordinates of the learner."""
        if self.scale is None:
            return self
        arrays = {**self.arrays(), "knots": self.learned_coordinates(self.knots)}
        del arrays["scale"]
        return cast("Self", rebuild(type(self), self.feature_names, arrays))

    def measurable(self, values: Array, what: str = "X") -> Array:  # noqa: ARG002 - the name of X is in no error here
        """Return checked rows: mapped values are in the range of the levels, so that all distances are finite."""
        return values

    def __iter__(self) -> Iterator[Metric]:
        yield self

    @cached_property
    def p(self) -> float:
        """The order of the distance."""
        return self.behind.p if isinstance(self.behind, MinkowskiMetric) else 2.0

    def _size(self) -> str:
        return f"monotone maps of {self.n_features}"


def monotone(X: Array, knots: Array, levels: Array) -> Array:
    """Return the columns of X, each mapped by lines between its knots, constant outside of them.

    >>> monotone(np.array([[0.5], [9.0]]), np.array([[0.0], [1.0]]), np.array([[0.0], [10.0]])).ravel()
    array([ 5., 10.])
    """
    return np.column_stack([np.interp(X[:, j], knots[:, j], levels[:, j]) for j in range(X.shape[1])])
