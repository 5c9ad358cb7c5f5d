"""The names of the rows of a table: a column of it, its index, or numbers from 1; and rows found by their names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from whynear.utils.row_names import is_default, names_of_rows, plain_name
from whynear.utils.text import counted, listed

ROW_NUMBERS = "number of the row in all files"  # the name of the index of some rows of a larger table


def numbered(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the table with its rows numbered from 1, unless its index gives them names.

    A row whose label is missing is called by its number.

    >>> numbered(pd.DataFrame({"a": [5, 6]})).index.tolist()
    [1, 2]
    """
    numbers = pd.RangeIndex(1, len(frame) + 1)
    if is_default(frame.index):
        return frame.set_axis(numbers, axis=0)
    if isinstance(frame.index, pd.MultiIndex) or not frame.index.hasnans:
        return frame
    return frame.set_axis(names_in(pd.Series(frame.index, numbers, name=frame.index.name)), axis=0)


def numbers_in_file(table: pd.DataFrame | pd.Series) -> NDArray[np.int64]:
    """Return the number of each row in its file or files, from 1; of a whole table they are 1, 2, 3, ...

    >>> numbers_in_file(pd.Series([5, 6], pd.Index([17, 40], name=ROW_NUMBERS))).tolist()
    [17, 40]
    """
    if table.index.name == ROW_NUMBERS:
        return table.index.to_numpy(dtype=np.int64)
    return np.arange(1, len(table) + 1)


def named_rows(frame: pd.DataFrame, index: str | None, source: str) -> pd.DataFrame:
    """Return the table with the names of its rows as index: the values of a column, or the index that it has.

    A row without a value there is called by its number, as in ``"row 5"``.
    """
    if index is None or (index not in frame.columns and index == frame.index.name):
        return frame
    if index not in frame.columns:
        raise ValueError(
            f"{source} has no column {index!r} (--index). Its columns are {listed(list(frame.columns), most=8)}."
        )
    return frame.set_axis(names_in(frame[index]), axis=0)


def names_in(column: pd.Series) -> pd.Index[Any]:
    """Return the names that a column gives to rows; one without a value is called by its label before.

    >>> names_in(pd.Series(["P1", None], index=[1, 2])).tolist()
    ['P1', 'row 2']
    """
    named = zip(column.index, column, _is_unnamed(column), strict=True)
    names = [f"row {plain_name(label)}" if gone else plain_name(value) for label, value, gone in named]
    return pd.Index(names, name=column.name)


def note_on_unnamed(column: pd.Series) -> list[str]:
    """Return the caveats on rows without a name in the column of names.

    >>> note_on_unnamed(pd.Series(["P1", None], index=[1, 2], name="id"))
    ["Column 'id' names all rows but 1, which is called by its number: 'row 2'."]
    """
    gone = _is_unnamed(column)
    if not gone.any():
        return []
    first = f"'row {plain_name(column.index[int(gone.argmax())])}'"
    how = "is called by its number:" if gone.sum() == 1 else "are called by their numbers, the first of them"
    return [f"{_source_of_names(column.name)} names all rows but {gone.sum():,}, which {how} {first}."]


def note_on_repeated_names(names: pd.Index[Any], grouped_by: str | None = None) -> list[str]:
    """Return the caveats on names that several rows share; ``grouped_by`` is the column of the groups.

    >>> note_on_repeated_names(pd.Index(["P1", "P2", "P1"], name="id"))[0][:57]
    "Column 'id' names several rows alike: 'P1' names 2 of the"
    """
    counts = pd.Series(names.map(str)).value_counts(sort=False)
    repeated = counts[counts > 1]
    if not len(repeated):
        return []
    more = f", and {counted(len(repeated) - 1, 'more name repeats', 'more names repeat')}" if len(repeated) > 1 else ""
    is_grouped = names.name is None or str(names.name) == grouped_by
    hint = "" if is_grouped else f" If the rows of one name belong together, use --group {str(names.name)!r}."
    return [
        f"{_source_of_names(names.name)} names several rows alike: {repeated.index[0]!r} names "
        f"{repeated.iloc[0]:,} of them{more}. A single row is asked for by a name that no other row has.{hint}"
    ]


def _source_of_names(name: object) -> str:
    return "The index" if name is None else f"Column {str(name)!r}"


def _is_unnamed(column: pd.Series) -> NDArray[np.bool_]:
    blank = np.array([isinstance(value, str) and not value.strip() for value in column], dtype=bool)
    return column.isna().to_numpy() | blank


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
