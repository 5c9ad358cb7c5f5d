"""A table from whatever names it, and a table with its target beside it."""

from __future__ import annotations

import warnings
from dataclasses import replace
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from whynear.data.catalog import load
from whynear.data.numbers import NOTHING_KNOWN, Expected
from whynear.data.reading import ModelColumns, NamedTable, read_file
from whynear.data.rows import numbered
from whynear.data.text_files import AUTO
from whynear.utils.columns import check_dense, default_names, is_default

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


def is_vector(target: Any, table: Any) -> bool:
    """Return whether a target is its values, not the name of a column of the table.

    >>> is_vector([0, 1], None), is_vector("class", None), is_vector(3, None)
    (True, False, False)
    """
    if isinstance(target, tuple):  # the name of a column that has several levels is a tuple
        return target not in getattr(table, "columns", ())
    return pd.api.types.is_list_like(target, allow_sets=False) and not isinstance(target, dict)


def table_with_target(X: Any, y: Any) -> NamedTable:
    """Return features and the values of the target as one table, with the names of columns, target and rows.

    Columns of an array are named x0, x1, ..., and a target without a name is named ``target``. Rows are named by the
    index of X or of y; two indexes that name rows must agree.
    """
    if isinstance(X, str | PathLike):
        raise TypeError(
            f"The target of {str(X)!r} must be the name of one of its columns, got {type(y).__name__} instead. "
            "Give the values of a target with the features as a DataFrame or an array: wn.study(X, y)."
        )
    features, values = _features(X), _values(y)
    if len(values) != len(features):
        raise ValueError(
            f"y must have one value for each of the {len(features):,} rows of X, got {len(values):,} instead."
            + (" A column of X is given by its name: wn.study(X, 'name')." if len(values) == 1 else "")
        )
    if isinstance(features, pd.DataFrame):
        features = features.set_axis(_row_names(features.index, values.index), axis=0)
    opened = open_table(features)
    name = "class of the case" if "target" in opened.frame else "target"
    if values.name is not None and (name := str(values.name)) in opened.frame:
        raise ValueError(
            f"X has a column {name!r}, which is also the name of y. If it is the target, give X without it, or its "
            f"name alone: wn.study(X, {name!r}). If not, rename y."
        )
    held = pd.concat([opened.frame, values.set_axis(opened.frame.index).rename(name)], axis=1)
    return replace(opened, frame=held, target=name)


def _features(X: Any) -> Any:
    """Return an array as a DataFrame; anything that has columns is left to `open_table`."""
    check_dense(X)
    if np.ma.isMaskedArray(X):
        raise TypeError("X is a masked array, whose mask would be ignored. Use X.filled(numpy.nan).")
    if hasattr(X, "columns"):
        return X
    array = np.asarray(X)
    if array.ndim != 2:
        raise ValueError(f"X must have rows and columns, got {array.ndim} dimensions instead.")
    return pd.DataFrame(array, columns=default_names(array.shape[1])).infer_objects()


def _values(y: Any) -> pd.Series[Any]:
    if np.ma.isMaskedArray(y):
        raise TypeError("y is a masked array, whose mask would be ignored. Remove the masked rows first.")
    if isinstance(y, pd.Series):
        return y
    if isinstance(y, pd.DataFrame) and y.shape[1] == 1:
        return y.iloc[:, 0]
    array = np.asarray(y if not isinstance(y, list | tuple) else pd.Series(y))
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(f"y must hold one value for each row, got an array of shape {array.shape} instead.")
    return pd.Series(array, name=getattr(y, "name", None)).infer_objects()


def _row_names(of_features: pd.Index[Any], of_values: pd.Index[Any]) -> pd.Index[Any]:
    if of_features.equals(of_values) or (is_default(of_values) and not _reordered(of_features, of_values)):
        return of_features
    if is_default(of_features) and not _reordered(of_features, of_values):
        return of_values
    fact = "the same rows in another order" if _reordered(of_features, of_values) else "other rows"
    raise ValueError(
        f"The index of y names {fact} than that of X. Select them with y.loc[X.index], or, if row by row they belong "
        "together, give the values alone: y.to_numpy()."
    )


def _reordered(first: pd.Index[Any], second: pd.Index[Any]) -> bool:
    return not first.equals(second) and first.sort_values().equals(second.sort_values())
