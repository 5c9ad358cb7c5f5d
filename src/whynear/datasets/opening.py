"""Open a table given as a DataFrame, a file, or the name of a data set."""

import warnings
from os import PathLike
from pathlib import Path

import numpy as np
import pandas as pd

from whynear.datasets.load import load
from whynear.tables.reading import NamedTable, read_table
from whynear.tables.rows import numbered
from whynear.utils.columns import check_dense

Table = pd.DataFrame | str | PathLike[str]


def open_table(table: Table, encoding: str = "utf-8") -> NamedTable:
    """Return the table of a DataFrame, the path of a file (CSV, TSV, Parquet, Excel) or the name of a data set.

    The index of the table holds the names of its rows: that of the DataFrame, unless it is the default one, or their
    numbers, from 1.
    """
    if isinstance(table, pd.DataFrame):
        names = table.columns.map(str)
        if not names.is_unique:
            raise ValueError(f"The table has the column {names[names.duplicated()][0]!r} twice. Rename one of them.")
        return NamedTable("The table", numbered(table.set_axis(names, axis=1)))
    check_dense(table, "table")
    if not isinstance(table, str | PathLike):
        raise TypeError(
            "table must be a DataFrame, the path of a file or the name of a data set, "
            f"got {type(table).__name__} instead. Name its columns: pandas.DataFrame(table, columns=[...]), "
            "or give a study the values of its target: wn.study(X, y)."
        )
    path = Path(table)
    if path.suffix or path.exists():
        frame, notes = read_table(path, encoding)
        return NamedTable(path.name, numbered(frame), tuple(notes))
    data = load(str(table))
    labels = data.y if data.target_names is None else np.array(data.target_names)[data.y]
    name = "target" if "target" not in data.columns else "class of the case"
    return NamedTable(data.name, numbered(data.X[data.columns].assign(**{name: labels})), target=name)


def frame_and_source(table: Table, encoding: str = "utf-8") -> tuple[pd.DataFrame, str]:
    """Return a table and its name in messages; warn of what was changed while reading it."""
    opened = open_table(table, encoding)
    for note in opened.notes:
        warnings.warn(f"{opened.source}: {note}", stacklevel=3)
    return opened.frame, opened.source
