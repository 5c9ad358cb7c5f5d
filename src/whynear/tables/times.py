"""The column with the time of each row, such as the day of a measurement."""

from __future__ import annotations

import numpy as np
import pandas as pd

from whynear.tables.dates import date_formats, days, holds_dates
from whynear.tables.target import is_missing
from whynear.tables.written_numbers import Decimal, numbers_or_texts_of_numbers
from whynear.utils.row_names import plain_name
from whynear.utils.text import counted


def times_of(
    frame: pd.DataFrame, column: str, target: str, source: str, form: str | None = None, decimal: Decimal = "."
) -> pd.Series:
    """Return the time of each row, under the name of its column, which may be that of the index.

    Dates become days since 1970-01-01, of the format ``form`` if it is given; numbers stay what they are. ``decimal``
    is the sign before decimals where a text can be two numbers.
    """
    if column == target:
        raise ValueError(
            f"{source}: column {column!r} is the target, and cannot be the time too. Choose another column (--time)."
        )
    values = frame[column] if column in frame.columns else frame.index.to_series()
    if (missing := is_missing(values)).any():
        rows = counted(int(missing.sum()), "row", "rows")
        raise ValueError(
            f"{source}: column {column!r} holds no time in {rows} (first: row {_row(frame, missing)}). "
            "Fill in what is missing, or remove such rows."
        )
    is_date = form or holds_dates(values)
    times = _dates(values, column, source, form) if is_date else _numbers(values, column, source, decimal)
    if len(np.unique(times)) < 2:
        raise ValueError(
            f"{source}: column {column!r} holds the single time {str(values.iloc[0])!r}; at least two are needed, so "
            "that later rows can be held out. Choose another column (--time)."
        )
    return pd.Series(times, frame.index, name=column)


def _dates(values: pd.Series, column: str, source: str, form: str | None) -> np.ndarray:
    formats = (form,) if form else date_formats(values)
    if len(formats) == 2:
        raise ValueError(
            f"{source}: column {column!r} holds dates such as {str(values.iloc[0])!r}, whose day and month cannot be "
            f"told apart. Give their format (--date '{column}={formats[0]}')."
        )
    found = days(values, formats[0]) if formats else None
    if found is None or np.isnan(found).any():
        raise ValueError(
            f"{source}: column {column!r} holds dates that are not of one format, such as {str(values.iloc[0])!r}. "
            f"Give their format (--date '{column}=%Y%m%d')."
        )
    return found


def _numbers(values: pd.Series, column: str, source: str, decimal: Decimal) -> np.ndarray:
    read = numbers_or_texts_of_numbers(values, decimal)
    if (wrong := ~np.isfinite(read)).any():
        first = str(values.iloc[int(wrong.argmax())])
        raise ValueError(
            f"{source}: column {column!r} holds {first!r} in row {_row(values, wrong)}, which is neither a date nor a "
            f"number. Choose another column (--time), or give the format of its dates (--date '{column}=%Y%m%d')."
        )
    return read


def _row(rows: pd.DataFrame | pd.Series, wrong: np.ndarray) -> object:
    """Return the name of the first row that is wrong."""
    return plain_name(rows.index[int(wrong.argmax())])
