"""From a table to features and a target; errors and caveats name the columns and rows."""

from __future__ import annotations

import difflib
import re
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone

from whynear.data.caveats import filled_in, remarks_on, unchanging
from whynear.data.cells import is_missing
from whynear.data.column_reading import DATE, ColumnReader
from whynear.data.column_types import features_of, target_of
from whynear.data.encoder import TableEncoder, holds_text, is_ordered
from whynear.data.options import Reading, Splitting, TableRefused
from whynear.data.reading import NamedTable
from whynear.data.rows import (
    Separation,
    TimeOrder,
    groups_of,
    in_two_groups,
    named_rows,
    note_on_repeated_names,
    note_on_unnamed,
    numbers_in_file,
    times_of,
    weights_of,
)
from whynear.data.spectra import SpectralAxis, spectral_axis
from whynear.utils.text import counted, listed


@dataclass(frozen=True)
class WholeTable:
    """A table that does not fit in memory: the number of its rows, and what its target holds."""

    n_rows: int
    classes: tuple[tuple[str, int], ...] = ()
    range: tuple[float, float] | None = None


_NAMES_ROWS = re.compile(r"(^|[\W_])(id|key|index|no|nr|number|row)$", re.IGNORECASE)


def preview(X: pd.DataFrame, readings: Mapping[str, str] = MappingProxyType({})) -> pd.DataFrame:
    """Return one row per feature: its name, what it holds (``kind``), its missing values and its distinct ones."""
    dates = {name for name, how in readings.items() if how.startswith(DATE)}
    kinds = ["dates" if str(name) in dates else kind_of_column(X[name]) for name in X]
    missing, distinct = [int(X[name].isna().sum()) for name in X], [X[name].nunique() for name in X]
    return pd.DataFrame({"column": list(map(str, X)), "kind": kinds, "missing": missing, "distinct": distinct})


def kind_of_column(column: pd.Series) -> str:
    """Return what a feature holds: empty, constant, (ordered) categories, yes or no, whole numbers, or numbers."""
    known = column.dropna()
    if not len(known):
        return "empty"
    if known.nunique() == 1:
        return "constant"
    if holds_text(known):
        return "ordered categories" if is_ordered(known) else "categories"
    values = known.to_numpy(dtype=np.float64)
    if np.isin(values, (0.0, 1.0)).all():
        return "yes or no"
    return "whole numbers" if (values == np.round(values)).all() else "numbers"


def row_names(X: pd.DataFrame) -> list[str]:
    """Return the columns that number the rows: 0, 1, ... or 1, 2, ...; or unique whole numbers named like 'id'."""
    rows, found = numbers_in_file(X) - 1, []
    for name in X:
        values = None if holds_text(X[name]) else X[name].to_numpy()
        if values is None or not np.isfinite(values).all():
            continue
        counts_up = (values == rows).all() or (values == rows + 1).all()
        different = (values == np.round(values)).all() and X[name].is_unique
        if counts_up or (different and _NAMES_ROWS.search(str(name)) is not None):
            found.append(str(name))
    return found


def summary(columns: pd.DataFrame, n_rows: int) -> str:
    """Return the preview in a sentence."""
    counts = columns["kind"].value_counts()
    kinds = ", ".join(f"{kind}: {count}" for kind, count in counts.items())
    missing = int(columns["missing"].sum())
    in_columns = counted(int((columns["missing"] > 0).sum()), "column")
    gaps = f"; {counted(missing, 'value')} missing in {in_columns}" if missing else ""
    return f"{counted(n_rows, 'row')}, {counted(len(columns), 'feature')} ({kinds}){gaps}"


def checked_target(table: NamedTable, target: Hashable | None, others: Iterable[str], reading: Reading) -> str:
    """Return the name of the target; refuse a table without one, and names that are no columns of the table."""
    predicted = table.target if target is None else str(target)
    columns = f"Its columns are {listed(list(table.frame.columns), most=8)}."
    if predicted is None:
        raise ValueError(f"{table.source} needs a target: name the column to predict (--target COLUMN). {columns}")
    dates = [
        given[: given.index("=%")] if given not in table.frame.columns and "=%" in given else given
        for given in reading.date
    ]
    for name in (predicted, *others, *reading.named, *dates):
        if name not in table.frame.columns:
            close = difflib.get_close_matches(name, list(table.frame.columns), n=1)
            guess = f" Did you mean {close[0]!r}?" if close else ""
            raise ValueError(f"{table.source} has no column {name!r}.{guess} {columns}")
    return predicted


TargetKind = Literal["classes", "numbers"]


@dataclass(frozen=True, eq=False)
class Problem:
    """Features, a target for each row, and caveats about them.

    Attributes
    ----------
    source, target : str
        Where the table comes from, and the column to predict.
    X : DataFrame
        The features: numbers; with an ``encoder`` also text and missing values.
    y : ndarray
        The class of each row, or the number to predict.
    caveats : tuple of str
        What limits the results, and what was changed in the table.
    encoder : TableEncoder or None
        The first step that a model of this table needs, not fitted; None where all features are numbers.
    columns : DataFrame
        What each feature holds: ``column``, ``kind``, ``missing``, ``distinct``.
    decisions : tuple of str
        The caveats on how the table was read and what was done with its columns.
    groups : Series or None
        The number of the group of each row, under the name of its column; rows of a group are held out together.
    axis : SpectralAxis or None
        The columns that are the channels of a spectrum, if there is one.
    times : Series or None
        The time of each row, under the name of its column; held-out rows are later than those learned from.
    weights : Series or None
        How much each row counts when models are fitted, under the name of its column.
    whole : WholeTable or None
        The table of which X holds only some rows, because it does not fit in memory.
    """

    source: str
    target: str
    X: pd.DataFrame
    y: NDArray[Any]
    caveats: tuple[str, ...]
    encoder: TableEncoder | None
    columns: pd.DataFrame
    decisions: tuple[str, ...] = ()
    groups: pd.Series | None = None
    axis: SpectralAxis | None = None
    times: pd.Series | None = None
    weights: pd.Series | None = None
    whole: WholeTable | None = None

    @property
    def separation(self) -> Separation | None:
        """The groups or the times of the rows, by which rows may be held out; None if any may."""
        return self.groups if self.times is None else TimeOrder(self.times.to_numpy(), str(self.times.name))

    def rows(self, chosen: NDArray[np.intp]) -> Problem:
        """Return the problem of some of the rows, at positions from 0."""
        of_rows = {"groups": self.groups, "times": self.times, "weights": self.weights}
        parts: dict[str, Any] = {name: None if part is None else part.iloc[chosen] for name, part in of_rows.items()}
        return replace(self, X=self.X.iloc[chosen], y=self.y[chosen], whole=None, **parts)

    @property
    def kind(self) -> TargetKind:
        """Whether the target holds classes or numbers."""
        return kind_of_target(self.y)

    @property
    def classes(self) -> tuple[tuple[str, int], ...]:
        """Each class with its number of rows; empty where the target holds numbers."""
        if self.kind == "numbers":
            return ()
        if self.whole is not None and self.whole.classes:
            return self.whole.classes
        names, counts = np.unique(self.y, return_counts=True)
        return tuple((str(name), int(count)) for name, count in zip(names, counts, strict=True))

    @property
    def range(self) -> tuple[float, float] | None:
        """The smallest and the largest number of the target; None where it holds classes."""
        if self.kind == "classes":
            return None
        return self.whole.range if self.whole is not None else (float(self.y.min()), float(self.y.max()))

    @property
    def summary(self) -> str:
        """How many rows and columns there are, what the columns hold and what is missing, in a sentence."""
        return summary(self.columns, len(self.X) if self.whole is None else self.whole.n_rows)

    def numbers(self) -> pd.DataFrame:
        """Return the features as numbers: categories and missing values encoded as in a model of all rows."""
        return self.X if self.encoder is None else clone(self.encoder).fit_transform(self.X, self.y)


def kind_of_target(y: NDArray[Any]) -> TargetKind:
    """Return what a target holds: numbers if its dtype is float, otherwise classes.

    >>> kind_of_target(np.array(["a", "b"])), kind_of_target(np.array([0.5, 1.5]))
    ('classes', 'numbers')
    """
    return "numbers" if y.dtype.kind == "f" else "classes"


def problem_from(
    table: NamedTable,
    target: Hashable | None = None,
    reading: Reading | None = None,
    splitting: Splitting | None = None,
) -> Problem:
    """Make a problem of a table that `whynear.data.opening.open_table` opened.

    ``target`` is the name of a column; a name that is not text, such as 3, is taken as '3'.
    """
    reading, splitting = reading or Reading(), splitting or Splitting()
    categories = None if reading.strict and reading.categories == "auto" else reading.categories
    impute = None if reading.strict and reading.impute == "auto" else reading.impute
    source, group, time, weight = table.source, splitting.group, splitting.time, reading.weight
    given = dict.fromkeys(name for name in (group, time, weight) if name is not None)
    about_rows = [name for name in given if name != table.frame.index.name]
    frame, predicted, unnamed = _taken_columns(table, target, reading, about_rows)
    decimal, of_table = table.decided()
    reader = ColumnReader(source, reading, decimal)
    changed = {}
    for name in frame.columns.difference(about_rows, sort=False):
        column = frame[name]
        read = reader.read_class(column) if name == predicted else reader.read(column)
        if read is not column:
            changed[name] = read
    frame = frame.assign(**changed)
    no_target = []
    if reading.drop_missing_target and (gone := is_missing(frame[predicted])).any():
        frame, rows = frame[~gone], counted(int(gone.sum()), "row has no value", "rows have no value")
        no_target = [f"{rows} of the target and {'was' if gone.sum() == 1 else 'were'} left out."]
    if len(frame) < 4:
        rows = counted(len(frame), "row")
        raise ValueError(f"{source} has {rows}; two classes with two rows each are needed at least. Add rows.")
    y, merged = target_of(frame[predicted], source, reading.bins, predicted in reading.number)
    form = next((given.removeprefix(f"{time}=") for given in reading.date if given.startswith(f"{time}=%")), None)
    about: dict[str, Any] = {
        "groups": None if group is None else groups_of(frame, group, predicted, source),
        "times": None if time is None else times_of(frame, time, predicted, source, form, decimal),
        "weights": None if weight is None else weights_of(frame, weight, predicted, source, decimal),
    }
    inputs = frame.drop(columns=[predicted, *about_rows])
    codes = reader.codes(inputs.columns)
    features = features_of(inputs, source, categories, impute, reading.category, reader.readings, codes)
    aside, numbered = _row_numbers(features.X, source, reading.number, reading.strict, categories == "auto")
    X = features.X.drop(columns=aside)
    axis, on_axis = spectral_axis(X, source, reading.spectra)
    if axis is not None and reading.spectra is None and reading.strict:
        raise TableRefused(
            f"{source}: the {len(axis.columns)} columns {axis.columns[0]!r} to {axis.columns[-1]!r} look like a "
            "spectrum. Take them as one (--spectra), or as separate features (--no-spectra).",
            spectra=True,
        )
    kept, small = _learnable_rows(y, about["groups"], predicted, source)
    X, y = X[kept], y[kept]
    about = {name: None if part is None else part[kept] for name, part in about.items()}
    y.setflags(write=False)
    how_read = (*of_table, *reader.notes(), *features.notes, *numbered, *on_axis)
    constant, filled = unchanging(X), filled_in(X, y, impute)
    remarks = [*unnamed, *note_on_repeated_names(X.index, group), *remarks_on(X, y, about["groups"])]
    return Problem(
        source=source,
        target=predicted,
        X=X,
        y=y,
        caveats=(*how_read, *no_target, *merged, *small, *constant, *remarks, *filled),
        encoder=features.encoder,
        columns=preview(X, reader.readings),
        decisions=(*how_read, *constant, *filled),
        axis=axis,
        **about,
    )


def _taken_columns(
    table: NamedTable, target: Hashable | None, reading: Reading, about_rows: list[str]
) -> tuple[pd.DataFrame, str, list[str]]:
    """Return the table with named rows and without the columns that are left out, the target, and a caveat on names."""
    frame, drop = table.frame, reading.drop
    named_by = [] if reading.index in (None, frame.index.name) else [str(reading.index)]
    predicted = checked_target(table, target, (*drop, *named_by, *about_rows), reading)
    unnamed = [note for name in named_by for note in note_on_unnamed(frame[name])]
    for name in named_by:
        frame = named_rows(frame, name, table.source)
    needed = (predicted, *about_rows)
    return frame.drop(columns=[name for name in (*drop, *named_by) if name not in needed]), predicted, unnamed


def _learnable_rows(
    y: NDArray[Any], groups: pd.Series | None, predicted: str, source: str
) -> tuple[NDArray[np.bool_], list[str]]:
    """Return which rows can be learned from and held out, and caveats on others; of numbers these are all."""
    if kind_of_target(y) == "numbers":
        return np.ones(len(y), dtype=bool), []
    classes, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    kept, single = counts[codes] >= 2, list(classes[counts < 2])
    small = [f"Classes with a single row cannot be held out and were left out: {listed(single)}."] if single else []
    if len(names := np.unique(y[kept])) < 2:
        held = f"the single class {str(names[0])!r}" if len(names) else "no class with two rows"
        raise ValueError(
            f"{source}: column {predicted!r} holds {held}; at least two classes are needed. Choose another target."
        )
    if groups is not None:
        in_groups, in_one = in_two_groups(y[kept], groups[kept], source)
        kept[kept] = in_groups
        small += in_one
    return kept, small


def _row_numbers(
    X: pd.DataFrame, source: str, named: tuple[str, ...], strict: bool, automatic: bool
) -> tuple[list[str], list[str]]:
    """Return the columns that number the rows and are set aside, and the caveats on them."""
    found = [name for name in row_names(X) if name not in named]
    if found and strict:
        raise TableRefused(
            f"{source}: column {found[0]!r} looks like a row number, which says nothing about a case. Leave it out "
            f"(--drop {found[0]!r}), or take it as a feature (--number {found[0]!r}).",
            drop=tuple(found),
        )
    if automatic and len(found) < X.shape[1]:
        return found, [
            f"Column {name!r} was set aside: it looks like a row number, which says nothing about a case; "
            f"--number {name!r} takes it as a feature."
            for name in found
        ]
    return [], [
        f"Column {name!r} looks like a row number, which says nothing about a case: leave it out with --drop {name!r}."
        for name in found
    ]
