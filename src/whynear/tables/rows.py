"""Rows of a table found by their names in a column, or by their numbers."""

from __future__ import annotations

from typing import Any

import pandas as pd

from whynear.utils.text import counted, listed


def row_names(frame: pd.DataFrame, index: str | None, source: str) -> list[Any]:
    """Return the name of each row: its value in the column ``index``; without one its number, from 1."""
    if index is None:
        return list(range(1, len(frame) + 1))
    if index not in frame.columns:
        raise ValueError(
            f"{source} has no column {index!r} (--index). Its columns are {listed(list(frame.columns), most=8)}."
        )
    return [_whole(value) for value in frame[index].tolist()]


def place_of(row: object, frame: pd.DataFrame, index: str | None, source: str) -> int:
    """Return the place, from 0, of the one row with this name or number."""
    row = str(row)
    places = [place for place, name in enumerate(row_names(frame, index, source)) if str(name) == row]
    if len(places) == 1:
        return places[0]
    if index is None:
        raise ValueError(f"{source} has rows 1 to {len(frame)}, got --row {row} instead.")
    fact = f"{source} has {counted(len(places), 'row', 'rows')} with {row!r} in column {index!r}, and one is needed"
    raise ValueError(f"{fact}. Name another, or give the number of the row without --index.")


def _whole(value: Any) -> Any:
    """Return a float that is a whole number as int: pandas makes floats of integers where some are missing."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
