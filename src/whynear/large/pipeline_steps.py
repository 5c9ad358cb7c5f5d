"""The steps before a learner, fitted by sums over partitions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce, singledispatch
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, OneHotEncoder, StandardScaler
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from whynear.data.encoder import TableEncoder
from whynear.interpret import NullSpaceProjector
from whynear.large.partitions import computed, kept, task
from whynear.learn.blocks import joined_triangles
from whynear.learn.minimum_norm import triangle_about
from whynear.metric.projection import directions_of
from whynear.utils.arrays import Array, Indices
from whynear.utils.columns import column_names, default_names, refuse_counts


@dataclass(frozen=True)
class Moments:
    """Summary of the values of each column of some rows."""

    n_rows: int
    names: tuple[str, ...] | None  # of the columns, if they have any
    counts: Indices  # of values that are not missing
    infinities: Indices
    mean: Array
    squares: Array  # their sum about the mean
    low: Array  # the smallest value, NaN without any
    high: Array

    @property
    def variance(self) -> Array:
        """The mean square about the mean."""
        return self.squares / np.maximum(self.counts, 1)

    @property
    def ends(self) -> Any:
        """A table of two rows: the smallest and the largest value of each column."""
        rows = np.array([self.low, self.high])
        return rows if self.names is None else pd.DataFrame(rows, columns=list(self.names))

    def joined(self, other: Moments) -> Moments:
        """The moments of these rows and others (Chan, Golub, LeVeque 1983)."""
        counts = self.counts + other.counts
        share = other.counts / np.maximum(counts, 1)
        away = other.mean - self.mean
        return Moments(
            self.n_rows + other.n_rows,
            self.names,
            counts,
            self.infinities + other.infinities,
            self.mean + away * share,
            self.squares + other.squares + np.square(away) * self.counts * share,
            np.fmin(self.low, other.low),
            np.fmax(self.high, other.high),
        )


def moments_of(parts: Sequence[Any]) -> Moments:
    """Return the moments of all partitions; refuse infinities by name."""
    found = [each for each in computed([task(_moments, part) for part in parts]) if each.n_rows]
    if not found:
        raise ValueError(f"X has no rows in {len(parts)} partitions.")
    total = reduce(Moments.joined, found)
    refuse_counts(np.zeros(1), total.infinities, total.names or default_names(len(total.mean)))
    return total


def _moments(X: Any) -> Moments:
    values = check_array(X, dtype=np.float64, ensure_all_finite=False, ensure_min_samples=0)
    known = ~np.isnan(values)
    counts = known.sum(axis=0)
    infinities = np.isinf(values).sum(axis=0)
    filled = np.where(np.isfinite(values), values, 0.0)
    mean = filled.sum(axis=0) / np.maximum(counts, 1)
    squares = np.square(np.where(known, filled - mean, 0.0)).sum(axis=0)
    empty = np.full((1, values.shape[1]), np.nan)
    low, high = (np.fmin.reduce(np.vstack([empty, values])), np.fmax.reduce(np.vstack([empty, values])))
    return Moments(len(values), column_names(X), counts, infinities, mean, squares, low, high)


Parts = Sequence[Any]

KNOWN_STEPS = (
    "TableEncoder, StandardScaler, MinMaxScaler, MaxAbsScaler, VarianceThreshold, SimpleImputer, OneHotEncoder or "
    "NullSpaceProjector"
)


def fit_step(step: Any, parts: Parts, targets: Parts) -> None:
    """Fit a transformer to partitions, with the attributes that a fit to the whole table gives it."""
    if isinstance(step, TableEncoder):
        _fit_encoder(step, parts, targets)
    else:
        _fit(step, parts)


def transformed(step: Any, parts: Parts) -> list[Any]:
    """Return the partitions transformed by a fitted step, when they are read."""
    return [task(_transform, part, step=step) for part in parts]


def _transform(X: Any, step: Any) -> Any:
    if len(X):
        return step.transform(X)
    names = step.get_feature_names_out()  # most steps refuse a table without rows
    made = np.empty((0, len(names)))
    return pd.DataFrame(made, columns=names) if isinstance(step, TableEncoder) else made


@singledispatch
def _fit(step: Any, _parts: Parts) -> None:
    raise TypeError(
        f"{type(step).__name__} cannot be fitted to partitions. Use {KNOWN_STEPS}, or fit it to a table in memory and "
        "transform the collection by it first."
    )


@_fit.register
def _standard_scaler(step: StandardScaler, parts: Parts) -> None:
    moments = moments_of(parts)
    step.fit(moments.ends)  # which notes the columns
    same = bool((moments.counts == moments.counts[0]).all())
    step.n_samples_seen_ = np.int64(moments.counts[0]) if same else moments.counts
    if step.mean_ is not None:
        step.mean_ = moments.mean
    if step.with_std:
        eps, n, variance = np.finfo(float).eps, moments.counts, moments.variance
        constant = variance <= n * eps * variance + np.square(n * moments.mean * eps)  # scikit-learn's bound
        step.var_ = variance
        step.scale_ = np.where(constant | (variance == 0), 1.0, np.sqrt(variance))


@_fit.register
def _range_scaler(step: MinMaxScaler | MaxAbsScaler, parts: Parts) -> None:
    moments = moments_of(parts)
    step.fit(moments.ends)
    step.n_samples_seen_ = moments.n_rows


@_fit.register
def _variance_threshold(step: VarianceThreshold, parts: Parts) -> None:
    moments = moments_of(parts)
    validate_data(step, moments.ends, dtype=np.float64, ensure_all_finite=False)
    step.variances_ = moments.variance
    if step.threshold == 0:  # as scikit-learn: a measure that is exact for constant columns, if it is smaller
        step.variances_ = np.fmin(step.variances_, moments.high - moments.low)
    if not (step.variances_ > step.threshold).any():
        raise ValueError(f"No feature in X meets the variance threshold {step.threshold:.5f}")


@_fit.register
def _projector(step: NullSpaceProjector, parts: Parts) -> None:
    moments = moments_of(parts)
    validate_data(step, moments.ends, dtype=np.float64, ensure_min_samples=2)
    factor = joined_triangles(computed([task(_factor, part, centre=moments.mean) for part in parts]))
    directions = directions_of(factor, moments.mean, moments.n_rows, moments.n_rows, step.effective_dim)
    step.fit_directions(moments.mean, directions)


def _factor(X: Any, centre: Array) -> Array:
    return triangle_about(np.asarray(X, dtype=np.float64).reshape(-1, len(centre)), None, centre)


@_fit.register
def _one_hot(step: OneHotEncoder, parts: Parts) -> None:
    if step.min_frequency is not None or step.max_categories is not None:
        raise ValueError(
            "OneHotEncoder with min_frequency or max_categories cannot be fitted to partitions: it needs the number of "
            "rows of each category. Leave both None."
        )
    columns = [column.drop_duplicates().reset_index(drop=True) for column in _columns(parts)]
    longest = max(map(len, columns))
    padded = [column.reindex(np.minimum(np.arange(longest), len(column) - 1)) for column in columns]
    step.fit(_like(parts, [column.reset_index(drop=True) for column in padded]))


@_fit.register
def _imputer(step: SimpleImputer, parts: Parts) -> None:
    """Fit it to two rows: what it fills in, and the same with gaps where the table has any."""
    columns = []
    for column in _columns(parts):
        alone = pd.DataFrame({"column": column})
        gone = alone["column"].isna() if pd.isna(step.missing_values) else alone["column"] == step.missing_values
        if gone.all():
            columns.append(column.iloc[:2].reindex(range(2), fill_value=column.iloc[0]))
            continue
        typical = column[~gone].iloc[0]
        if step.strategy != "constant":
            typical = clone(step).set_params(add_indicator=False).fit(alone).statistics_[0]
        columns.append(pd.Series([typical, step.missing_values if gone.any() else typical], dtype=column.dtype))
    step.fit(_like(parts, columns))


def _fit_encoder(step: TableEncoder, parts: Parts, targets: Parts) -> None:
    step.check_settings()
    read = kept([task(_read, part, step=step) for part in parts])
    y = None
    if step.indicators:
        y = np.concatenate([np.asarray(part) for part in computed(targets) if len(part)])
    step.fit_columns(_names(read), _columns(read), y)


def _read(X: pd.DataFrame, step: TableEncoder) -> pd.DataFrame:
    return step.read_frame(X)


def _names(parts: Parts) -> list[Any]:
    """The names of the columns; numbers of an array."""
    found = _names_or_number(parts)
    return list(range(found)) if isinstance(found, int) else found


def _names_or_number(parts: Parts) -> list[Any] | int:
    """The names of the columns, or their number in an array, of a partition with rows."""
    for n_rows, names in computed([task(_size, part) for part in parts]):
        if n_rows:
            return names
    raise ValueError(f"X has no rows in {len(parts)} partitions.")


def _size(X: Any) -> tuple[int, list[Any] | int]:
    return len(X), list(X.columns) if isinstance(X, pd.DataFrame) else int(X.shape[1])


def _columns(parts: Parts) -> Iterator[pd.Series[Any]]:
    """Yield the columns of all partitions, each gathered when it is needed."""
    parts = kept(parts)
    for place in range(len(_names(parts))):
        found = [part for part in computed([task(_column, part, place=place) for part in parts]) if len(part)]
        yield pd.concat(found, ignore_index=True)


def _column(X: Any, place: int) -> pd.Series[Any]:
    if isinstance(X, pd.DataFrame):
        return X.iloc[:, place]
    values = np.asarray(X)[:, place]
    return pd.Series(values, dtype=values.dtype)  # pandas would take objects for text


def _like(parts: Parts, columns: list[pd.Series[Any]]) -> Any:
    """A table of these columns: with names, or an array, as the partitions are."""
    names = _names_or_number(parts)
    frame = pd.concat(columns, axis=1)
    return frame.to_numpy() if isinstance(names, int) else frame.set_axis(names, axis=1)
