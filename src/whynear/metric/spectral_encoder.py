"""The steps of a model that preprocess spectra, with the encoder of its table, as one encoder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from whynear.spectra import SpectralTransformer
from whynear.tables.encoder import TableEncoder
from whynear.utils.arrays import Array
from whynear.utils.columns import check_finite, numbers


class SpectralEncoder:
    """The columns in which the metric behind preprocessed spectra is stated: channels keep their names.

    Preprocessing need not be linear, so the metric is one of the preprocessed channels, not of those of the table. It
    has the methods of a `TableEncoder` that `FittedPipeline` uses.

    Attributes
    ----------
    table_encoder : TableEncoder or None
        The encoder before the preprocessing.
    preprocessing : tuple of SpectralTransformer
        The steps.
    feature_names_in_ : tuple of str
        The columns of the table.
    made_, sources_ : list of str
        The columns made, and for each the column of the table it comes from.
    """

    def __init__(
        self,
        table_encoder: TableEncoder | None,
        preprocessing: Sequence[SpectralTransformer],
        columns: Sequence[str],
        following: Any,
    ) -> None:
        self.table_encoder, self.preprocessing = table_encoder, tuple(preprocessing)
        self.feature_names_in_ = tuple(columns)
        self.made_ = list(columns) if table_encoder is None else list(table_encoder.made_)
        self.sources_ = list(columns) if table_encoder is None else list(table_encoder.sources_)
        self._named = hasattr(preprocessing[0], "feature_names_in_")
        self._output_named = hasattr(following, "feature_names_in_")

    def transform(self, table: pd.DataFrame) -> Any:
        """Return the columns made of a table, as the step behind takes them: with names if it was fitted with any."""
        made = self._before(table)
        rows: Any = made if self._named else made.to_numpy()
        for step in self.preprocessing:
            rows = step.transform(rows)
        values = np.asarray(rows)
        return pd.DataFrame(values, made.index, self.made_) if self._output_named else values

    def sums(self, values: ArrayLike) -> Array:
        """Return values of the columns made (the last axis) summed for each column of the table."""
        return np.asarray(values) if self.table_encoder is None else self.table_encoder.sums(values)

    def decoded(self, values: ArrayLike) -> list[Any]:
        """Return one encoded case in the columns of the table; channels stay preprocessed."""
        if self.table_encoder is not None:
            return self.table_encoder.decoded(values)
        return [float(value) for value in np.asarray(values)]

    @property
    def channels(self) -> tuple[str, ...]:
        """The columns that the preprocessing changes."""
        changed = {int(place) for step in self.preprocessing for place in step.channels_}
        return tuple(self.made_[place] for place in sorted(changed))

    @property
    def text_columns(self) -> tuple[str, ...]:
        """The columns that hold categories."""
        return () if self.table_encoder is None else self.table_encoder.text_columns

    @property
    def filled_columns(self) -> tuple[str, ...]:
        """The columns in which missing values are filled in."""
        return () if self.table_encoder is None else self.table_encoder.filled_columns

    @property
    def known_categories(self) -> dict[str, list[Any]]:
        """The training categories of each column that holds categories."""
        return {} if self.table_encoder is None else self.table_encoder.known_categories

    def _before(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return the columns before the preprocessing, as finite numbers."""
        if self.table_encoder is not None:
            return self.table_encoder.transform(table)
        made = pd.DataFrame({name: numbers(table[name], "X") for name in table}, index=table.index)
        check_finite(made.to_numpy(), self.feature_names_in_, "X")
        return made


def split_spectra(estimators: Sequence[Any], columns: Sequence[str]) -> tuple[SpectralEncoder, int] | None:
    """Return the encoder made of the first steps of a model and their number; None if none preprocesses spectra."""
    table_encoder = estimators[0] if isinstance(estimators[0], TableEncoder) else None
    first = 0 if table_encoder is None else 1
    last = first
    while last < len(estimators) - 1 and isinstance(estimators[last], SpectralTransformer):
        last += 1
    if last == first:
        return None
    return SpectralEncoder(table_encoder, estimators[first:last], columns, estimators[last]), last
