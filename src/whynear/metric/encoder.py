"""What an encoder at the start of a model offers: the columns it makes of a table, and the way back."""

from __future__ import annotations

from typing import Any, Protocol

import pandas as pd
from numpy.typing import ArrayLike

from whynear.utils.arrays import Array


class Summing(Protocol):
    """The way back from columns to features: columns of one feature are summed."""

    @property
    def feature_names_in_(self) -> Any:
        """The features: for an encoder, the columns of its table."""

    def sums(self, values: ArrayLike) -> Array:
        """Return values of the columns (the last axis) summed for each feature."""

    def decoded(self, values: ArrayLike) -> list[Any]:
        """Return one case in the features."""


class Encoder(Summing, Protocol):
    """An encoder of a table into columns of numbers: a `TableEncoder`, a `ColumnEncoder` or a `SpectralEncoder`."""

    made_: list[str]
    sources_: list[str]

    def transform(self, table: pd.DataFrame, /) -> pd.DataFrame:
        """Return the columns made of a table."""

    @property
    def text_columns(self) -> tuple[str, ...]:
        """The columns that hold categories."""

    @property
    def filled_columns(self) -> tuple[str, ...]:
        """The columns in which missing values are filled in."""

    @property
    def known_categories(self) -> dict[str, list[Any]]:
        """The training categories of each column that holds categories."""
