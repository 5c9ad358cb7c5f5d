"""Columns of a table as numbers; errors name the columns that hold something else, and what."""

import math
import re
from datetime import date, timedelta
from numbers import Complex
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from whynear.tables.encoder import TableEncoder, holds_text
from whynear.utils.columns import as_numbers, check_finite, check_magnitudes, is_number

Categories = Literal["onehot"] | None
Impute = Literal["median", "most_frequent"] | None
MOST_CATEGORIES = 50  # of a column; with more it is taken for names

_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}\b|\d{1,2}[./]\d{1,2}[./]\d{4}\b")
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+([eE][+-]?\d+)?")


def features_of(
    frame: pd.DataFrame, source: str, categories: Categories = None, impute: Impute = None
) -> tuple[pd.DataFrame, TableEncoder | None, list[str]]:
    """Return the features as numbers, the encoder a model needs for the rest (None if not needed), and notes.

    With ``categories`` text is kept for the encoder, with ``impute`` missing values are. Without ``categories`` numbers
    written as text are converted; a note names each such column.
    """
    if frame.shape[1] == 0:
        raise ValueError(f"{source} has no columns beside the target; at least one feature is needed.")
    names = list(frame.columns)
    columns = {name: _feature(frame[name], categories) for name in names}
    notes = [
        f"Column {name!r} holds numbers written as text: taken as numbers."
        for name, values in columns.items()
        if values is not None and values.dtype.kind == "f" and holds_text(frame[name])
    ]
    if odd := [name for name in names if columns[name] is None]:
        raise ValueError(_not_numeric(frame, odd, source, categories))
    X = pd.DataFrame(columns).set_axis(frame.index)
    text = [name for name in names if holds_text(X[name])]
    for name in text:
        _check_categories(X[name], source)
    partly = X.columns[X.isna().any() & X.notna().any()]
    _check_numbers(X.drop(columns=text), X.columns.difference(partly), source, impute)
    if impute is None and len(gaps := partly.intersection(text)):
        raise ValueError(_missing(X[gaps], source))
    needed = text or len(partly) or X.isna().any(axis=None)
    return X, TableEncoder(categories, impute) if needed else None, notes


def _feature(column: pd.Series, categories: Categories) -> NDArray[Any] | None:
    """Return a column as numbers, or with ``categories`` as text if it holds text; None if it is neither."""
    if column.isna().all():
        return np.full(len(column), np.nan)
    values = as_numbers(column)
    if values is None and categories and holds_text(column) and not _holds_dates(column):
        texts = column.astype(object).where(column.notna(), None)
        return np.array([None if value is None else str(value).strip() for value in texts], dtype=object)
    if values is None and not categories:
        values = as_numbers(column, text=True)
    return None if values is None else values + 0.0  # -0.0 is 0.0


def _holds_dates(column: pd.Series) -> bool:
    return all(_DATE.match(value.strip()) is not None for value in column.dropna() if isinstance(value, str))


def _check_numbers(X: pd.DataFrame, whole: pd.Index, source: str, impute: Impute) -> None:
    values, names = X.to_numpy(), list(X.columns)
    if impute is None and (gaps := X.columns.difference(whole, sort=False)).size:
        raise ValueError(_missing(X[gaps], source))
    known = np.where(np.isnan(values), 0.0, values)
    check_finite(known, names, source)
    check_magnitudes(known, names, source, by_column=True)


def _missing(X: pd.DataFrame, source: str) -> str:
    counts = X.isna().sum().sort_values(ascending=False, kind="stable")
    shown = ", ".join(f"{count} in column {name!r}" for name, count in counts.head(5).items())
    more = f" and in {len(counts) - 5} more columns" if len(counts) > 5 else ""
    return (
        f"{source} contains NaN: {shown}{more}. Fill them in (--impute median), or leave out these "
        f"columns (--drop {counts.index[0]!r}) or rows."
    )


def _check_categories(column: pd.Series, source: str) -> None:
    if (distinct := column.nunique()) > MOST_CATEGORIES:
        raise ValueError(
            f"{source}: column {column.name!r} holds {distinct:,} different texts, such as "
            f"{column.dropna().iloc[0][:30]!r}: too many to be categories. Leave it out (--drop {column.name!r}), "
            "or merge some of them."
        )


def kind_of(column: pd.Series) -> str:
    """Return what a column holds instead of numbers, with the first such value and its row."""
    row, value = _first_odd(column)
    return f"{_kind(column, value)}, such as {str(value)[:30]!r} in row {row + 1}"


def _first_odd(column: pd.Series) -> tuple[int, Any]:
    """Return row and value of the first entry that is no number; of the first entry if all can be read as numbers."""
    present = column.notna().to_numpy()
    odd = present & [not is_number(value) for value in column]
    if (text := odd & [isinstance(value, str) for value in column]).any():
        odd &= ~text | pd.to_numeric(column.where(text).astype(object), errors="coerce").isna().to_numpy()
    row = int(np.argmax(odd if odd.any() else present))
    return row, column.iloc[row]


def _kind(column: pd.Series, value: object) -> str:
    if isinstance(column.dtype, pd.CategoricalDtype):
        return "categories"
    if isinstance(value, str):
        if _DATE.match(value.strip()):
            return "dates written as text"
        return "text" if math.isnan(pd.to_numeric(value, errors="coerce")) else "numbers written as text"
    for kind, name in ((date | np.datetime64, "dates"), (timedelta | np.timedelta64, "durations")):
        if isinstance(value, kind):
            return name
    return "complex numbers" if isinstance(value, Complex) else f"values of type {type(value).__name__}"


def _not_numeric(frame: pd.DataFrame, odd: list[str], source: str, categories: Categories) -> str:
    shown = ", ".join(f"{name!r} ({kind_of(frame[name])})" for name in odd[:5])
    more = f" and {len(odd) - 5} more" if len(odd) > 5 else ""
    first = (_first_odd(frame[name])[1] for name in odd)
    commas = [value for value in first if isinstance(value, str) and _DECIMAL_COMMA.fullmatch(value.strip())]
    point = commas[0].strip().replace(",", ".") if commas else ""
    hint = f"Values such as {commas[0]!r} look like decimal commas: write {point!r} instead. " if commas else ""
    coding = ", code them as numbers" if categories else ", take them as categories (--categories onehot)"
    return (
        f"{source}: {len(odd)} of {frame.shape[1]} columns {'is' if len(odd) == 1 else 'are'} not numeric: "
        f"{shown}{more}, counting rows from 1 below the header. {hint}"
        f"Correct the values{coding}, or leave the columns out (--drop {odd[0]!r})."
    )
