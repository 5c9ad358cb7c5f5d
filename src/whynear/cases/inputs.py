"""What a case base accepts as metric, encoder and cases."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, is_regressor

from whynear.data.encoder import TableEncoder
from whynear.metric import DiagonalMetric, LinearMetric, Metric
from whynear.metric.base import rebuild
from whynear.model.as_metric import as_metric, metric_of_table
from whynear.model.pipeline import FittedPipeline
from whynear.model.unusual import UnusualValue, unusual_values
from whynear.utils.arrays import Array
from whynear.utils.columns import (
    check_columns,
    check_features,
    check_plain,
    column_names,
    default_names,
    is_default,
    names_of_rows,
    numbers,
    reads_as_number,
)
from whynear.utils.text import counted, listed


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

    def check(self, other: TableEncoder | None, *, part: bool = False) -> None:
        """Refuse the encoder of a model that may make other numbers of a row; with ``part`` it may take some columns.

        A model without an encoder is accepted.
        """
        if other is None:
            return
        columns = _names(other)
        remedy = "Use a model learned from the same table." if part else "Make a new case base with this model."
        if not set(columns) <= set(self.columns) or not (part or len(columns) == len(self.columns)):
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


LARGEST_VALUE = float(np.finfo(np.float32).max)
SMALLEST_VALUE = float(np.finfo(np.float32).tiny)
MOST_ROUNDING = 1e-3  # of the spread of a column: larger rounding errors of float32 get a warning


def case_table(X: ArrayLike | pd.DataFrame, columns: Sequence[str], what: str = "X") -> Array:
    """Return the cases as finite float64 numbers, named columns in the order of the base."""
    if isinstance(X, pd.DataFrame):
        names = column_names(X)
        if names is not None and sorted(names) == sorted(columns):
            X = X[list(columns)]
        if all(pd.api.types.is_numeric_dtype(kind) for kind in X.dtypes):
            values = X.to_numpy(dtype=np.float64, na_value=np.nan)
        else:
            values = np.column_stack([numbers(column, what) for _, column in X.items()])
        X = pd.DataFrame(values, columns=X.columns)
    return check_features(X, columns, what)


def row_names(X: Any) -> list[Any] | None:
    """Return the names of the rows of a DataFrame; None where it has only the default index, and for arrays."""
    names = names_of_rows(X)
    return None if names is None or is_default(X.index) else names.tolist()


def query_case(query: Any, columns: Sequence[str]) -> Array:
    """Return one case from its values in order, or from named values in any order."""
    if isinstance(query, pd.DataFrame) and len(query) == 1:
        query = query.iloc[0]
    if isinstance(query, Mapping | pd.Series) and all(isinstance(name, str) for name in list(query.keys())):
        names = tuple(query.keys())
        if sorted(names) == sorted(columns):
            names = tuple(columns)
        check_columns(names, columns, "query")
        query = [_number(query[name], name) for name in names]
    rows = check_features(np.atleast_2d(np.asarray(query)), columns, "query")
    if len(rows) != 1:
        raise ValueError(f"query must be one case, got {len(rows)} instead. Retrieve for one case at a time.")
    return rows[0]


def as_stored(values: Array, columns: Sequence[str]) -> NDArray[np.float32]:
    """Return the cases in float32; refuse values out of its range, warn of columns that lose precision."""
    peaks = np.abs(values).max(axis=0, initial=0.0)
    for column in np.flatnonzero((peaks > LARGEST_VALUE) | ((peaks > 0) & (peaks < SMALLEST_VALUE))).tolist():
        size, cure = ("larger", "Divide") if peaks[column] > 1 else ("smaller", "Multiply")
        raise ValueError(
            f"X reaches {peaks[column]:.3g} in column {columns[column]!r}, {size} than the 32-bit numbers of a case "
            f"base can be. {cure} the column by a constant."
        )
    stored = values.astype("<f4")
    if len(values) > 1:
        # The rounding error of a value is at most half a unit in the last place.
        spread = np.ptp(values, axis=0)
        blurred = np.flatnonzero((spread > 0) & (peaks * 2.0**-24 > MOST_ROUNDING * spread))
        blurred = blurred[(stored[:, blurred] != values[:, blurred]).any(axis=0)]
        if len(blurred):
            shown = ", ".join(repr(columns[column]) for column in blurred[:5])
            warnings.warn(
                f"Cases are stored as 32-bit numbers, which rounds away differences within {shown}. "
                "Subtract a constant from such columns first.",
                stacklevel=3,
            )
    return stored


def checked_ids(ids: ArrayLike) -> NDArray[np.int64]:
    """Return one or several ids as an array."""
    wanted = np.atleast_1d(np.asarray(ids))
    if wanted.ndim != 1 or (wanted.size and wanted.dtype.kind not in "iu"):
        raise ValueError(f"ids must be whole numbers that add returned, got {ids!r} instead.")
    return wanted.astype(np.int64)


def payload_texts(payloads: Sequence[Mapping[str, Any]] | None, n_cases: int) -> list[str | None]:
    """Return the payloads as JSON; refuse, by row, those that JSON does not return unchanged."""
    if payloads is None:
        return [None] * n_cases
    if len(payloads) != n_cases:
        raise ValueError(f"payloads must hold one dict for each of the {n_cases} cases, got {len(payloads)} instead.")
    return [_payload_text(payload, row) for row, payload in enumerate(payloads)]


def case_metric(obj: Metric | BaseEstimator) -> Metric:
    """Return the metric by which cases are compared: that of `as_metric`, of a linear regressor column by column.

    Its map of one row measures the difference of two predictions. Under that, any two cases predicted alike are at
    distance zero, however different they are. Here, the square of what each column of the table adds to that difference
    is summed.
    """
    metric = as_metric(obj)
    of_numbers = isinstance(obj, BaseEstimator) and is_regressor(obj)
    if of_numbers and isinstance(metric, LinearMetric) and len(metric.omega) == 1:
        metric = _column_by_column(metric, FittedPipeline.of(obj).sources)
    return metric_of_table(obj, metric)


def fitting_metric(obj: Metric | BaseEstimator, columns: Sequence[str] | None) -> Metric:
    """Return the metric of a value, learner or Pipeline, with the columns of a base in their order."""
    metric = case_metric(obj)
    if columns is None or metric.feature_names == tuple(columns):
        return metric
    if set(metric.feature_names) == set(columns):
        places = [metric.feature_names.index(name) for name in columns]
        arrays = {name: array[..., places] for name, array in metric.arrays().items()}
        return rebuild(type(metric), columns, arrays)
    if len(metric.feature_names) != len(columns):
        sizes = f"{counted(metric.n_features, 'feature')} and the case base {counted(len(columns), 'column')}"
        raise ValueError(f"The metric has {sizes}. Learn the metric on the columns of the base.")
    if metric.feature_names != tuple(default_names(metric.n_features)):
        check_columns(metric.feature_names, columns, "The metric")
    return rebuild(type(metric), columns, metric.arrays())


def _column_by_column(metric: LinearMetric, sources: Sequence[str]) -> Metric:
    """Return the map with a row for each column of the table; ``sources`` has that of each feature."""
    columns = list(dict.fromkeys(sources))
    if len(columns) == len(sources):
        return DiagonalMetric(np.square(metric.omega[0]), metric.feature_names, metric.scale, metric.units)
    omega = np.where(np.array(sources) == np.array(columns)[:, None], metric.omega[0], 0.0)
    return LinearMetric(omega, metric.feature_names, metric.scale, metric.units)


def _number(value: Any, name: object) -> float:
    if not reads_as_number(value):
        raise ValueError(f"query holds {value!r} in column {str(name)!r}, which is not a number.")
    return np.nan if pd.isna(value) else float(value)


def _payload_text(payload: Any, row: int) -> str | None:
    if not isinstance(payload, Mapping):
        raise TypeError(f"payloads[{row}] must be a dict, got {type(payload).__name__} instead.")
    try:
        text = json.dumps(dict(payload), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"payloads[{row}] cannot be written as JSON: {error}.") from error
    if json.loads(text) != payload:
        raise ValueError(
            f"payloads[{row}] is not returned unchanged by JSON. Use strings as keys and lists, not tuples."
        )
    return text if payload else None
