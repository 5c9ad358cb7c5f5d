"""Columns of few whole numbers that may be codes of categories, such as wards 1, 2, 3 and 7."""

from __future__ import annotations

import numpy as np
import pandas as pd

from whynear.tables.cells import spelling
from whynear.utils.arrays import Array
from whynear.utils.text import joined

FEWEST_VALUES, MOST_VALUES = 3, 8  # of a column of codes
LEAST_SHARE = 0.02  # of the rows, that have each value
FEWEST_ROWS = 3
SOME = 50  # values that most columns of measurements have
MOST_NAMED = 5  # columns


def caveats_of_possible_codes(X: pd.DataFrame) -> list[str]:
    """Return a caveat on the columns of few frequent whole numbers with unequal steps between them.

    >>> caveats_of_possible_codes(pd.DataFrame({"ward": [1, 2, 3, 7] * 5, "grade": [1, 2, 3, 4] * 5}))[0][:59]
    "Column 'ward' holds the numbers 1, 2, 3 and 7 only, and was"
    """
    found = {str(name): values for name, column in X.select_dtypes("number").items() if (values := _codes(column))}
    if not found:
        return []
    named = list(found)[:MOST_NAMED]
    more = f" and {len(found) - MOST_NAMED:,} more columns" if len(found) > MOST_NAMED else ""
    options = " ".join(f"--category {name!r}" for name in named)
    if len(found) == 1:
        held = f"Column {named[0]!r} holds the numbers {joined(found[named[0]])} only, and was taken as a quantity"
    else:
        each = [f"{name!r} ({', '.join(found[name])})" for name in named]
        listed = f"{', '.join(each)}{more}" if more else joined(each)
        held = f"Columns {listed} hold few whole numbers each, and were taken as quantities"
    return [f"{held}. If they are codes of categories, take them as such ({options})."]


def _codes(column: pd.Series) -> list[str]:
    """Return the values of a column that may be codes; none if it has other values, or equal steps between them."""
    values = column.dropna()
    if values.dtype.kind not in "iuf" or not _are_whole(values.iloc[:SOME].to_numpy(dtype=float)):
        return []
    counts = values.value_counts().sort_index()
    if not FEWEST_VALUES <= len(counts) <= MOST_VALUES or counts.min() < max(FEWEST_ROWS, LEAST_SHARE * len(column)):
        return []
    numbers = counts.index.to_numpy(dtype=float)
    unequal = _are_whole(numbers) and len(set(np.diff(numbers))) > 1
    return [spelling(number) for number in counts.index] if unequal else []


def _are_whole(numbers: Array) -> bool:
    return bool(np.isfinite(numbers).all()) and not np.mod(numbers, 1).any()
