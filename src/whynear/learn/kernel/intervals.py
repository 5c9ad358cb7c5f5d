r"""Intervals around predicted numbers by the jackknife+ (Barber, Candès, Ramdas, Tibshirani 2021).

A kernel model is linear in the targets, :math:`f(x) = \sum_i s_i(x) y_i`, and without row i it is the model in which
the held-out prediction takes the place of :math:`y_i`. With :math:`r_i` as their difference the model without row i
predicts :math:`f_{-i}(x) = f(x) - s_i(x) r_i`. An interval of coverage :math:`1 - a` runs from the
:math:`\lfloor a (n + 1) \rfloor`-th smallest of :math:`f_{-i}(x) - e_i` to the
:math:`\lceil (1 - a) (n + 1) \rceil`-th smallest of :math:`f_{-i}(x) + e_i`, for the sizes :math:`e_i` of the errors of
held-out rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import get_lapack_funcs

from whynear.data.rows import RowSplit, TimeOrder, forward_splits
from whynear.learn.kernel.choosing import Candidate
from whynear.learn.kernel.learning import Coordinates, Rows, mapped, order_of, ridge_model, steps
from whynear.learn.kernel.matrices import Floats, distances, kernel_of, mirrored
from whynear.learn.kernel.table import (
    CHOOSING_ROWS,
    FORWARD_FOLDS,
    GRADIENT_ROWS,
    LEARNING_ROWS,
    Table,
    at_most,
    distinct,
)
from whynear.utils.arrays import Array, Indices
from whynear.utils.threads import row_blocks

ERROR_FOLDS = 5  # in which errors are measured
ROUNDING = 1e-9  # of a number of rows
FAR = 2.0  # times the distance to their nearest row that most training rows do not exceed
MOST_ROWS = 0.99
MEASURED_ROWS = 2_000  # at most, whose nearest rows are looked for


@dataclass(frozen=True, eq=False)
class LeftOut:
    """How the predictions of a kernel model change without each of its rows: by ``parts`` (n, n) of their kernel.

    The change without row i is :math:`r_i (K(x) P + c)_i`, with ``parts`` as P and ``constant`` as c. Rows of a group
    are left out together; then it is the sum of these over its rows.
    """

    parts: Floats
    constant: Floats
    residuals: Array
    groups: Indices | None = None

    @classmethod
    def of(cls, K: Floats, target: Array, ridge: float, weights: Array, groups: Indices | None = None) -> LeftOut:
        """Return the changes of the model of rows with the kernel K. Time O(n^3), memory O(n^2)."""
        system = np.array(K.T, order="F")
        system[np.diag_indices(len(K))] += ridge / weights
        factored, inverted = get_lapack_funcs(("potrf", "potri"), (system,))
        factor, failed = factored(system, lower=0, overwrite_a=1, clean=0)
        if failed:
            raise np.linalg.LinAlgError("The kernel of the training rows is not positive definite.")
        inverse, _ = inverted(factor, lower=0, overwrite_c=1)
        parts = inverse.T
        mirrored(parts)
        sums = parts.sum(axis=1)
        total = sums.sum()
        parts -= np.outer(sums, sums / total)
        alpha = parts @ target
        if groups is None:
            return cls(parts, sums / total, alpha / np.diagonal(parts))
        residuals = np.empty_like(alpha)
        for group in np.unique(groups):
            mine = np.flatnonzero(groups == group)
            residuals[mine] = np.linalg.solve(parts[np.ix_(mine, mine)], alpha[mine])
        return cls(parts, sums / total, residuals, np.unique(groups, return_inverse=True)[1])

    def changes(self, K: Floats) -> Array:
        """Return by how much the predictions of rows differ from those without each training row: (m, n)."""
        own = np.asarray((K @ self.parts + self.constant) * self.residuals)
        if self.groups is None:
            return own
        of_groups = np.zeros((self.groups.max() + 1, len(K)))
        np.add.at(of_groups, self.groups, own.T)
        return np.asarray(of_groups[self.groups].T)


def weighted_end(values: Array, weights: Array, new: float, coverage: float) -> Array:
    """Return for each row the least value that so large a share of all weight does not exceed; else the largest value.

    ``new`` is the weight of the row that is predicted, whose own value is above all others.

    >>> weighted_end(np.array([[3.0, 1.0, 2.0]]), np.ones(3), 1.0, 0.5)
    array([2.])
    """
    order = np.argsort(values, axis=1)
    below = np.cumsum(weights[order], axis=1)
    enough = below >= coverage * (weights.sum() + new) - ROUNDING * weights.sum()
    place = np.where(enough[:, -1], enough.argmax(axis=1), values.shape[1] - 1)
    return np.asarray(np.take_along_axis(values, np.take_along_axis(order, place[:, None], axis=1), axis=1)[:, 0])


@dataclass(frozen=True, eq=False)
class Intervals:
    """What intervals are made of: places of different training rows, their weights, and the errors of all rows.

    ``new`` is the weight of a row that is predicted. Without ``left_out`` intervals are centred on the prediction.
    """

    rows: Indices
    errors: Array
    weights: Array
    new: float
    left_out: LeftOut | None = None

    def around(self, predicted: Array, K: Floats, coverage: float, within: Callable[[Array], Array]) -> Array:
        """Return intervals around predictions of rows by their kernel; ``within`` cuts predictions to their range."""
        errors, centres = self.errors[self.rows], np.tile(predicted[:, None], len(self.rows))
        if self.left_out is not None:
            centres -= self.left_out.changes(K)
        centres = within(centres)
        upper = weighted_end(centres + errors, self.weights, self.new, coverage)
        return np.column_stack([-weighted_end(errors - centres, self.weights, self.new, coverage), upper])

    def covers(self, coverage: float) -> bool:
        """Return whether there are rows enough for intervals of this coverage."""
        total = float(self.weights.sum())
        return total * (1 + ROUNDING) >= coverage * (total + self.new)


def predictions_in_folds(
    X: Array,
    rows_of: Callable[[Indices], Rows],
    splits: Sequence[RowSplit],
    candidate: Candidate,
    n_steps: int,
    learned_from: Callable[[int], Indices],
    gradient_rows: Callable[[int], Indices],
) -> Array:
    """Return the numbers that models which learn the distance too predict for held-out rows; NaN for all others.

    ``rows_of`` gives the targets, weights and groups of some rows of X. The other two give the places of those of a
    number of rows from which the distance is learned, and of those at which derivatives are taken.
    """
    found = np.full(len(X), np.nan)
    for train, test in splits:
        some = learned_from(len(train))
        known = rows_of(train[some])
        coordinates = Coordinates.of(X[train[some]], known.weights, candidate.columns)
        known, new = known._replace(X=coordinates.inside(X[train[some]])), coordinates.inside(X[test])
        *_, fit = steps(known, candidate.shape, n_steps, gradient_rows(len(some)))
        if len(some) == len(train):
            found[test] = fit.predict(new, known.X)[:, 0]
            continue
        order, rows = order_of(candidate.shape), rows_of(train)
        places = mapped(coordinates.inside(X[train]), fit.weights)
        model = ridge_model(kernel_of(distances(places, order=order), fit.width), rows, fit.ridge)
        if model is not None:
            D = distances(mapped(new, fit.weights), places, order=order)
            found[test] = model.predict(kernel_of(D, fit.width))[:, 0]
    return found


def intervals_of(
    metric: Any,
    cases: Array,
    targets: Array,
    weights: Array,
    groups: Indices | None,
    times: Indices | None,
    held_out: Array,
    *,
    candidate: Candidate,
    n_steps: int,
    width: float,
    ridge: float,
) -> Intervals:
    """Return what intervals are made of; of many rows only their errors, as a single one hardly changes the model."""
    apart = groups if times is None else TimeOrder(times)
    first, copy_of = distinct(cases, targets[:, None], apart)
    of_copies = np.asarray(np.bincount(copy_of, weights=weights), dtype=np.float64)
    new = min(1.0, float(weights.mean())) if groups is None else float(weights.sum() / len(np.unique(groups)))
    X, known, few, counting = cases[first], targets[first], len(first) <= LEARNING_ROWS, of_copies.copy()
    table = Table(X, known[:, None], of_copies, np.zeros(len(first), np.intp), None if apart is None else apart[first])
    if isinstance(table.groups, TimeOrder):
        parts = forward_splits(table.groups, FORWARD_FOLDS)
        if parts:
            counting[parts[0][0]] = 0.0  # they are never held out
    else:
        parts = table.folds(np.arange(len(first)), ERROR_FOLDS, False, np.random.default_rng(0))
    predicted = held_out[first]
    if few:
        rng = np.random.default_rng(0)
        found = predictions_in_folds(
            X,
            table.rows,
            parts,
            candidate,
            n_steps,
            lambda n: at_most(CHOOSING_ROWS, n, rng),
            lambda n: at_most(GRADIENT_ROWS, n, rng),
        )
        predicted = np.where(np.isnan(found), predicted, np.clip(found, known.min(), known.max()))
    errors = np.abs(targets - predicted[copy_of])
    left_out = None
    if few and times is None:
        K = kernel_of(distances(metric.mapped(X), order=order_of(candidate.shape)), width)
        left_out = LeftOut.of(K, known, ridge, of_copies, None if groups is None else groups[first])
    return Intervals(first, errors, counting, new, left_out)


def reach_of(mapped_rows: Array, order: int, n_jobs: int | None = None) -> float:
    """Return the distance to all rows beyond which a row is far: twice what 99% of rows have to their nearest other.

    The nearest rows of some are enough where there are many. Zero for a single row.

    >>> reach_of(np.arange(4.0)[:, None], 1)
    2.0
    """
    rows = np.unique(mapped_rows, axis=0)
    if len(rows) < 2:
        return 0.0
    some = np.unique(np.linspace(0, len(rows) - 1, MEASURED_ROWS).astype(np.intp))
    nearest = np.empty(len(some))
    for block in row_blocks(len(some), row_bytes=8 * len(rows)):
        D = distances(rows[some[block]], rows, order=order, n_jobs=n_jobs)
        D[np.arange(len(D)), some[block]] = np.inf
        nearest[block] = D.min(axis=1)
    return float(FAR * np.quantile(nearest, MOST_ROWS))
