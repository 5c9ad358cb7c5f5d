"""The first column of a file, where it has no name: numbers or names of the rows, as R and pandas write them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import pandas as pd

from whynear.tables.cells import holds_strings
from whynear.tables.dates import holds_dates
from whynear.tables.decimal_sign import signs_of

Labels = Literal["numbers", "some numbers", "names"]
# Different whole numbers in any order number rows that were sorted or drawn anew, if so many of measured values would
# hardly be different: of 30 values below 120, two are equal in 98 of 100 cases.
FEWEST_SHUFFLED, DENSE = 30, 4
NOTES: dict[Labels, str] = {
    "numbers": "The first column has no name and only numbers the rows: it was left out.",
    "some numbers": "The first column has no name and different whole numbers, as if it numbered rows of a table that "
    "was larger or sorted otherwise: it was left out. To take it, give it a name in the file.",
    "names": "The first column has no name and a different text in every row: it was taken as the names of the rows. "
    "To take it as a column, give it a name in the file.",
}


def labels_in(column: pd.Series) -> Labels | None:
    """Return what a first column without a name holds: numbers of rows, names of rows, or neither.

    >>> [labels_in(pd.Series(values)) for values in ([1, 2, 3], [4, 9, 17], ["Fiat 128", "Volvo 142E"], [7, 7])]
    ['numbers', 'some numbers', 'names', None]
    """
    if pd.api.types.is_integer_dtype(column):
        if not (column.is_unique and column.min() >= 0):
            return None
        if not column.is_monotonic_increasing:
            is_dense = len(column) >= FEWEST_SHUFFLED and column.max() < DENSE * len(column)
            return "some numbers" if is_dense else None
        is_whole = column.iloc[0] <= 1 and column.iloc[-1] - column.iloc[0] == len(column) - 1
        return "numbers" if is_whole else "some numbers"
    if not holds_strings(column) or column.isna().any():
        return None
    names = column.astype(str).str.strip()
    return "names" if names.is_unique and not signs_of(names).fitting and not holds_dates(names) else None


def labels_of_files(found: Iterable[Labels | None]) -> Labels | None:
    """Return what the first columns of several files hold together."""
    kinds = set(found)
    if kinds <= {"numbers", "some numbers"}:
        return "some numbers" if "some numbers" in kinds else "numbers" if kinds else None
    return "names" if kinds == {"names"} else None


def labelled(frame: pd.DataFrame, column: str, labels: Labels) -> pd.DataFrame:
    """Return a table without its labels, which name the rows if they are names."""
    rest = frame.drop(columns=column)
    if labels != "names":
        return rest
    return rest.set_axis(pd.Index([str(name).strip() for name in frame[column]], dtype=object), axis=0)
