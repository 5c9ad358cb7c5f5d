"""The names of the rows of a table: a column of it, its index, or numbers from 1; and rows found by their names."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from whynear.utils.row_names import is_default, names_of_rows, plain_name
from whynear.utils.text import counted, listed

ROW_NUMBERS = "number of the row in all files"  # the name of the index of some rows of a larger table


def numbered(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the table with its rows numbered from 1, unless its index gives them names.

    >>> numbered(pd.DataFrame({"a": [5, 6]})).index.tolist()
    [1, 2]
    """
    return frame.set_axis(pd.RangeIndex(1, len(frame) + 1), axis=0) if is_default(frame.index) else frame


def numbers_in_file(table: pd.DataFrame | pd.Series) -> NDArray[np.int64]:
    """Return the number of each row in its file or files, from 1; of a whole table they are 1, 2, 3, ...

    >>> numbers_in_file(pd.Series([5, 6], pd.Index([17, 40], name=ROW_NUMBERS))).tolist()
    [17, 40]
    """
    if table.index.name == ROW_NUMBERS:
        return table.index.to_numpy(dtype=np.int64)
    return np.arange(1, len(table) + 1)


def named_rows(frame: pd.DataFrame, index: str | None, source: str) -> pd.DataFrame:
    """Return the table with the names of its rows as index: the values of a column, or the index that it has."""
    if index is None or (index not in frame.columns and index == frame.index.name):
        return frame
    if index not in frame.columns:
        raise ValueError(
            f"{source} has no column {index!r} (--index). Its columns are {listed(list(frame.columns), most=8)}."
        )
    return frame.set_axis(pd.Index([plain_name(value) for value in frame[index]], name=index), axis=0)


def place_of(row: object, frame: pd.DataFrame, source: str) -> int:
    """Return the place, from 0, of the one row with this name, which is a label of the index."""
    names = names_of_rows(frame)
    assert names is not None, "a DataFrame has an index"
    wanted = str(plain_name(row))
    places = [place for place, name in enumerate(names) if str(name) == wanted]
    if len(places) == 1:
        return places[0]
    if isinstance(frame.index, pd.RangeIndex) and frame.index.step == 1:
        raise ValueError(f"{source} has rows {names[0]} to {names[-1]}, got --row {wanted} instead.")
    within = "the index" if frame.index.name is None else f"column {str(frame.index.name)!r}"
    fact = f"{source} has {counted(len(places), 'row', 'rows')} with {wanted!r} in {within}, and one is needed"
    raise ValueError(f"{fact}. Name another row (--row), or give names that differ (--index COLUMN).")
