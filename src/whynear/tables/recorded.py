"""A table read as the one that a model was fitted to."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from datetime import datetime

import numpy as np
import pandas as pd

from whynear.tables.cells import MISSING_SIGNS, as_text, holds_strings, is_code
from whynear.tables.dates import ISO, days, is_iso
from whynear.tables.written_numbers import Decimal, numbers_or_missing
from whynear.utils.text import counted

Codes = Mapping[str, tuple[str, ...]]  # that stand for missing values, by column
CATEGORY, NUMBER, NUMBER_OR_MISSING, DATE = "category", "number", "number-or-missing", "date"


def as_recorded(frame: pd.DataFrame, readings: Mapping[str, str], missing: Codes) -> pd.DataFrame:
    """Return a table read as the table that a model was fitted to; what cannot be read so stays as it is.

    ``readings`` and ``missing``, by column, are those of a `TableEncoder`.
    """
    changed = {}
    for name in [name for name in frame.columns if name in readings or name in missing]:
        kind, _, how = readings.get(name, "").partition(" ")
        codes = missing.get(name, ())
        read = _recorded(frame[name].mask(is_code(frame[name], codes)), kind, how)
        changed[name] = read.mask(is_code(read, codes))
    return frame.assign(**changed) if changed else frame


def _recorded(column: pd.Series, kind: str, how: str) -> pd.Series:
    if kind == CATEGORY:
        return as_text(column)
    if kind == DATE:
        return _dates(column, how)
    if kind in (NUMBER, NUMBER_OR_MISSING) and holds_strings(column):
        cleaned = column.mask(is_code(column, tuple(MISSING_SIGNS)))
        decimal: Decimal = "," if how == "," else "."
        written, is_odd = numbers_or_missing(cleaned, decimal)
        if is_odd.any() and kind == NUMBER:
            return column
        if is_odd.any():
            warnings.warn(not_numbers_note(column, is_odd), stacklevel=3)
            return cleaned.mask(is_odd) if written is None else pd.Series(written.values, index=column.index)
        return column if written is None else pd.Series(written.values, index=column.index)
    return column


def _dates(column: pd.Series, how: str) -> pd.Series:
    """Return dates of a format, or as ISO 8601 writes them, as days since 1970-01-01; these stay what they are."""
    if pd.api.types.is_numeric_dtype(column) and _are_days(column, how):
        return column
    if (values := days(column, how)) is not None:
        return pd.Series(values, index=column.index)
    others = column.map(is_iso)
    written, rest = days(column.where(others), ISO), days(column.mask(others), how)
    return column if written is None or rest is None else pd.Series(np.where(others, written, rest), column.index)


def _are_days(column: pd.Series, how: str) -> bool:
    """Return whether numbers are days already: dates such as 20200131 have as many digits as their format."""
    n_digits = len(datetime(2000, 12, 31).strftime(how))
    return how == ISO or bool(set(how) & set("-/. ")) or bool((column.abs() < 10 ** (n_digits - 1)).any())


def not_numbers_note(column: pd.Series, is_odd: pd.Series) -> str:
    """Return the notes on values that are taken as missing because they are not numbers."""
    values = counted(int(is_odd.sum()), "value that is not a number was", "values that are not numbers were")
    return f"Column {str(column.name)!r}: {values} taken as missing, such as {column[is_odd].iloc[0][:30]!r}."
