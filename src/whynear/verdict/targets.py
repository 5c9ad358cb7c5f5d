"""The target as numbers, and the losses of predictions of it row by row."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, is_regressor

from whynear.data.rows import RowSplit, TimeOrder, error_of_mean, forward_splits, n_different, split_rows, taken
from whynear.utils.arrays import Array, Indices
from whynear.utils.columns import rows_at

FOLDS = 5
SLOPES = np.concatenate([[0.0], np.geomspace(0.25, 64, 25)])


@dataclass(frozen=True, eq=False)
class Answers:
    """What a model says about held-out rows.

    Attributes
    ----------
    loss : ndarray of shape (n_rows,)
        Half the Brier score of calibrated probabilities; for a measured target the squared error over the variance.
    score : ndarray of shape (n_rows,)
        Whether the class is right; for a measured target one minus the loss, whose mean is R2.
    expected : ndarray of shape (n_rows,)
        The probability of the predicted class, the score to expect; less noisy than the score.
    """

    loss: Array
    score: Array
    expected: Array


def best_of(answers: Iterable[Answers]) -> Answers:
    """Return the answers of least loss, the first of equal ones."""
    return min(answers, key=lambda one: float(one.loss.mean()))


@dataclass(frozen=True, eq=False)
class Target:
    """Classes as indicators, or a standardised measurement; and the group of each row.

    Attributes
    ----------
    Y : ndarray of shape (n_rows, n_outputs)
        The columns that models predict.
    measured : bool
        Whether the target is a measurement.
    groups : ndarray of shape (n_rows,)
        Rows with the same number are held out together.
    order : TimeOrder or None
        The time of each row, if those held out must be later than those learned from. The first rows are then never
        held out, and answers are those for the others.
    """

    Y: Array
    measured: bool
    groups: Indices
    order: TimeOrder | None = None

    def rows(self, chosen: Indices) -> Target:
        """Return the target of some of the rows; classes that none of them has are dropped."""
        Y = self.Y[chosen]
        groups = np.unique(self.groups[chosen], return_inverse=True)[1].astype(np.intp)
        Y = Y if self.measured else Y[:, Y.sum(axis=0) > 0]
        return Target(Y, self.measured, groups, taken(self.order, chosen))

    @cached_property
    def forward(self) -> list[RowSplit] | None:
        """Rows to learn from and later rows held out; None without an order, or where all rows have one time."""
        return None if self.order is None or n_different(self.order) < 2 else forward_splits(self.order, FOLDS)

    @cached_property
    def held_out(self) -> Indices | slice:
        """The rows for which there are answers."""
        return slice(None) if self.forward is None else np.sort(np.concatenate([test for _, test in self.forward]))

    @property
    def strata(self) -> NDArray[Any]:
        """The class of each row; zero for a measured target."""
        return np.zeros(len(self.Y), dtype=np.intp) if self.measured else self.Y.argmax(axis=1)

    @property
    def grouped(self) -> bool:
        """Whether some rows belong together."""
        return int(self.groups.max(initial=-1)) + 1 < len(self.groups)

    def folds(self, seed: int, most: int = FOLDS) -> list[RowSplit]:
        """Return rows to learn from and rows held out, five times if possible, groups together or forward in time.

        ``most`` asks for fewer folds than five, but not of those forward in time.
        """
        if self.forward is not None:
            return self.forward
        strata = self.strata
        n_folds = most if self.measured else max(2, min(most, int(np.bincount(strata).max())))
        groups = self.groups if self.grouped else None
        return split_rows(strata, n_folds, seed, stratified=not self.measured, groups=groups)

    def answers(self, predicted: Array) -> Answers:
        """Return the losses of predictions of Y for held-out rows, calibrated where they stand for classes."""
        predicted, Y = predicted[self.held_out], self.Y[self.held_out]
        if self.measured:
            loss = np.square(predicted - Y).mean(axis=1) / max(float(Y.var()), 1e-300)
            return Answers(loss, 1 - loss, 1 - loss)
        shares = self.Y.mean(axis=0)
        probabilities = _calibrated(np.ascontiguousarray((predicted - shares).T), shares[:, None], Y.T.copy()).T
        return Answers(
            0.5 * np.square(probabilities - Y).sum(axis=1),
            (probabilities.argmax(axis=1) == Y.argmax(axis=1)).astype(float),
            probabilities.max(axis=1),
        )

    def guessed(self) -> Answers:
        """Return what the class shares, or the mean, say."""
        return self.answers(np.broadcast_to(self.Y.mean(axis=0), self.Y.shape))

    def mean_and_error(self, values: Array) -> tuple[float, float]:
        """Return the mean of a value of each held-out row and its standard error over groups, or rows without them."""
        groups = self.groups if self.grouped and self.forward is None else None
        return float(values.mean()), float(error_of_mean(values, groups))


def _calibrated(away: Array, shares: Array, Y: Array) -> Array:
    """Return probabilities of each class (a row) at the slope of greatest likelihood among `SLOPES`."""
    log_shares = np.log(np.maximum(shares, 1e-12))

    def raised(place: int) -> Array:
        scores = SLOPES[place] * away + log_shares
        return np.asarray(scores - scores.max(axis=0))

    def likelihood(place: int) -> float:
        scores = raised(place)
        return float(np.vdot(scores, Y) - np.log(np.exp(scores).sum(axis=0)).sum())

    first, last = 0, len(SLOPES) - 1
    while first < last:  # the likelihood is concave in the slope
        middle = (first + last) // 2
        first, last = (middle + 1, last) if likelihood(middle + 1) > likelihood(middle) else (first, middle)
    probabilities = np.exp(raised(first))
    return np.asarray(probabilities / probabilities.sum(axis=0))


def target_of(learner: BaseEstimator, y: Any, groups: Any = None, n_rows: int | None = None) -> Target:
    """Return the target of a learner: a measurement for a regressor, classes for all others."""
    given, y = y, np.asarray(y)
    if n_rows is not None and len(y) != n_rows:
        raise ValueError(f"X and y must have the same rows, got {n_rows} and {len(y)} instead.")
    order = groups if isinstance(groups, TimeOrder) else None
    if groups is not None and len(groups) != len(y):
        raise ValueError(f"groups must have as many rows as y, got {len(groups)} and {len(y)} instead.")
    alone = groups is None or order is not None
    numbers = np.arange(len(y)) if alone else np.unique(np.asarray(groups), return_inverse=True)[1]
    if groups is not None and len(y) and (n_different(groups) < 2):
        what, first = ("groups", np.asarray(groups)[0]) if order is None else ("times", order.times[0])
        raise ValueError(f"groups must have at least two {what}, got {first!r} in every row instead.")
    if is_regressor(learner):
        values = y.astype(np.float64)
        if not np.isfinite(values).all():
            place = int(np.flatnonzero(~np.isfinite(values))[0])
            row = rows_at([place], given)
            raise ValueError(f"y must have no missing or infinite values, got {values[place]} in row {row} instead.")
        spread = values.std()
        if spread == 0:
            raise ValueError("y must vary, got the same value in every row instead.")
        return Target(((values - values.mean()) / spread)[:, None], True, numbers.astype(np.intp), order)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"y must have at least two classes, got {classes[0]!r} in every row instead.")
    return Target(np.eye(len(classes))[codes], False, numbers.astype(np.intp), order)
