"""Cases, queries and payloads from the tables and words of the command line."""

from __future__ import annotations

import csv
import math
import warnings
from collections.abc import Sequence
from typing import Any

import pandas as pd

from whynear.cases.inputs import case_table
from whynear.datasets import open_table
from whynear.utils.arrays import Array
from whynear.utils.text import counted, listed


def table_from(table: str, encoding: str) -> tuple[pd.DataFrame, str]:
    """The table in a file or of a data set, and its name; what was changed while reading it is a warning."""
    opened = open_table(table, encoding)
    for note in opened.notes:
        warnings.warn(f"{opened.source}: {note}", stacklevel=2)
    return opened.frame, opened.source


def features_of(frame: pd.DataFrame, columns: Sequence[str], source: str) -> Array:
    """The columns of a case base as numbers; others do not matter."""
    if missing := [name for name in columns if name not in frame.columns]:
        raise ValueError(
            f"{source} lacks {listed(missing)} of the case base. Its columns are {listed(list(frame.columns))}."
        )
    return case_table(frame[list(columns)], columns, source)


def payloads_of(
    frame: pd.DataFrame, columns: Sequence[str], chosen: list[str] | None, source: str
) -> list[dict[str, Any]]:
    """The chosen columns of each row, or all that are no features, as JSON knows them."""
    names = [name for name in frame.columns if name not in set(columns)] if chosen is None else chosen
    if missing := [name for name in names if name not in frame.columns]:
        raise ValueError(f"{source} has no column {missing[0]!r} for --payload.")
    fields = [[_plain_value(value) for value in frame[name].tolist()] for name in names]
    return [dict(zip(names, row, strict=True)) for row in zip(*fields, strict=True)] or [{} for _ in range(len(frame))]


def row_of(table: str, columns: Sequence[str], row: int, encoding: str) -> Array:
    """One row of a table, counted from 1."""
    frame, source = table_from(table, encoding)
    if not 1 <= row <= len(frame):
        raise ValueError(f"{source} has rows 1 to {len(frame)}, got --row {row} instead.")
    return features_of(frame.iloc[[row - 1]], columns, f"{source}, row {row},")[0]


def named_values(text: str) -> dict[str, str]:
    """A case written as name=value,name=value; a field with a comma stands in double quotes."""
    values: dict[str, str] = {}
    for field in next(csv.reader([text], skipinitialspace=True), []):
        name, sign, value = field.rpartition("=")
        if not sign or not name.strip():
            raise ValueError(f"--values must be written as name=value,name=value, got {field!r} instead.")
        if name.strip() in values:
            raise ValueError(f"--values names {name.strip()!r} twice.")
        values[name.strip()] = value.strip()
    return values


def _plain_value(value: Any) -> Any:
    if value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and not math.isfinite(value)):
        return None
    return value if isinstance(value, bool | int | float | str) else str(value)


def row_names(frame: pd.DataFrame, index: str | None, source: str) -> list[Any]:
    """What names each row: the column ``index``, or without one the row's number."""
    if index is None:
        return list(range(1, len(frame) + 1))
    if index not in frame.columns:
        raise ValueError(
            f"{source} has no column {index!r} (--index). Its columns are {listed(list(frame.columns), most=8)}."
        )
    return [_whole(value) for value in frame[index].tolist()]


def place_of(row: str, frame: pd.DataFrame, index: str | None, source: str) -> int:
    """The place of the one row that is named so."""
    places = [place for place, name in enumerate(row_names(frame, index, source)) if str(name) == row]
    if len(places) == 1:
        return places[0]
    if index is None:
        raise ValueError(f"{source} has rows 1 to {len(frame)}, got --row {row} instead.")
    fact = f"{source} has {counted(len(places), 'row', 'rows')} with {row!r} in column {index!r}, and one is needed"
    raise ValueError(f"{fact}. Name another, or give the number of the row without --index.")


def _whole(value: Any) -> Any:
    """A number that a gap in its column turned from whole to decimal, as it was."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
