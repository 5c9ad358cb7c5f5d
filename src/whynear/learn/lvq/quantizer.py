"""Prototypes with their maps while they are learned, and the coordinates they are learned in."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from whynear.learn.blocks import Block, Blocks, class_squares, class_sums, summed
from whynear.learn.lvq import objective as glvq
from whynear.metric import DiagonalMetric, LinearMetric, LocalMetric, Metric
from whynear.utils.arrays import Array, Indices
from whynear.utils.text import counted


@dataclass(frozen=True)
class Coordinates:
    """The coordinates of a fit: cases about their mean, divided by one number, along chosen directions of the data.

    One number for all columns keeps all ratios of distances, and the steps of the solver do not depend on units.
    """

    origin: Array
    scale: float
    directions: Array | None  # of shape (d, K); all of the space for None

    @classmethod
    def about(cls, blocks: Blocks) -> Self:
        """The coordinates of a training set, with all of its space."""
        low, high = blocks.input_range
        _, sums = summed(blocks.map(class_sums, len(blocks.classes), len(low)))
        origin = np.where(high > low, sums.sum(axis=0), low)  # constant columns are zero inside
        centres = np.repeat(origin[None], len(blocks.classes), axis=0)
        scale = float(np.sqrt(summed(blocks.map(class_squares, centres)).sum()))
        return cls(origin, scale or 1.0, None)

    def inside(self, X: Array) -> Array:
        """Cases in these coordinates."""
        centred = (X - self.origin) / self.scale
        return np.ascontiguousarray(centred if self.directions is None else centred @ self.directions)

    def points(self, W: Array) -> Array:
        """Points of these coordinates as cases."""
        return self.origin + self.scale * (W if self.directions is None else W @ self.directions.T)

    def maps(self, maps: Array) -> Array:
        """Maps of these coordinates as maps of cases, but for their scale."""
        return maps if self.directions is None else maps @ self.directions.T


@dataclass(frozen=True)
class Quantizer:
    """Prototypes, the places of their classes, and one map for all or one for each.

    ``maps`` has the shape (c, d) for all prototypes or (m, c, d) for each; (d,) or (m, d) where they are diagonal.
    """

    maps: Array
    prototypes: Array
    labels: Indices
    local: bool

    @classmethod
    def of(cls, metric: Metric, prototypes: Array, labels: Indices, coordinates: Coordinates) -> Self:
        """Return the quantizer of a fitted metric, to learn it further."""
        match metric:
            case DiagonalMetric():
                maps = np.sqrt(metric.weights)
            case LocalMetric(omegas=None):
                maps = np.sqrt(metric.maps)
            case LocalMetric():
                maps = metric.maps
            case LinearMetric():
                maps = metric.omega
            case _:
                raise TypeError(f"{type(metric).__name__} has no maps to learn further.")
        if coordinates.directions is not None:
            if maps.ndim == 1 + isinstance(metric, LocalMetric):
                raise TypeError(
                    f"{type(metric).__name__} weighs columns, and the learner learns along "
                    f"{counted(coordinates.directions.shape[1], 'direction')} (effective_dim): its weights cannot be "
                    "learned further. Fit anew without effective_dim."
                )
            maps = maps @ coordinates.directions
        return cls(maps, coordinates.inside(prototypes), labels, isinstance(metric, LocalMetric))

    def packed(self) -> Array:
        """Return all parameters as one vector, for solvers."""
        return np.concatenate([self.maps.ravel(), self.prototypes.ravel()])

    def unpacked(self, x: Array) -> Self:
        """A quantizer of the same shape with these parameters."""
        size = self.maps.size
        return replace(self, maps=x[:size].reshape(self.maps.shape), prototypes=x[size:].reshape(self.prototypes.shape))

    def loss_grad(self, x: Array, cases: Block, squashing: glvq.Squashing, sigma: float) -> tuple[float, Array]:
        """The cost at given parameters and its gradient."""
        at = self.unpacked(x)
        of = glvq.local_loss_grad if self.local else glvq.global_loss_grad
        value, by_maps, by_prototypes = of(at.maps, at.prototypes, at.labels, cases, squashing, sigma)
        return value, np.concatenate([by_maps.ravel(), by_prototypes.ravel()])

    def metric(self, coordinates: Coordinates, names: tuple[str, ...]) -> LinearMetric | DiagonalMetric | LocalMetric:
        """The metric in the table's columns, the trace of every Lambda one."""
        maps, diagonal = coordinates.maps(self.maps), self.maps.ndim == 1 + self.local
        axes = tuple(range(int(self.local), maps.ndim))
        norms = np.sqrt(np.square(maps).sum(axis=axes, keepdims=True))
        maps = np.divide(maps, norms, out=np.zeros_like(maps), where=norms > 0)
        values = np.square(maps) if diagonal else maps
        if not self.local:
            return (DiagonalMetric if diagonal else LinearMetric)(values, names)
        anchors = coordinates.points(self.prototypes)
        return LocalMetric(anchors, **{"weights" if diagonal else "omegas": values}, feature_names=names)


def loss_grad_of_all(
    start: Quantizer, inside: Blocks, x: Array, squashing: glvq.Squashing, sigma: float
) -> tuple[float, Array]:
    """The cost of all cases at given parameters and its gradient, by the sums of the blocks."""
    total: tuple[float, Array] = summed(inside.map(_loss_grad, start, x, squashing, sigma))
    return total


def _loss_grad(
    block: Block, start: Quantizer, x: Array, squashing: glvq.Squashing, sigma: float
) -> tuple[float, Array]:
    return start.loss_grad(x, block, squashing, sigma)
