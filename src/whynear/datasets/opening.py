"""Open a table given as a DataFrame, a file, or the name of a data set."""

import warnings
from dataclasses import replace
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from whynear.datasets.load import load
from whynear.tables.decimal_sign import NOTHING_KNOWN, Expected
from whynear.tables.model_columns import ModelColumns
from whynear.tables.reading import NamedTable, read_file
from whynear.tables.rows import numbered
from whynear.tables.text_encoding import AUTO
from whynear.utils.columns import check_dense

Table = pd.DataFrame | str | PathLike[str] | Any  # a table of polars, pyarrow or another library of this kind


def open_table(
    table: Table, encoding: str = AUTO, *, strict: bool = False, expected: Expected = NOTHING_KNOWN
) -> NamedTable:
    """Return the table of a DataFrame, the path of a file (CSV, TSV, Parquet, Excel) or the name of a data set.

    The index of the table holds the names of its rows: that of the DataFrame, unless it is the default one, or their
    numbers, from 1. A table of another library, such as polars or pyarrow, is converted. With ``strict``, text files
    must be UTF-8 if no encoding is named. ``expected`` is how the tables of a model are written.

    Examples
    --------
    >>> opened = open_table("iris")
    >>> opened.frame.shape, opened.target, opened.frame.index[0]
    ((150, 5), 'target', 1)
    """
    table = _as_pandas(table)
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
        read = read_file(path, "utf-8" if strict and encoding == AUTO else encoding, expected)
        return replace(read, frame=numbered(read.frame))
    data = load(str(table))
    labels = data.y if data.target_names is None else np.array(data.target_names)[data.y]
    name = "target" if "target" not in data.columns else "class of the case"
    return NamedTable(data.name, numbered(data.X[data.columns].assign(**{name: labels})), target=name)


def _as_pandas(table: Any) -> Any:
    """Return a table of another library as a DataFrame: by its own conversion, or by the Arrow interface."""
    if isinstance(table, pd.DataFrame | str | PathLike):
        return table
    table = table.collect() if hasattr(table, "collect") and not hasattr(table, "to_pandas") else table  # lazy frames
    try:
        if hasattr(table, "to_pandas"):
            return table.to_pandas()
        if hasattr(table, "__arrow_c_stream__"):
            return import_module("pyarrow").table(table).to_pandas()
    except ImportError as error:
        raise ImportError(
            f"A {type(table).__name__} needs pyarrow to be converted; it is not installed. "
            'Type: pip install "whynear[parquet]"'
        ) from error
    return table


def open_for(columns: ModelColumns, table: Table, encoding: str = AUTO) -> NamedTable:
    """Return a table as a model with these columns takes it; warn of what was changed while reading it."""
    opened = columns.read(open_table(table, encoding, expected=columns.expected))
    for note in opened.notes:
        warnings.warn(f"{opened.source}: {note}", stacklevel=3)
    return opened
