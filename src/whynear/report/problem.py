"""From a table of a stranger to a classification problem, every difficulty named."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from whynear.datasets import bin_target, load, read_table
from whynear.metric.inputs import check_finite, check_magnitudes

Table = pd.DataFrame | str | PathLike[str]

# A numeric target with more distinct values than this is a measurement, not a class.
MOST_CLASSES = 50


@dataclass(frozen=True)
class Problem:
    """Numeric features, a class for each row, and what a reader must know about them."""

    source: str
    target: str
    X: pd.DataFrame
    y: NDArray[Any]
    caveats: tuple[str, ...]


def problem_from(
    table: Table,
    target: str | None = None,
    *,
    drop: Sequence[str] = (),
    bins: int | None = None,
    encoding: str = "utf-8",
) -> Problem:
    """Make a problem of a table: a DataFrame, the path of a file, or the name of a data set."""
    source, frame, caveats, known_target = _read(table, encoding)
    target = target or known_target
    if target is None:
        raise ValueError(f"{source} needs a target: name the column to predict (--target COLUMN). {_columns(frame)}")
    for name in (target, *drop):
        if name not in frame.columns:
            close = difflib.get_close_matches(name, list(frame.columns), n=1)
            guess = f" Did you mean {close[0]!r}?" if close else ""
            raise ValueError(f"{source} has no column {name!r}.{guess} {_columns(frame)}")
    y = _classes(frame[target], source, bins)
    X = _numbers(frame.drop(columns=[target, *drop]), source)
    kept, left_out = _classes_of_two(y)
    X, y = X[kept], y[kept]
    if len(names := np.unique(y)) < 2:
        held = f"the single class {str(names[0])!r}" if len(names) else "no class with two rows"
        raise ValueError(f"{source}: column {target!r} holds {held}; at least two classes are needed.")
    return Problem(source, target, X, y, (*caveats, *left_out, *_remarks(X, y)))


def _read(table: Table, encoding: str) -> tuple[str, pd.DataFrame, list[str], str | None]:
    """Name, content and notes of a table, and its target where that is known."""
    if isinstance(table, pd.DataFrame):
        names = table.columns.map(str)
        if not names.is_unique:
            raise ValueError(f"The table has the column {names[names.duplicated()][0]!r} twice. Rename one of them.")
        return "The table", table.set_axis(names, axis=1), [], None
    path = Path(table)
    if path.suffix or path.exists():
        frame, notes = read_table(path, encoding)
        return path.name, frame, notes, None
    data = load(str(table))
    labels = data.y if data.target_names is None else np.array(data.target_names)[data.y]
    name = "target" if "target" not in data.columns else "class of the case"
    return data.name, data.X[data.columns].assign(**{name: labels}), [], name


def _classes(column: pd.Series, source: str, bins: int | None) -> NDArray[Any]:
    missing = np.flatnonzero(column.isna())
    if len(missing):
        rows = ", ".join(map(str, missing[:10] + 1)) + (", ..." if len(missing) > 10 else "")
        raise ValueError(
            f"{source}: {len(missing)} values of the target {column.name!r} are missing, in rows {rows} (counting "
            "from 1 below the header). Fill them in or remove these rows."
        )
    if bins is not None:
        if not pd.api.types.is_numeric_dtype(column):
            raise ValueError(f"bins={bins} needs a numeric target, got text in column {column.name!r} instead.")
        return np.array([f"bin {code + 1} of {bins}" for code in bin_target(column.to_numpy(), bins)])
    if pd.api.types.is_float_dtype(column) and (distinct := column.nunique()) > MOST_CLASSES:
        raise ValueError(
            f"{source}: the target {column.name!r} is a measurement with {distinct} different values. "
            "Sort it into classes of equal size (--bins 3), or choose another target."
        )
    return column.astype(str).to_numpy(dtype=str)


def _numbers(frame: pd.DataFrame, source: str) -> pd.DataFrame:
    if frame.shape[1] == 0:
        raise ValueError(f"{source} has no columns beside the target; at least one feature is needed.")
    if odd := [name for name in frame.columns if not _is_numeric(frame[name])]:
        shown = ", ".join(f"{name!r} ({_kind(frame[name])})" for name in odd[:5])
        more = f" and {len(odd) - 5} more" if len(odd) > 5 else ""
        raise ValueError(
            f"{source}: {len(odd)} of {frame.shape[1]} columns are not numeric: {shown}{more}. "
            f"Leave them out (--drop {odd[0]!r}) or code them as numbers."
        )
    X = frame.astype(np.float64)
    check_finite(X.to_numpy(), list(X.columns), source)
    check_magnitudes(X.to_numpy(), list(X.columns), source, by_column=True)
    return X


def _is_numeric(column: pd.Series) -> bool:
    return pd.api.types.is_bool_dtype(column) or (
        pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_complex_dtype(column)
    )


def _kind(column: pd.Series) -> str:
    if pd.api.types.is_datetime64_any_dtype(column):
        return "dates"
    present = column.dropna()
    return f"text, such as {str(present.iloc[0])[:30]!r}" if len(present) else "empty"


def _classes_of_two(y: NDArray[Any]) -> tuple[NDArray[np.bool_], list[str]]:
    """Rows of classes that can be held out and learned from, and a caveat where others were left out."""
    classes, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    small = classes[counts < 2]
    if not len(small):
        return np.ones(len(y), dtype=bool), []
    named = ", ".join(repr(str(name)) for name in small[:5]) + (", ..." if len(small) > 5 else "")
    caveat = f"Classes with a single row cannot be held out and were left out: {named}. Collect more rows of them."
    return counts[codes] >= 2, [caveat]


def _remarks(X: pd.DataFrame, y: NDArray[Any]) -> list[str]:
    remarks = []
    if constant := [str(name) for name in X.columns if X[name].nunique() < 2]:
        named = ", ".join(repr(name) for name in constant[:5]) + (", ..." if len(constant) > 5 else "")
        remarks.append(f"Columns that never change carry no information and count as irrelevant: {named}.")
    if copies := int(X.duplicated().sum()):
        remarks.append(f"{copies} rows repeat the features of an earlier row, which makes held-out results optimistic.")
        if contradicting := _contradicting(X, y):
            remarks.append(f"{contradicting} rows share all features with a row of another class: no metric can tell.")
    if len(X) < 50:
        remarks.append(f"With {len(X)} rows every figure here is uncertain.")
    return remarks


def _contradicting(X: pd.DataFrame, y: NDArray[Any]) -> int:
    """Number of rows that have an equal row of another class."""
    _, row = np.unique(X.to_numpy() + 0.0, axis=0, return_inverse=True)
    labels = pd.Series(y).groupby(row.ravel()).transform("nunique")
    return int((labels > 1).sum())


def _columns(frame: pd.DataFrame) -> str:
    shown = ", ".join(repr(name) for name in frame.columns[:8])
    more = f" and {frame.shape[1] - 8} more" if frame.shape[1] > 8 else ""
    return f"Its columns are {shown}{more}."
