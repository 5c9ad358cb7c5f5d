"""Bands of a spectrum: neighbouring channels that vary together, each band one feature."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.sparse import diags_array
from sklearn.cluster import ward_tree

from whynear.explain import Explanation, ValueExplanation
from whynear.explain.explanation import summed_by_column
from whynear.tables.encoder import kept_apart
from whynear.tables.spectral_axis import SpectralAxis
from whynear.utils.arrays import Array

FEWEST, MOST = 10, 30  # bands
DESCRIBED = 0.9  # share of the variance of all channels that the means of the bands describe


@dataclass(frozen=True, eq=False)
class Bands:
    """The bands of a spectrum as features beside the other columns of its table.

    Attributes
    ----------
    axis : SpectralAxis
        The channels.
    ranges : tuple of (int, int)
        The first and the last channel of each band; every channel is in one band.
    columns : tuple of str
        All columns of the table.
    """

    axis: SpectralAxis
    ranges: tuple[tuple[int, int], ...]
    columns: tuple[str, ...]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The bands in the unit of the axis."""
        channels = set(self.axis.columns)
        others = [name for name in self.columns if name not in channels]
        spans = [self.axis.span(first, last) for first, last in self.ranges]
        return tuple(kept_apart([*others, *spans])[len(others) :])

    @cached_property
    def features_of_columns(self) -> tuple[str, ...]:
        """For each column of the table the feature it belongs to: its band, or itself."""
        band_of = {
            channel: name
            for name, (first, last) in zip(self.names, self.ranges, strict=True)
            for channel in self.axis.columns[first : last + 1]
        }
        return tuple(band_of.get(name, name) for name in self.columns)

    @cached_property
    def feature_names_in_(self) -> tuple[str, ...]:
        """The features, in the order of the table."""
        return tuple(dict.fromkeys(self.features_of_columns))

    @property
    def noun(self) -> str:
        """What the features are called: bands, unless there are others too."""
        return "band" if len(self.feature_names_in_) == len(self.names) else "feature"

    def features_of(self, columns: Iterable[str]) -> list[str]:
        """Return the features of columns of the table."""
        known = dict(zip(self.columns, self.features_of_columns, strict=True))
        return [known[name] for name in columns]

    def sums(self, values: ArrayLike) -> Array:
        """Return values of the columns (the last axis) summed for each feature."""
        array = np.asarray(values, dtype=np.float64)
        total = np.zeros((*array.shape[:-1], len(self.feature_names_in_)))
        for column, place in enumerate(self._places):
            total[..., place] += array[..., column]
        return total

    def decoded(self, values: ArrayLike) -> list[Any]:
        """Return one case in the features: the mean of each band, other values unchanged."""
        held = np.asarray(values, dtype=object).tolist()
        grouped: list[list[Any]] = [[] for _ in self.feature_names_in_]
        for value, place in zip(held, self._places, strict=True):
            grouped[place].append(value)
        bands = set(self.names)
        return [
            float(np.mean(np.array(own, dtype=np.float64))) if name in bands else own[0]
            for name, own in zip(self.feature_names_in_, grouped, strict=True)
        ]

    def table(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return rows in the features: the mean of each band, other columns unchanged."""
        bands = dict(zip(self.names, self.ranges, strict=True))
        made = {
            name: X[list(self.axis.columns[bands[name][0] : bands[name][1] + 1])].mean(axis=1)
            if name in bands
            else X[name]
            for name in self.feature_names_in_
        }
        return pd.DataFrame(made, index=X.index)

    def profiles(self, profiles: pd.DataFrame) -> pd.DataFrame:
        """Return profiles, a row for each column, with the rows of each band summed."""
        made = self.sums(profiles.to_numpy().T).T
        index = pd.Index(self.feature_names_in_, name=profiles.index.name)
        return pd.DataFrame(made, index, profiles.columns)

    def summed(self, why: Explanation | ValueExplanation) -> Explanation | ValueExplanation:
        """Return an explanation with the parts of each band summed."""
        if isinstance(why, ValueExplanation):
            return self._summed_value(why)
        return summed_by_column(why, pd.DataFrame([self.decoded(why.values)], dtype=object), self)

    def _summed_value(self, why: ValueExplanation) -> ValueExplanation:
        """Return an explanation of a value with the contributions of each band summed.

        The distance of a neighbour is that of these sums, and a band has no coefficient.
        """
        features = pd.Index(self.feature_names_in_, name="feature")
        bands, own = set(self.names), self.sums(why.contributions)
        theirs = self.sums(why.neighbor_contributions)
        sq = np.square(theirs - own).sum(axis=1)
        order = np.argsort(sq, kind="stable")
        neighbors = why.neighbors.assign(distance=np.sqrt(sq), sq_distance=sq).iloc[order].reset_index(drop=True)
        index = why.neighbor_values.index[order]
        held = [self.decoded(values) for values in why.neighbor_values.to_numpy()[order]]
        slopes = [np.nan if name in bands else why.coefficients[name] for name in features]
        return replace(
            why,
            values=pd.Series(self.decoded(why.values), features, name="value", dtype=object),
            mean_values=pd.Series(self.decoded(why.mean_values), features, name="mean"),
            coefficients=pd.Series(slopes, features, name="coefficient", dtype=np.float64),
            contributions=pd.Series(own, features, name="contribution"),
            neighbors=neighbors,
            neighbor_values=pd.DataFrame(held, index, features, dtype=object),
            neighbor_contributions=pd.DataFrame(theirs[order], index, features),
        )

    @cached_property
    def _places(self) -> list[int]:
        places = {name: place for place, name in enumerate(self.feature_names_in_)}
        return [places[name] for name in self.features_of_columns]


def bands_of(spectra: pd.DataFrame, axis: SpectralAxis) -> Bands:
    """Divide the channels of preprocessed spectra into bands of neighbours that vary together.

    Neighbouring bands are merged as in Ward's clustering, until merging more would leave less than 90% of the variance
    described by the means of the bands. There are at least ten bands and at most thirty.
    """
    values = spectra[list(axis.columns)].to_numpy(dtype=np.float64)
    n_channels = values.shape[1]
    values = values - values.mean(axis=0)
    ones = np.ones(n_channels - 1)
    neighbours = diags_array([ones, ones], offsets=[-1, 1]).tocsr()
    merges = ward_tree(values.T, connectivity=neighbours)[0]
    total = float(np.square(values).sum())
    for n_bands in range(min(FEWEST, n_channels), min(MOST, n_channels) + 1):
        ranges = _cut(merges, n_channels, n_bands)
        if total - sum(_within(values, *ends) for ends in ranges) >= DESCRIBED * total:
            break
    return Bands(axis, ranges, tuple(map(str, spectra.columns)))


def _cut(merges: Array, n_channels: int, n_bands: int) -> tuple[tuple[int, int], ...]:
    """Return the first and the last channel of each band after the merges that leave ``n_bands``."""
    ends = {channel: (channel, channel) for channel in range(n_channels)}
    for number, (one, other) in enumerate(merges[: n_channels - n_bands].tolist()):
        both = ends.pop(one) + ends.pop(other)
        ends[n_channels + number] = min(both), max(both)
    return tuple(sorted(ends.values()))


def _within(values: Array, first: int, last: int) -> float:
    """Return the squares of the channels of a band around its mean in each row."""
    own = values[:, first : last + 1]
    return float(np.square(own - own.mean(axis=1, keepdims=True)).sum())
