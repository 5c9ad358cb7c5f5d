"""The names of columns that a user gives, found in a table."""

from __future__ import annotations

import difflib
from collections.abc import Hashable, Iterable

import pandas as pd

from whynear.tables.reading import NamedTable
from whynear.tables.settings import Reading
from whynear.utils.text import listed


def checked_target(table: NamedTable, target: Hashable | None, others: Iterable[str], reading: Reading) -> str:
    """Return the name of the target; refuse a table without one, and names that are no columns of the table."""
    predicted = table.target if target is None else str(target)
    if predicted is None:
        raise ValueError(
            f"{table.source} needs a target: name the column to predict (--target COLUMN). {_columns(table.frame)}"
        )
    dates = [
        given[: given.index("=%")] if given not in table.frame.columns and "=%" in given else given
        for given in reading.date
    ]
    for name in (predicted, *others, *reading.named, *dates):
        if name not in table.frame.columns:
            close = difflib.get_close_matches(name, list(table.frame.columns), n=1)
            guess = f" Did you mean {close[0]!r}?" if close else ""
            raise ValueError(f"{table.source} has no column {name!r}.{guess} {_columns(table.frame)}")
    return predicted


def _columns(frame: pd.DataFrame) -> str:
    return f"Its columns are {listed(list(frame.columns), most=8)}."
