"""Columns of a stranger's table as numbers, or named for what they are instead."""

import math
import re
from datetime import date, timedelta
from decimal import Decimal
from numbers import Complex, Real
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from whynear.metric.inputs import check_finite, check_magnitudes

_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+([eE][+-]?\d+)?")


def numeric_features(frame: pd.DataFrame, source: str) -> tuple[pd.DataFrame, list[str]]:
    """The columns as finite numbers, and the names of those without any value, which become zeros."""
    if frame.shape[1] == 0:
        raise ValueError(f"{source} has no columns beside the target; at least one feature is needed.")
    names = list(frame.columns)
    empty = list(frame.columns[frame.isna().all()])
    columns = {name: as_numbers(frame[name]) for name in names} | {name: np.zeros(len(frame)) for name in empty}
    if odd := [name for name in names if columns[name] is None]:
        raise ValueError(_not_numeric(frame, odd, source))
    X = pd.DataFrame(columns).set_axis(frame.index)
    check_finite(X.to_numpy(), names, source)
    check_magnitudes(X.to_numpy(), names, source, by_column=True)
    return X, empty


def as_numbers(column: pd.Series) -> NDArray[np.float64] | None:
    """The column as float64, missing values as NaN; None if it holds anything but real numbers."""
    if pd.api.types.is_object_dtype(column):
        missing = column.isna().to_numpy()
        if not all(_is_number(value) for value in column[~missing]):
            return None
        return np.array([math.nan if gone else _float(value) for value, gone in zip(column, missing, strict=True)])
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_complex_dtype(column):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    return None


def kind_of(column: pd.Series) -> str:
    """What a column holds that is no number, with the first such value and its row."""
    row, value = _first_odd(column)
    return f"{_kind(column, value)}, such as {str(value)[:30]!r} in row {row + 1}"


def _is_number(value: object) -> bool:
    return isinstance(value, Real | np.bool_ | Decimal)


def _float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:  # refused later, as any other infinity
        return math.inf


def _first_odd(column: pd.Series) -> tuple[int, Any]:
    """Row and value of the first entry that is no number; of the first entry where all could be read as numbers."""
    present = column.notna().to_numpy()
    odd = present & [not _is_number(value) for value in column]
    if (text := odd & [isinstance(value, str) for value in column]).any():
        odd &= ~text | pd.to_numeric(column.where(text).astype(object), errors="coerce").isna().to_numpy()
    row = int(np.argmax(odd if odd.any() else present))
    return row, column.iloc[row]


def _kind(column: pd.Series, value: object) -> str:
    if isinstance(column.dtype, pd.CategoricalDtype):
        return "categories"
    if isinstance(value, str):
        return "text" if math.isnan(pd.to_numeric(value, errors="coerce")) else "numbers written as text"
    for kind, name in ((date | np.datetime64, "dates"), (timedelta | np.timedelta64, "durations")):
        if isinstance(value, kind):
            return name
    return "complex numbers" if isinstance(value, Complex) else f"values of type {type(value).__name__}"


def _not_numeric(frame: pd.DataFrame, odd: list[str], source: str) -> str:
    shown = ", ".join(f"{name!r} ({kind_of(frame[name])})" for name in odd[:5])
    more = f" and {len(odd) - 5} more" if len(odd) > 5 else ""
    first = (_first_odd(frame[name])[1] for name in odd)
    commas = [value for value in first if isinstance(value, str) and _DECIMAL_COMMA.fullmatch(value.strip())]
    point = commas[0].strip().replace(",", ".") if commas else ""
    hint = f"Values such as {commas[0]!r} look like decimal commas: write {point!r} instead. " if commas else ""
    return (
        f"{source}: {len(odd)} of {frame.shape[1]} columns {'is' if len(odd) == 1 else 'are'} not numeric: "
        f"{shown}{more}, counting rows from 1 below the header. {hint}"
        f"Correct the values, code them as numbers, or leave the columns out (--drop {odd[0]!r})."
    )
