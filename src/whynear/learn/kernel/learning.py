"""Learning a distance from the gradients of the kernel regression under it, step by step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from whynear.data.rows import RowSplit
from whynear.learn.kernel.matrices import Floats, distances, gradients, kernel_of, weight_gradients
from whynear.learn.kernel.ridge import Ridge, fit_forward, fit_ridge, mean_squares
from whynear.metric import DiagonalMetric, LinearMetric, Metric, MinkowskiMetric
from whynear.metric.monotone import MonotoneMetric, monotone
from whynear.utils.arrays import Array, Indices

Shape = Literal["l1", "diagonal", "map"]
Columns = Literal["values", "ranks"]
Place = tuple[int, int]  # on the grid of ridges and widths
SHAPES: tuple[Shape, ...] = ("l1", "diagonal", "map")
COLUMNS: tuple[Columns, ...] = ("values", "ranks")

MOST_KNOTS = 200  # of the map from values to ranks
RIDGES = 10.0 ** np.arange(-5.0, 1.01)
WIDTHS = 2.0 ** np.arange(-3.0, 4.01, 1.0)  # times the mean distance of the rows
START: Place = (2, 3)  # the places of the ridge and the width that are tried first
BOTH_WAYS = ((1, 0), (0, 1), (-1, 0), (0, -1))  # to the neighbours of a place, in ridge and width in turn
FEW_ROWS = 2_000  # so few that kernels of several widths are kept
LEAST_WEIGHT = 1e-7  # of the largest; the rounding errors of columns without influence are smaller


@dataclass(frozen=True, eq=False)
class Coordinates:
    """A map of each column by itself: to a mean of zero and a deviation of one, or to its ranks.

    A scale is infinite for a column that does not vary; ``knots`` and ``levels`` are those of a `MonotoneMetric`.
    """

    origin: Array
    scale: Array
    knots: Array | None = None
    levels: Array | None = None

    @classmethod
    def of(cls, X: Array, weights: Array, columns: Columns) -> Coordinates:
        """Return the coordinates of weighted rows."""
        origin = np.average(X, axis=0, weights=weights)
        spread = np.sqrt(np.average(np.square(X - origin), axis=0, weights=weights))
        varying = X.max(axis=0) > X.min(axis=0)
        scale = np.where(varying & (spread > 0), spread, np.inf)
        if columns == "values":
            return cls(origin, scale)
        found = [_ranks(column, weights) for column in X.T]
        longest = max(len(knots) for knots, _ in found)
        padded = ([np.append(one, np.repeat(one[-1], longest - len(one))) for one in pair] for pair in found)
        knots, levels = (np.array(columns).T for columns in zip(*padded, strict=True))
        return cls(origin, scale, knots, levels)

    def inside(self, X: Array) -> Array:
        """Return rows in these coordinates."""
        if self.knots is None or self.levels is None:
            return (X - self.origin) / self.scale
        return monotone(X, self.knots, self.levels)

    def metric(self, weights: Floats, shape: Shape, names: Sequence[str]) -> Metric:
        """Return the metric of the table's columns under which mapped rows have the weights, or the map, given."""
        maps = np.asarray(weights, dtype=np.float64)
        if self.knots is None:
            maps = maps / (self.scale if maps.ndim == 1 else self.scale[:, None])
        held: dict[str, Any] = {"feature_names": names}
        if shape == "map":
            held["omega"] = (np.diag(maps) if maps.ndim == 1 else maps).T
        else:
            held["weights"] = maps if shape == "l1" else np.square(maps)
        if shape == "l1":
            held["p"] = 1.0
        if self.knots is not None and self.levels is not None:
            return MonotoneMetric(self.knots, self.levels, **held)
        return {"l1": MinkowskiMetric, "diagonal": DiagonalMetric, "map": LinearMetric}[shape](**held)


def _ranks(column: Array, weights: Array) -> tuple[Array, Array]:
    """Return values of a column and the shares of rows below them, centred, in units of the deviation of even ranks."""
    values, place = np.unique(column, return_inverse=True)
    held = np.bincount(place, weights=weights)
    shares = (np.cumsum(held) - held / 2) / held.sum()
    if len(values) > MOST_KNOTS:
        wanted = np.linspace(shares[0], shares[-1], MOST_KNOTS)
        some = np.unique(np.searchsorted(shares, wanted - 1e-12).clip(max=len(values) - 1))
        values, shares = values[some], shares[some]
    return values, (shares - 0.5) * np.sqrt(12.0)


class Rows(NamedTuple):
    """Training rows in their coordinates with what is predicted; groups, or parts in time, are held out together."""

    X: Floats
    Y: Floats
    weights: Array
    groups: Indices | None = None
    forward: Sequence[RowSplit] | None = None


@dataclass(frozen=True, eq=False)
class Fit:
    """A kernel model under a distance: the weights of columns or their map, width and ridge, and the error held out."""

    weights: Floats
    shape: Shape
    width: float
    ridge: float
    error: float
    model: Ridge
    at: Place

    def predict(self, X: Floats, known: Floats) -> Floats:
        """Return predictions of new rows from the training rows."""
        D = distances(mapped(X, self.weights), mapped(known, self.weights), order=order_of(self.shape))
        return self.model.predict(kernel_of(D, self.width))


def order_of(shape: Shape) -> int:
    """Return the order of the distance of a shape."""
    return 1 if shape == "l1" else 2


def mapped(X: Floats, weights: Floats) -> Floats:
    """Return rows in coordinates in which the distance has no weights, without columns of weight zero."""
    if weights.ndim == 2:
        return X @ weights
    kept = weights > 0
    return (X if kept.all() else X[:, kept]) * weights[kept]


def steps(rows: Rows, shape: Shape, n_steps: int, some: Indices, start: Place = START) -> Iterator[Fit]:
    """Yield the model under equal weights, then that after each step of learning weights from its gradients.

    ``some`` are the rows at which derivatives are taken. Ridge and width are searched for at the first step, from a
    ``start`` on the grid; they move little from then on, and are moved in turn. Time O(n^3 + n^2 d) for each step,
    memory O(n^2).
    """
    varying = rows.X.max(axis=0) > rows.X.min(axis=0)
    weights: Floats = varying.astype(rows.X.dtype)
    at = start
    for step in range(n_steps + 1):
        A = mapped(rows.X, weights)
        tuned = _Tuned(distances(A, order=order_of(shape)), rows)
        at, error, model = tuned.best_from(at, BOTH_WAYS if step == 0 else BOTH_WAYS[step % 2 :: 2])
        yield Fit(weights, shape, tuned.width(at), float(RIDGES[at[0]]), error, model, at)
        if step == n_steps or not A.shape[1]:
            return
        weights = _learned(rows, shape, weights, A, tuned, at, model, some)


def _learned(
    rows: Rows,
    shape: Shape,
    weights: Floats,
    A: Floats,
    tuned: _Tuned,
    at: Place,
    model: Ridge,
    some: Indices,
) -> Floats:
    """Return weights, or a map, by the derivatives of a model: their root mean squares, or mean products."""
    of_rows, K = rows.weights[some], tuned.kernel(at)[some]
    kept = weights > 0 if weights.ndim == 1 else np.array([])
    if shape == "l1":
        squares = weight_gradients(rows.X[some][:, kept], rows.X[:, kept], K, model.alpha, of_rows)
        return _with_roots(weights, kept, squares * np.square(weights[kept]))
    slopes = gradients(A[some], A, K, tuned.D[some], model.alpha)
    slopes *= np.sqrt(of_rows / of_rows.sum()).astype(slopes.dtype)[:, None, None]
    if shape == "diagonal":
        return _with_roots(weights, kept, np.square(slopes).sum(axis=(0, 1)) * np.square(weights[kept]))
    back = np.zeros((len(weights), A.shape[1]), A.dtype)
    if weights.ndim == 1:
        back[kept] = np.diag(weights[kept])
    else:
        back = weights
    return _root_of_products(slopes.reshape(-1, A.shape[1]) @ back.T, weights)


def _with_roots(weights: Floats, kept: Any, squares: Array) -> Floats:
    """Return the roots of the squares in the columns kept, the largest of them one; the same if there is no slope."""
    if not squares.max(initial=0.0) > 0:
        return weights
    found = np.zeros(len(weights), weights.dtype)
    found[kept] = np.sqrt(squares / squares.max())
    return np.where(found > LEAST_WEIGHT, found, 0.0).astype(weights.dtype)


def _root_of_products(slopes: Floats, weights: Floats) -> Floats:
    """Return a map W for which W W^T is slopes^T slopes, but for its scale: the largest diagonal entry is one."""
    if not np.square(slopes).max(initial=0.0) > 0:
        return weights
    if len(slopes) < slopes.shape[1]:
        _, sizes, directions = np.linalg.svd(slopes, full_matrices=False)
    else:
        squares, vectors = np.linalg.eigh(slopes.T @ slopes)
        sizes, directions = np.sqrt(np.maximum(squares, 0.0)), vectors.T
    kept = sizes > LEAST_WEIGHT * sizes.max()
    root = (sizes[kept, None] * directions[kept]).T
    return np.asarray(root / np.sqrt(np.square(root).sum(axis=1).max()), slopes.dtype)


class _Tuned:
    """The ridge and the width of least held-out error under one distance, found by steps on a grid."""

    def __init__(self, D: Floats, rows: Rows) -> None:
        self.D, self.rows = D, rows
        shares = (rows.weights / rows.weights.sum()).astype(D.dtype)
        self.unit = float(shares @ (D @ shares)) or 1.0
        self.tried: dict[Place, tuple[float, Ridge | None]] = {}
        self.kernels: dict[int, Floats] = {}

    def best_from(self, at: Place, ways: Sequence[Place]) -> tuple[Place, float, Ridge]:
        """Go from a place on the grid to the best of its neighbours in these ways, until none is better."""
        while self._error(at) == np.inf and at[0] < len(RIDGES) - 1:
            at = (at[0] + 1, at[1])
        while True:
            near = [(at[0] + ridge, at[1] + width) for ridge, width in ways]
            better = min((place for place in near if self._inside(place)), key=self._error)
            if not self._error(better) < self._error(at):
                break
            at = better
        error, model = self.tried[at]
        if model is None:
            raise np.linalg.LinAlgError("The kernel of the rows is not positive definite at any ridge.")
        return at, error, model

    def width(self, at: Place) -> float:
        """Return the width at a place on the grid."""
        return float(self.unit * WIDTHS[at[1]])

    def kernel(self, at: Place) -> Floats:
        """Return the kernel at a place on the grid; of many rows that of one width is kept."""
        if at[1] not in self.kernels:
            if len(self.D) > FEW_ROWS:
                self.kernels.clear()
            self.kernels[at[1]] = kernel_of(self.D.copy(), self.width(at))
        return self.kernels[at[1]]

    @staticmethod
    def _inside(at: Place) -> bool:
        return 0 <= at[0] < len(RIDGES) and 0 <= at[1] < len(WIDTHS)

    def _error(self, at: Place) -> float:
        if at not in self.tried:
            rows = self.rows
            model = ridge_model(self.kernel(at), rows, float(RIDGES[at[0]]))
            error = np.inf if model is None else mean_squares(rows.Y - model.held_out, rows.weights)
            self.tried[at] = (error, model) if np.isfinite(error) else (np.inf, None)
        return self.tried[at][0]


def ridge_model(K: Floats, rows: Rows, ridge: float) -> Ridge | None:
    """Return the model of rows by their kernel; None where that is not positive definite at the ridge."""
    if rows.forward is not None:
        return fit_forward(K, rows.Y, ridge, rows.weights, rows.forward)
    return fit_ridge(K, rows.Y, ridge, rows.weights, rows.groups)
