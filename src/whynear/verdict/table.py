"""A table as verdicts need it: its features as standardised columns, and its target with the losses of predictions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, is_regressor

from whynear.data.encoder import is_ordered
from whynear.data.rows import RowSplit, TimeOrder, error_of_mean, forward_splits, n_different, split_rows, taken
from whynear.utils.arrays import Array, Indices
from whynear.utils.columns import check_dense, rows_at

OUTLYING = 2.5  # standard deviations; values beyond are drawn in by a logarithm
GAPS = 0.02  # share of missing values from which being missing may itself carry information


@dataclass(frozen=True, eq=False)
class FeatureColumns:
    """Standardised columns, and the feature each belongs to."""

    names: tuple[str, ...]  # of the features
    values: Array  # the columns; those of one feature together have as much variance as any other feature
    owners: Indices  # the number of the feature of each column
    joined: bool = False  # whether features are several columns of the table, which may be informative only together

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.names)

    def rows(self, chosen: Indices) -> FeatureColumns:
        """Return the same columns with some of the rows."""
        return replace(self, values=self.values[chosen])

    def of(self, features: Sequence[int] | Indices) -> Array:
        """Return the columns of these features."""
        return self.values[:, np.isin(self.owners, np.asarray(features, dtype=np.intp))]

    def correlation(self, one: int, other: int) -> float:
        """Return the largest absolute correlation between the columns of two features."""
        first, second = self.of([one]), self.of([other])
        lengths = np.outer(np.linalg.norm(first, axis=0), np.linalg.norm(second, axis=0))
        return float(np.abs(first.T @ second / np.maximum(lengths, 1e-300)).max(initial=0.0))

    def only(self, features: Sequence[int] | Indices) -> FeatureColumns:
        """Return these features alone, in their order in the table."""
        kept = np.sort(np.asarray(features, dtype=np.intp))
        mine = np.isin(self.owners, kept)
        names, owners = tuple(self.names[j] for j in kept), np.searchsorted(kept, self.owners[mine])
        return FeatureColumns(names, self.values[:, mine], owners, self.joined)


def feature_columns(X: Any, features: Sequence[str] | None = None) -> FeatureColumns:
    """Turn a table of numbers and categories into standardised columns.

    ``features`` names the feature that each column of the table belongs to; each is its own without it.

    Values far out are drawn in, so that heavy tails do not decide. Categories become indicators, ordered ones their
    places in the order. Missing numbers become the median, with an indicator where there are enough of them; missing
    categories are a category.
    """
    check_dense(X)
    frame = X if isinstance(X, pd.DataFrame) else pd.DataFrame(np.asarray(X)).add_prefix("x")
    frame = frame.infer_objects()  # numbers that stand beside text in an array
    blocks, owners = [], []
    for place, (_, column) in enumerate(frame.items()):
        if is_ordered(column):
            column = column.cat.codes.astype(float).where(column.notna())
        made = _numbers(column) if pd.api.types.is_numeric_dtype(column.dtype) else _indicators(column)
        varying = made.std(axis=0) > 0
        made = made[:, varying] / np.sqrt(max(1, int(np.count_nonzero(varying))))
        blocks.append(made)
        owners += [place] * made.shape[1]
    values = np.hstack(blocks) if blocks else np.empty((len(frame), 0))
    columns = FeatureColumns(tuple(map(str, frame.columns)), values, np.array(owners, dtype=np.intp))
    return columns if features is None else _joined(columns, features)


def owners_of(features: Sequence[str]) -> tuple[tuple[str, ...], Indices]:
    """Return the different features in their order, and for each column the number of its feature."""
    names = tuple(dict.fromkeys(map(str, features)))
    return names, np.array([names.index(str(name)) for name in features], dtype=np.intp)


def _joined(columns: FeatureColumns, features: Sequence[str]) -> FeatureColumns:
    """Return columns that belong to features of several columns, each feature with the variance of one."""
    if len(features) != columns.n_features:
        raise ValueError(
            f"features must name one feature for each of the {columns.n_features} columns, got {len(features)} instead."
        )
    names, numbers = owners_of(features)
    varying = np.bincount(numbers[np.unique(columns.owners)], minlength=len(names))
    owners = numbers[columns.owners]
    return FeatureColumns(names, columns.values / np.sqrt(np.maximum(1, varying))[owners], owners, joined=True)


def _numbers(column: pd.Series) -> Array:
    """Return a column of numbers, standardised, and where values are missing."""
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    known = np.isfinite(values)
    if not known.any():
        return np.zeros((len(values), 1))
    filled = np.where(known, values, np.median(values[known]))
    parts = [_drawn_in(filled)]
    if np.mean(~known) >= GAPS:
        parts.append(_standardised((~known).astype(float)))
    return np.column_stack(parts)


def _indicators(column: pd.Series) -> Array:
    """Return one standardised column for each category; two categories share one."""
    codes, categories = pd.factorize(column.astype(object).where(column.notna(), "missing").astype(str), sort=True)
    made = (codes[:, None] == np.arange(len(categories))).astype(float)
    made = made[:, :1] if made.shape[1] == 2 else made
    return np.column_stack([_standardised(one) for one in made.T])


def _drawn_in(values: Array) -> Array:
    values = values - np.median(values)
    spread, usual = values.std(), 1.4826 * float(np.median(np.abs(values)))
    spread = min(spread, 1.5 * usual) if usual > 1e-9 * spread else spread  # else half the values are rounding errors
    if spread <= 1e-12 * np.abs(values).max(initial=0.0) or spread == 0:
        return np.zeros(len(values))
    scaled = values / spread
    far = np.maximum(np.abs(scaled) - OUTLYING, 0.0)
    return _standardised(np.where(far > 0, np.sign(scaled) * (OUTLYING + np.log1p(far)), scaled))


def _standardised(values: Array) -> Array:
    centred = values - values.mean()
    spread = centred.std()
    return centred / spread if spread > 0 else np.zeros(len(values))


def chosen_rows(n: int, most: int, strata: NDArray[Any], rng: np.random.Generator) -> Indices:
    """Return at most this number of rows, of every class in proportion."""
    if n <= most:
        return np.arange(n)
    order = rng.permutation(n)
    places = np.empty(n)
    for stratum in np.unique(strata):  # each class spread evenly over the range
        mine = order[strata[order] == stratum]
        places[mine] = (np.arange(len(mine)) + rng.random()) / len(mine)
    return np.sort(np.argsort(places, kind="stable")[:most]).astype(np.intp)


FOLDS = 5
SLOPES = np.concatenate([[0.0], np.geomspace(0.25, 64, 25)])


@dataclass(frozen=True, eq=False)
class RowLosses:
    """How well a model predicts held-out rows, each of them."""

    loss: Array  # half the Brier score of calibrated probabilities; if measured, the squared error over the variance
    score: Array  # whether the class is right; for a measured target one minus the loss, whose mean is R2
    expected: Array  # the probability of the predicted class, the score to expect; less noisy than the score


def best_of(losses: Iterable[RowLosses]) -> RowLosses:
    """Return those of the least mean loss, the first of equal ones."""
    return min(losses, key=lambda one: float(one.loss.mean()))


@dataclass(frozen=True, eq=False)
class Target:
    """Classes as indicators, or a standardised measurement; and the group of each row.

    With an ``order``, the time of each row, rows held out are later than those learned from. The first rows are then
    never held out, and losses are those of the others.
    """

    Y: Array  # the columns that models predict
    measured: bool
    groups: Indices  # rows with the same number are held out together
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
        """The rows that are held out."""
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

    def losses(self, predicted: Array) -> RowLosses:
        """Return the losses of predictions of Y for held-out rows, calibrated where they stand for classes."""
        predicted, Y = predicted[self.held_out], self.Y[self.held_out]
        if self.measured:
            loss = np.square(predicted - Y).mean(axis=1) / max(float(Y.var()), 1e-300)
            return RowLosses(loss, 1 - loss, 1 - loss)
        shares = self.Y.mean(axis=0)
        probabilities = _calibrated(np.ascontiguousarray((predicted - shares).T), shares[:, None], Y.T.copy()).T
        return RowLosses(
            0.5 * np.square(probabilities - Y).sum(axis=1),
            (probabilities.argmax(axis=1) == Y.argmax(axis=1)).astype(float),
            probabilities.max(axis=1),
        )

    def guessed(self) -> RowLosses:
        """Return the losses of the class shares, or of the mean."""
        return self.losses(np.broadcast_to(self.Y.mean(axis=0), self.Y.shape))

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
