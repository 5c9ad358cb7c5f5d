"""Values of a column found among the categories of a model, however both are written."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import pandas as pd

from whynear.tables.cells import spelling
from whynear.utils.columns import as_numbers, is_number


def as_known_categories(column: pd.Series, categories: Collection[str]) -> pd.Series:
    """Return a column with its values written as the categories of a model; other numbers are written without ``.0``.

    Texts may have blanks around them. A whole number is a float where its column has gaps, and what is text beside
    other texts is a number or a truth value without them.

    >>> as_known_categories(pd.Series([1.0, None, 7.0]), ["1", "2", "X"]).tolist()
    ['1', nan, '7']
    """
    known = set(categories)
    different = column if pd.api.types.is_object_dtype(column) else column.unique()  # objects may have no hash
    unlike = {value for value in different if _is_value(value) and str(value) not in known}
    if not unlike:
        return column
    meant: dict[Any, list[str]] = {}
    for name in sorted(known):
        meant.setdefault(_meaning(name), []).append(name)
    written = {value: _written(value, known, meant) for value in unlike}
    cells = [written.get(value, value) if _is_value(value) else value for value in column]
    return pd.Series(cells, index=column.index, name=column.name, dtype=object)


def _is_value(value: Any) -> bool:
    return isinstance(value, str) or (is_number(value) and value == value)


def _written(value: Any, known: Collection[str], meant: dict[Any, list[str]]) -> Any:
    """Return the category that a value is, if it is a single one; otherwise a text as it is and a number in short."""
    short = str(value) if isinstance(value, bool | np.bool_) else spelling(value)
    same = [short] if short in known else meant.get(_meaning(short), [])
    if len(same) == 1:
        return same[0]
    return value if isinstance(value, str) else short


def _meaning(text: str) -> object:
    """Return the number or the truth value that a text is; any other text itself."""
    if text.casefold() in ("true", "false"):
        return text.casefold()
    numbers = as_numbers(pd.Series([text], dtype=object), text=True)
    return text if numbers is None else float(numbers[0])
