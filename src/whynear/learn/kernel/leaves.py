"""Leaves: parts of the space, each with its own kernel model, for more rows than one model can have.

All leaves share one metric and one constant. The rows on a border of two leaves belong to both, and across the border
the prediction passes from the one to the other. So a row that is left out is left out of all leaves that predict it,
and leave-one-out predictions are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from whynear.data.rows import n_different
from whynear.learn.kernel.learning import Rows, ridge_model
from whynear.learn.kernel.matrices import Floats, distances, kernel_of
from whynear.learn.kernel.ridge import Ridge
from whynear.utils.arrays import Array, Indices
from whynear.utils.threads import row_blocks

WHOLE_ROWS = 20_000  # at most, of which one model is fitted
LEAF_ROWS = 10_000  # at most, of a leaf without the rows across its borders
BORDER_SHARE = 0.1  # of the rows of a part that is cut: those nearest to the cut belong to both sides
BORDER_KNOTS = 11  # values on a border, the middle one of which is the cut
CUTTING_ROWS = 10_000  # at most, by which a column to cut is chosen
LEAST_SIDE = 0.05  # of the rows of a part, on the smaller side of a cut
LEAST_RIDGE_OF_SINGLES = 1e-4  # a smaller one is below the rounding errors of single precision
PREDICTION_BYTES = 64 << 20
Each = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]  # a map


@dataclass(frozen=True, eq=False)
class Leaves:
    """A tree of cuts at values of columns, each before the cuts of its parts.

    Attributes
    ----------
    columns : ndarray of shape (n_cuts,)
        The column of each cut.
    knots : ndarray of shape (n_cuts, n_knots)
        Its values on the border, in order. At the first a row belongs to the part below alone, at the last to the part
        above; between them, its share in the part above grows by the same amount from knot to knot.
    children : ndarray of shape (n_cuts, 2)
        The parts below and above: the place of a further cut, or -1 less the number of a leaf.
    """

    columns: Indices
    knots: Array
    children: Indices

    @classmethod
    def of(cls, X: Array, spreads_of: Callable[[Array], Array]) -> Self:
        """Divide rows into leaves; up to `WHOLE_ROWS` rows are one.

        A part is cut where the product of two numbers is largest: how far its rows are spread along a column under the
        metric (``spreads_of`` some rows), and the share of the smaller side. Rows must come in an order that does not
        depend on that of the table: of many, the first stand for all.
        """
        columns: list[int] = []
        knots: list[Array] = []
        children: list[list[int]] = []
        n_leaves = 0

        def divide(rows: Indices) -> int:
            nonlocal n_leaves
            n_sides = -(-len(rows) // LEAF_ROWS)
            column = _best_column(X[rows[:CUTTING_ROWS]], spreads_of) if n_sides > 1 else None
            if column is None:
                n_leaves += 1
                return -n_leaves
            place = len(columns)
            columns.append(column)
            knots.append(_border(X[rows, column], (n_sides // 2) / n_sides))
            children.append([])
            above = X[rows, column] >= knots[place][BORDER_KNOTS // 2]
            children[place] = [divide(rows[~above]), divide(rows[above])]
            return place

        if len(X) > WHOLE_ROWS:
            divide(np.arange(len(X)))
        return cls(
            np.array(columns, dtype=np.intp),
            np.array(knots, dtype=np.float64).reshape(len(columns), BORDER_KNOTS),
            np.array(children, dtype=np.intp).reshape(len(columns), 2),
        )

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return len(self.columns) + 1

    def check(self, n_features: int) -> None:
        """Refuse arrays of a file that are no tree of cuts."""
        n, own = len(self.columns), np.arange(len(self.columns))[:, None]
        shapes = self.children.shape == (n, 2) and self.knots.shape == (n, BORDER_KNOTS)
        kinds = all(array.dtype.kind == "i" for array in (self.columns, self.children))
        if not (shapes and kinds and self.columns.ndim == 1 and np.isfinite(self.knots).all()):
            raise ValueError("cuts_ has arrays that do not fit together")
        parts = np.sort(self.children, axis=None)
        each_once = np.array_equal(parts, np.r_[np.arange(-n - 1, 0), np.arange(1, n)] if n else parts)
        after = ((self.children < 0) | (self.children > own)).all()
        inside = ((self.columns >= 0) & (self.columns < n_features)).all()
        if not (each_once and after and inside and (np.diff(self.knots, axis=1) >= 0).all()):
            raise ValueError("cuts_ is no tree of cuts at values of columns")

    def shares(self, X: Array) -> Array:
        """Return how much the model of each leaf counts in the prediction of each row: (n, n_leaves), in sum one."""
        found, reached = np.ones((len(X), self.n_leaves)), np.ones((len(X), len(self.columns)))
        levels = np.linspace(0.0, 1.0, self.knots.shape[1])
        for place, (column, knots) in enumerate(zip(self.columns, self.knots, strict=True)):
            above = np.interp(X[:, column], knots, levels)
            for part, share in zip(self.children[place], (1.0 - above, above), strict=True):
                (found[:, -1 - part] if part < 0 else reached[:, part])[:] = reached[:, place] * share
        return found


def _best_column(X: Array, spreads_of: Callable[[Array], Array]) -> int | None:
    """Return the column to cut at its median; None where no column has enough rows on both sides."""
    medians = np.quantile(X, 0.5, axis=0, method="higher")
    below, upto = (np.less(X, medians).mean(axis=0), np.less_equal(X, medians).mean(axis=0))
    sides = np.maximum(np.minimum(below, 1.0 - below), np.minimum(upto, 1.0 - upto))
    worth = np.where(sides >= LEAST_SIDE, sides, 0.0) * np.maximum(spreads_of(X), np.finfo(float).tiny)
    return int(np.argmax(worth)) if worth.max() > 0 else None


def _border(values: Array, share: float) -> Array:
    """Return the knots of a cut that leaves about this share of the values below.

    Where many rows have the value of the cut, these are on the side that makes the sides more even, and none is on a
    border.
    """
    knots = np.quantile(values, share + BORDER_SHARE * np.linspace(-0.5, 0.5, BORDER_KNOTS), method="higher")
    cut = knots[BORDER_KNOTS // 2]
    below, upto = (values < cut).mean(), (values <= cut).mean()
    if min(upto, 1.0 - upto) > 1.5 * min(below, 1.0 - below):
        return np.full(BORDER_KNOTS, values[values > cut].min())
    return np.asarray(knots)


class Kernel(NamedTuple):
    """The kernel of rows in coordinates in which the distance has no weights."""

    order: int
    width: float
    n_jobs: int | None = None

    def of(self, A: Floats, B: Floats | None = None) -> Floats:
        """Return the kernel of the rows of A with those of B, or with each other."""
        return kernel_of(distances(A, B, order=self.order, n_jobs=self.n_jobs), self.width)


def fit_leaf(part: tuple[Rows, Kernel, float]) -> tuple[Ridge, float]:
    """Return the model of some rows by their kernel and the ridge, or the next that works, with that ridge."""
    rows, kernel, ridge = part
    rows = rows.stored()
    if rows.X.dtype == np.float32:
        ridge = max(ridge, LEAST_RIDGE_OF_SINGLES)
    K = kernel.of(rows.X)
    while (model := ridge_model(K, rows, ridge)) is None:
        ridge *= 10.0
    return model, ridge


class LeafModels(NamedTuple):
    """The models of all leaves: the rows of each and their coefficients, the constant, and held-out predictions."""

    rows: list[Indices]
    alphas: list[Floats]
    constant: Floats
    held_out: Floats
    ridge: float


def fit_leaves(
    leaves: Leaves, table: Array, rows_of: Callable[[Indices], Rows], kernel: Kernel, ridge: float, each: Each = map
) -> LeafModels:
    """Fit the models of all leaves, by ``each``, a map over them; the ridge is the largest that a leaf needed.

    ``rows_of`` gives some of the rows as they are mapped. Of a leaf that could not be cut, at most `WHOLE_ROWS` rows
    take part. Where groups or later rows are held out, each leaf has its own constant for that. Time O(n m^2) and
    memory O(m^2) for leaves of m rows that are fitted one after the other.
    """
    shares = leaves.shares(table)
    places = [np.flatnonzero(of_leaf)[:WHOLE_ROWS] for of_leaf in shares.T]
    fitted = list(each(fit_leaf, ((rows_of(rows), kernel, ridge) for rows in places)))
    models, ridge = [model for model, _ in fitted], max(found for _, found in fitted)
    if len(places[0]) == len(table):
        return LeafModels(places, [models[0].alpha], models[0].constant, models[0].held_out, ridge)
    every = rows_of(np.arange(len(table))).stored()
    sums = sum(float(model.sums.sum(dtype=np.float64)) for model in models)
    constant = sum(model.sums.sum(dtype=np.float64) * model.constant for model in models) / sums
    alphas = [model.alpha + model.sums[:, None] * (model.constant - constant) for model in models]
    whole = LeafModels(places, alphas, constant, np.empty(0), ridge)
    return whole._replace(held_out=_held_out(whole, models, shares, every, kernel))


def _held_out(whole: LeafModels, models: Sequence[Ridge], shares: Array, every: Rows, kernel: Kernel) -> Array:
    r"""Return the prediction of each row without it, by the leaves that predict it.

    For a leaf with the inverse C and its row sums s, the residual of a row that is left out is :math:`(C y - c s)_i /
    C_{ii}`, and :math:`s^T y` and :math:`\sum s` become less by :math:`s_i (C y)_i / C_{ii}` and :math:`s_i^2 /
    C_{ii}`: their sums over leaves give the constant c without the row.
    """
    n, k = every.Y.shape
    apart = every.groups is not None or every.forward is not None
    total = sum(model.sums.sum(dtype=np.float64) for model in models)
    of_values, of_sums = np.tile(total * whole.constant, (n, 1)), np.full((n, 1), total)
    for rows, model in zip(whole.rows, models, strict=True):
        sums, diagonal = model.sums[:, None], model.diagonal[:, None]
        of_values[rows] -= sums * (model.alpha + sums * model.constant) / diagonal
        of_sums[rows] -= np.square(sums) / diagonal
    constants = np.tile(whole.constant, (n, 1)) if apart else of_values / of_sums
    found = np.zeros((n, k))
    for leaf, (rows, model) in enumerate(zip(whole.rows, models, strict=True)):
        of_leaf = shares[:, leaf, None]
        if not apart:
            values = model.alpha + model.sums[:, None] * (model.constant - constants[rows])
            found[rows] += of_leaf[rows] * (every.Y[rows] - values / model.diagonal[:, None])
        elif every.groups is not None and n_different(every.groups[rows]) < 2:
            found[rows] += of_leaf[rows] * constants[rows]
        else:
            found[rows] += of_leaf[rows] * model.held_out
        rest = np.setdiff1d(np.flatnonzero(of_leaf), rows)
        if apart:
            found[rest] += of_leaf[rest] * whole.constant
        else:
            for block in row_blocks(len(rest), row_bytes=4 * every.X.itemsize * len(rows), budget=PREDICTION_BYTES):
                new = rest[block]
                outputs = kernel.of(every.X[new], every.X[rows]) @ whole.alphas[leaf] + whole.constant
                found[new] += of_leaf[new] * outputs
    return found
