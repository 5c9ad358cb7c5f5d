"""From a table of a stranger to a classification problem, every difficulty named."""

import difflib
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from whynear.datasets import load, read_table
from whynear.report.features import numeric_features
from whynear.report.target import classes_of
from whynear.report.wording import counted, listed

Table = pd.DataFrame | str | PathLike[str]


@dataclass(frozen=True, eq=False)
class Problem:
    """Numeric features, a class for each row, and what a reader must know about them."""

    source: str
    target: str
    X: pd.DataFrame
    y: NDArray[Any]
    caveats: tuple[str, ...]


def problem_from(
    table: Table,
    target: Hashable | None = None,
    *,
    drop: Hashable | Iterable[Hashable] = (),
    bins: int | None = None,
    encoding: str = "utf-8",
) -> Problem:
    """Make a problem of a table: a DataFrame, the path of a file, or the name of a data set.

    ``target`` and ``drop`` name columns, ``drop`` one or several; names that are no text, such as 3, count as '3'.
    """
    source, frame, caveats, known_target = _read(table, encoding)
    predicted = known_target if target is None else str(target)
    if predicted is None:
        raise ValueError(f"{source} needs a target: name the column to predict (--target COLUMN). {_columns(frame)}")
    left_out = [str(name) for name in (drop if isinstance(drop, Iterable) and not isinstance(drop, str) else [drop])]
    for name in (predicted, *left_out):
        _check_known(name, frame, source)
    if len(frame) < 4:
        rows = counted(len(frame), "row", "rows")
        raise ValueError(f"{source} has {rows}; two classes with two rows each are needed at least. Add rows.")
    y, merged = classes_of(frame[predicted], source, bins)
    X, empty = numeric_features(frame.drop(columns=[predicted, *left_out]), source)
    numbering = _row_numbers(X)
    kept, small = _classes_of_two(y)
    X, y = X[kept], y[kept]
    if len(names := np.unique(y)) < 2:
        held = f"the single class {str(names[0])!r}" if len(names) else "no class with two rows"
        raise ValueError(
            f"{source}: column {predicted!r} holds {held}; at least two classes are needed. Choose another target."
        )
    y.setflags(write=False)
    return Problem(source, predicted, X, y, (*caveats, *merged, *numbering, *small, *_remarks(X, y, empty)))


def _read(table: Table, encoding: str) -> tuple[str, pd.DataFrame, list[str], str | None]:
    """Name, content and notes of a table, and its target where that is known."""
    if isinstance(table, pd.DataFrame):
        names = table.columns.map(str)
        if not names.is_unique:
            raise ValueError(f"The table has the column {names[names.duplicated()][0]!r} twice. Rename one of them.")
        return "The table", table.set_axis(names, axis=1), [], None
    if not isinstance(table, str | PathLike):
        raise TypeError(
            "table must be a DataFrame, the path of a file or the name of a data set, "
            f"got {type(table).__name__} instead. Name its columns: pandas.DataFrame(table, columns=[...])."
        )
    path = Path(table)
    if path.suffix or path.exists():
        frame, notes = read_table(path, encoding)
        return path.name, frame, notes, None
    data = load(str(table))
    labels = data.y if data.target_names is None else np.array(data.target_names)[data.y]
    name = "target" if "target" not in data.columns else "class of the case"
    return data.name, data.X[data.columns].assign(**{name: labels}), [], name


def _check_known(name: str, frame: pd.DataFrame, source: str) -> None:
    if name not in frame.columns:
        close = difflib.get_close_matches(name, list(frame.columns), n=1)
        guess = f" Did you mean {close[0]!r}?" if close else ""
        raise ValueError(f"{source} has no column {name!r}.{guess} {_columns(frame)}")


def _row_numbers(X: pd.DataFrame) -> list[str]:
    """Caveats for columns that hold 0, 1, 2, ... or 1, 2, 3, ... from the first row to the last."""
    rows = np.arange(len(X))[:, None]
    numbering = (X.to_numpy() == rows).all(axis=0) | (X.to_numpy() == rows + 1).all(axis=0)
    return [
        f"Column {name!r} looks like a row number, which says nothing about a case: leave it out with --drop {name!r}."
        for name in X.columns[numbering]
    ]


def _classes_of_two(y: NDArray[Any]) -> tuple[NDArray[np.bool_], list[str]]:
    """Rows of classes that can be held out and learned from, and a caveat where others were left out."""
    classes, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    small = classes[counts < 2]
    caveat = f"Classes with a single row cannot be held out and were left out: {listed(list(small))}."
    return counts[codes] >= 2, [caveat] if len(small) else []


def _remarks(X: pd.DataFrame, y: NDArray[Any], empty: list[str]) -> list[str]:
    remarks = [f"Columns without any value count as irrelevant: {listed(empty)}."] if empty else []
    if constant := list(X.columns[np.ptp(X.to_numpy(), axis=0) == 0].drop(empty)):
        remarks.append(f"Columns that never change carry no information and count as irrelevant: {listed(constant)}.")
    if copies := int(X.duplicated().sum()):
        repeat = counted(copies, "row repeats", "rows repeat")
        remarks.append(f"{repeat} the features of an earlier row, which makes held-out results optimistic.")
        if contradicting := _contradicting(X, y):
            remarks.append(
                f"{contradicting:,} rows share all features with a row of another class: no metric can tell."
            )
    if len(X) < 50:
        remarks.append(f"With {len(X)} rows every figure here is uncertain.")
    return remarks


def _contradicting(X: pd.DataFrame, y: NDArray[Any]) -> int:
    """Number of rows that have an equal row of another class."""
    _, row = np.unique(X.to_numpy() + 0.0, axis=0, return_inverse=True)
    labels = pd.Series(y).groupby(row.ravel()).transform("nunique")
    return int((labels > 1).sum())


def _columns(frame: pd.DataFrame) -> str:
    return f"Its columns are {listed(list(frame.columns), most=8)}."
