"""What single cells of a table hold."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from whynear.utils.columns import as_numbers, is_number

MISSING_WORDS = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "null", "NULL")  # in every column of a text file
DASHES = frozenset({"-", "--", "---", "–", "—"})
MISSING_SIGNS = frozenset({*MISSING_WORDS, *DASHES, "?", "??", ".", "..", "n.a.", "N.A.", "#NV", "#NUM!", "#DIV/0!"})


def text_counts(column: pd.Series) -> dict[str, int]:
    """Return the different texts of a column in the order in which they occur, each with its number of rows."""
    if isinstance(column.dtype, pd.StringDtype):
        counts = column.value_counts(sort=False)
        return dict(zip(counts.index.tolist(), counts.tolist(), strict=True))
    if pd.api.types.is_numeric_dtype(column):
        return {}
    return Counter(value for value in column if isinstance(value, str))


def as_text(column: pd.Series) -> pd.Series:
    """Return values as text, whole numbers with all their digits and without a point: 1.0 is '1'."""
    texts = [None if gone else _text(value) for value, gone in zip(column, column.isna(), strict=True)]
    return pd.Series(texts, index=column.index, name=column.name, dtype=object)


def is_code(column: pd.Series, codes: tuple[str, ...]) -> pd.Series:
    """Return where a column holds one of the codes: the same text, or the same number."""
    where = pd.Series(False, index=column.index)
    if not codes or isinstance(column.dtype, pd.CategoricalDtype):
        return where
    if found := [text for text in text_counts(column) if text.strip() in codes]:
        where |= column.isin(found)
    numbers = as_numbers(column)
    for code in codes if numbers is not None else ():
        try:
            where |= numbers == float(code)
        except ValueError:
            continue
    return where


def missing_signs(column: pd.Series) -> tuple[str, ...]:
    """Return the signs for missing values in a column; none where other values are signs too, such as '+' and '-'."""
    texts = {text.strip() for text in text_counts(column)}
    others = texts - MISSING_SIGNS
    if others and not any(letter.isalnum() for text in others for letter in text):
        return ()
    return tuple(sorted(texts & MISSING_SIGNS))


def holds_strings(column: pd.Series) -> bool:
    """Return whether a column that is neither numeric nor categorical holds text."""
    if pd.api.types.is_numeric_dtype(column) or isinstance(column.dtype, pd.CategoricalDtype):
        return False
    if isinstance(column.dtype, pd.StringDtype):
        return bool(column.notna().any())
    return any(isinstance(value, str) for value in column)


def spelling(value: Any) -> str:
    """Return a value as text, a whole number without a point."""
    if isinstance(value, str):
        return value.strip()
    is_whole = isinstance(value, int) or float(value).is_integer()  # an int may be too large for a float
    return str(int(value)) if is_whole else str(value)


def _text(value: Any) -> str:
    if isinstance(value, bool | np.bool_) or not is_number(value):
        return str(value).strip()
    whole = spelling(value)
    return whole if whole.lstrip("-").isdigit() else repr(float(value))


def is_missing(column: pd.Series) -> NDArray[np.bool_]:
    """Return which rows have no target."""
    return column.isna().to_numpy() | (column.astype(str).str.strip() == "").to_numpy(dtype=bool, na_value=True)
