"""One map per anchor: the distance to an anchor is measured by the map of that anchor."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from operator import index
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whynear.metric import base
from whynear.metric.base import Metric, finite, unscaled
from whynear.metric.linear import DiagonalMetric, LinearMetric, linear_parts
from whynear.metric.steps import Units
from whynear.utils.arrays import Array
from whynear.utils.threads import run_in_chunks


class LocalMetric(Metric):
    r"""The squared distances :math:`d_i(x) = (x - a_i)^T \Lambda_i (x - a_i)` of a case to anchors.

    Each anchor :math:`a_i` has its own :math:`\Lambda_i`, diagonal (``weights``) or full (``omegas``). The distance
    is asymmetric and defined towards anchors only.

    Parameters
    ----------
    anchors : array-like of shape (n_anchors, n_features)
        Prototypes or training cases, copied.
    weights : array-like of shape (n_anchors, n_features), optional
        Diagonals of the :math:`\Lambda_i`, non-negative.
    omegas : array-like of shape (n_anchors, n_components, n_features), optional
        Maps with :math:`\Lambda_i = \Omega_i^T \Omega_i`. Exactly one of ``weights`` and ``omegas`` is given.
    feature_names, scale, units
        As for `LinearMetric`.

    Examples
    --------
    >>> metric = LocalMetric([[0, 0], [1, 1]], weights=[[1, 0], [0, 1]])
    >>> metric.sq_distances([[3, 2]])
    array([[9., 1.]])
    >>> metric[1]
    DiagonalMetric(2 features: x0, x1)
    """

    anchors: Array
    weights: Array | None
    omegas: Array | None

    def __init__(
        self,
        anchors: ArrayLike,
        weights: ArrayLike | None = None,
        omegas: ArrayLike | None = None,
        feature_names: Sequence[str] | None = None,
        scale: ArrayLike | None = None,
        units: Units | None = None,
    ) -> None:
        if (weights is None) == (omegas is None):
            raise ValueError("LocalMetric takes either weights (diagonal maps) or omegas (full maps), exactly one.")
        fields = {"anchors": (anchors, 2), "weights": (weights, 2), "omegas": (omegas, 3)}
        self._settle(fields, feature_names, scale, units)

    def __len__(self) -> int:
        return len(self.anchors)

    def __getitem__(self, anchor: int) -> LinearMetric | DiagonalMetric:
        """Return the map of one anchor as a metric."""
        kind = LinearMetric if self.weights is None else DiagonalMetric
        return kind(self.maps[index(anchor)], self.feature_names, self.scale, self.units)

    def __iter__(self) -> Iterator[Metric]:
        return (self[anchor] for anchor in range(len(self)))

    def between(self, X: Array, Y: Array | None = None) -> Array:
        """Return squared distances from each row of X to each anchor, or to the anchors in the rows of Y."""
        chosen = slice(None) if Y is None else self._anchors_at(Y, "Y")
        anchors, maps = self.anchors[chosen], self.maps[chosen]
        kernel = base.full_sq_distances if self.weights is None else base.diagonal_sq_distances
        sq = np.empty((len(X), len(anchors)))

        def measure(start: int, stop: int) -> None:
            kernel(X[start:stop], anchors, maps, sq[start:stop])

        run_in_chunks(measure, len(X), chunk=1 + 20_000_000 // (1 + maps.size))
        return finite(sq)

    def contributions(self, x: ArrayLike, y: ArrayLike) -> Array:
        """Return what each feature adds to the squared distance from x to the anchor y, under the map of y."""
        difference = self._differences(x, y)
        maps = self.maps[self._anchors_at(self.rows(y, "y"), "y")]
        if self.weights is not None:
            parts = maps * np.square(difference)
        else:
            mapped = np.einsum("ncd,nd->nc", maps, np.atleast_2d(difference))
            parts = difference * np.einsum("ncd,nc->nd", maps, mapped)
        return finite(parts[0] if difference.ndim == 1 else parts)

    def _parts(self, differences: Array, anchor: int = 0, /) -> Array:
        own = self.maps[anchor]
        return own * np.square(differences) if self.omegas is None else linear_parts(own, differences)

    def relevances(self) -> Array:
        """Return the diagonals of the Lambdas, of shape (n_anchors, n_features)."""
        return self.maps.copy() if self.omegas is None else np.square(self.omegas).sum(axis=1)

    def as_learned(self) -> Self:
        """Return the metric in the coordinates of the learner."""
        if self.scale is None:
            return self
        anchors = self.anchors / self.scale
        if self.omegas is None:
            return type(self)(anchors, unscaled(self.maps, np.square(self.scale)), feature_names=self.feature_names)
        return type(self)(anchors, omegas=unscaled(self.omegas, self.scale), feature_names=self.feature_names)

    @cached_property
    def _places(self) -> dict[bytes, int]:
        """The first anchor with given coordinates; -1 where several differ in their maps."""
        places: dict[bytes, int] = {}
        for i, anchor in enumerate(self.anchors + 0.0):  # + 0.0 turns -0.0 into 0.0
            first = places.setdefault(anchor.tobytes(), i)
            if first >= 0 and not np.array_equal(self.maps[first], self.maps[i]):
                places[anchor.tobytes()] = -1
        return places

    def _anchors_at(self, Y: Array, what: str) -> NDArray[np.intp]:
        places = [self._places.get(row.tobytes()) for row in Y + 0.0]
        for i, place in enumerate(places):
            if place is None:
                raise ValueError(
                    f"Row {i} of {what} is no anchor of this local metric, which measures distances to its "
                    f"{len(self)} anchors only. Use rows of metric.anchors."
                )
            if place == -1:
                raise ValueError(
                    f"Row {i} of {what} equals several anchors with different maps. "
                    "Choose one by its number: metric[i]."
                )
        return np.array(places, dtype=np.intp)

    def _size(self) -> str:
        rank = "" if self.omegas is None else f"{self.omegas.shape[1]} x "
        return f"{len(self)} anchors, {rank}{self.n_features}"
