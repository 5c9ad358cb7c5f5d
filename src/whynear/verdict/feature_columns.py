"""The features of a table as standardised columns; a category, or a number with gaps, has several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from whynear.data.encoder import is_ordered
from whynear.utils.arrays import Array, Indices
from whynear.utils.columns import check_dense

OUTLYING = 2.5  # standard deviations; values beyond are drawn in by a logarithm
GAPS = 0.02  # share of missing values from which being missing may itself carry information


@dataclass(frozen=True, eq=False)
class FeatureColumns:
    """Standardised columns, and the feature each belongs to.

    Attributes
    ----------
    names : tuple of str
        The features.
    values : ndarray of shape (n_rows, n_columns)
        The columns. Those of one feature together have as much variance as any other feature.
    owners : ndarray of shape (n_columns,)
        The number of the feature of each column.
    joined : bool
        Whether features are columns of the table taken together, which may say together what none says alone.
    """

    names: tuple[str, ...]
    values: Array
    owners: Indices
    joined: bool = False

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
