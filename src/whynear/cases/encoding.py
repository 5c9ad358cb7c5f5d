"""Rows with categories and missing values as the numbers that a case base stores, and back to the columns of rows."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from whynear.metric import Metric
from whynear.metric.pipeline import FittedPipeline
from whynear.metric.unusual import UnusualValue, unusual_values
from whynear.tables.encoder import TableEncoder
from whynear.utils.columns import check_plain, column_names
from whynear.utils.text import listed


def encoder_of(obj: Metric | BaseEstimator) -> TableEncoder | None:
    """Return the encoder of categories and missing values that a model starts with; None without one."""
    if isinstance(obj, Metric) or not isinstance(obj, BaseEstimator):
        return None
    return FittedPipeline.of(obj).table_encoder


class RowEncoding:
    """The encoder of a case base: what it makes of cases and queries, and sums for the columns of these."""

    def __init__(self, encoder: TableEncoder) -> None:
        self.encoder = encoder
        self.columns = _names(encoder)
        self._model = FittedPipeline(encoder, (), None, self.columns, True, encoder)

    def numbers(self, X: Any, what: str) -> Any:
        """Return the columns made of rows; rows that have these columns already are returned as they are."""
        return X if self._is_encoded(X) else self.encoder.made_of(self._table(X, what), what)

    def query(self, query: Any) -> tuple[Any, tuple[UnusualValue, ...]]:
        """Return the columns made of one case, and its values that are filled in or unknown to the encoder."""
        if isinstance(query, Mapping):
            query = pd.DataFrame([dict(query)])
        elif isinstance(query, pd.Series):
            query = query.to_frame().T
        if self._is_encoded(query):
            return query, ()
        table = self._table(query, "query")
        made = self.encoder.made_of(table, "query")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # given when the columns were made
            found = unusual_values(self._model, table, made)
        return made, tuple(value for row in found for value in row)

    def summed(self, parts: pd.DataFrame) -> pd.DataFrame:
        """Return parts of the columns made, one row per case, summed for each column of the table."""
        return pd.DataFrame(self.encoder.sums(parts), parts.index, list(self.columns))

    def check_same(self, other: TableEncoder | None) -> None:
        """Refuse the encoder of a model that may make other numbers of a row; a model without one is accepted."""
        if other is not None:
            self._check(other, set(_names(other)) == set(self.columns), "Make a new case base with this model.")

    def check_part(self, other: TableEncoder | None) -> None:
        """Refuse the same of a model that may take some of the columns only."""
        if other is not None:
            self._check(other, set(_names(other)) <= set(self.columns), "Use a model learned from the same table.")

    def _check(self, other: TableEncoder, fits: bool, remedy: str) -> None:
        columns = _names(other)
        if not fits:
            raise ValueError(
                f"The model takes the columns {listed(columns)}, and the case base {listed(self.columns)}. {remedy}"
            )
        for name in columns:
            stored, given = self.encoder.way_of(name), other.way_of(name)
            if (fact := next((fact for fact in stored if stored[fact] != given[fact]), None)) is not None:
                raise ValueError(
                    f"The model encodes column {name!r} in another way than the case base ({fact}: {given[fact]}, in "
                    f"the case base {stored[fact]}). {remedy}"
                )

    def _table(self, X: Any, what: str) -> pd.DataFrame:
        """Return rows with the columns of the encoder in their order, by name or by place."""
        if not isinstance(X, pd.DataFrame):
            check_plain(X, what)
            values = np.asarray(X)
            X = values if values.dtype.kind in "fiub" else np.array(X, dtype=object)  # numbers beside text stay numbers
        return self._model.table(X, what)

    def _is_encoded(self, X: Any) -> bool:
        """Return whether rows have the columns made: by name or, of numbers without names, by how many they are."""
        made = tuple(self.encoder.made_)
        if made == self.columns:  # only missing values are filled in, which X may still have
            return False
        names = column_names(X)
        if names is not None:
            return set(names) == set(made)
        values = np.asarray(X)
        return values.dtype.kind in "fiub" and values.shape[-1:] == (len(made),)


def _names(encoder: TableEncoder) -> tuple[str, ...]:
    return tuple(map(str, encoder.feature_names_in_))
