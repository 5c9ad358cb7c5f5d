"""What a case base takes in: cases, queries, payloads and metrics, each fault named."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from whynear.metric import Metric, as_metric
from whynear.metric.base import rebuild
from whynear.utils.arrays import Array
from whynear.utils.columns import check_columns, check_features, column_names, numbers, reads_as_number

LARGEST = float(np.finfo(np.float32).max)
SMALLEST = float(np.finfo(np.float32).tiny)
BLURRED = 1e-3  # of a column's spread: what rounding to float32 may take away without a warning


def case_table(X: ArrayLike | pd.DataFrame, columns: Sequence[str], what: str = "X") -> Array:
    """The cases as finite float64 numbers, named columns brought into the order of the base."""
    if isinstance(X, pd.DataFrame):
        names = column_names(X)
        if names is not None and sorted(names) == sorted(columns):
            X = X[list(columns)]
        X = pd.DataFrame(_numbers(X, what), columns=X.columns)
    return check_features(X, columns, what)


def query_case(query: Any, columns: Sequence[str]) -> Array:
    """One case, from its values in order or from anything that names them."""
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
        raise ValueError(f"query must be one case, got {len(rows)} instead. Ask for one after the other.")
    return rows[0]


def as_stored(values: Array, columns: Sequence[str]) -> NDArray[np.float32]:
    """The cases in float32, refused where that cannot hold them, with a warning where it blurs a column."""
    peaks = np.abs(values).max(axis=0, initial=0.0)
    for column in np.flatnonzero((peaks > LARGEST) | ((peaks > 0) & (peaks < SMALLEST))).tolist():
        size, cure = ("larger", "Divide") if peaks[column] > 1 else ("smaller", "Multiply")
        raise ValueError(
            f"X reaches {peaks[column]:.3g} in column {columns[column]!r}, {size} than the 32-bit numbers of a case "
            f"base can be. {cure} the column by a constant."
        )
    stored = values.astype("<f4")
    if len(values) > 1:
        # A value is off by at most half a unit in the last place.
        spread = np.ptp(values, axis=0)
        blurred = np.flatnonzero((spread > 0) & (peaks * 2.0**-24 > BLURRED * spread))
        blurred = blurred[(stored[:, blurred] != values[:, blurred]).any(axis=0)]
        if len(blurred):
            shown = ", ".join(repr(columns[column]) for column in blurred[:5])
            warnings.warn(
                f"Cases are kept as 32-bit numbers, which blurs the differences within {shown}. "
                "Subtract a constant from such columns first.",
                stacklevel=3,
            )
    return stored


def checked_ids(ids: ArrayLike) -> NDArray[np.int64]:
    """The ids of stored cases, one or several."""
    wanted = np.atleast_1d(np.asarray(ids))
    if wanted.ndim != 1 or (wanted.size and wanted.dtype.kind not in "iu"):
        raise ValueError(f"ids must be whole numbers that add returned, got {ids!r} instead.")
    return wanted.astype(np.int64)


def payload_texts(payloads: Sequence[Mapping[str, Any]] | None, n_cases: int) -> list[str | None]:
    """The payloads as JSON, refused by row where JSON would not give them back as they are."""
    if payloads is None:
        return [None] * n_cases
    if len(payloads) != n_cases:
        raise ValueError(f"payloads must hold one dict for each of the {n_cases} cases, got {len(payloads)} instead.")
    return [_payload_text(payload, row) for row, payload in enumerate(payloads)]


def fitting_metric(obj: Metric | BaseEstimator, columns: Sequence[str] | None) -> Metric:
    """The metric of a value, learner or Pipeline, stated in the columns of a base in their order."""
    metric = as_metric(obj)
    if columns is None or metric.feature_names == tuple(columns):
        return metric
    if set(metric.feature_names) == set(columns):
        places = [metric.feature_names.index(name) for name in columns]
        arrays = {name: array[..., places] for name, array in metric.arrays().items()}
        return rebuild(type(metric), columns, arrays)
    if len(metric.feature_names) != len(columns):
        raise ValueError(
            f"The metric has {metric.n_features} features and the case base {len(columns)} columns. "
            "Learn the metric on the columns of the base."
        )
    if not _unnamed(metric.feature_names):
        check_columns(metric.feature_names, columns, "The metric")
    return rebuild(type(metric), columns, metric.arrays())


def _unnamed(names: Sequence[str]) -> bool:
    return tuple(names) == tuple(f"x{place}" for place in range(len(names)))


def _numbers(X: pd.DataFrame, what: str) -> Array:
    if all(pd.api.types.is_numeric_dtype(kind) for kind in X.dtypes):
        return X.to_numpy(dtype=np.float64, na_value=np.nan)
    return np.column_stack([numbers(column, what) for _, column in X.items()])


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
            f"payloads[{row}] would not come back from JSON as it is. Use strings as keys and lists, not tuples."
        )
    return text if payload else None
