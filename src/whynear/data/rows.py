"""Rows: their names, their groups, times and weights, and the folds in which they are held out.

A row has a name; columns of the table may give it a group, a time and a weight. Rows of a group are held out together,
rows of a time order after all earlier ones, and the standard error of a mean counts groups where there are groups.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

from whynear.data.cells import date_formats, days, holds_dates, is_missing
from whynear.data.numbers import Decimal, numbers_or_texts_of_numbers
from whynear.utils.arrays import Array, Indices
from whynear.utils.columns import is_default, names_of_rows, plain_name
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


def _about_rows(frame: pd.DataFrame, column: str, target: str, source: str, use: str, option: str) -> pd.Series:
    """Return a column, which may be the index; refuse the target, of which ``use`` states what it cannot be too."""
    if column == target:
        raise ValueError(
            f"{source}: column {column!r} is the target, and cannot {use} too. Choose another column ({option})."
        )
    return frame[column] if column in frame.columns else frame.index.to_series()


def _check_complete(values: pd.Series, column: str, source: str, lacks: str) -> None:
    if (missing := is_missing(values)).any():
        rows = counted(int(missing.sum()), "row")
        raise ValueError(
            f"{source}: column {column!r} {lacks} in {rows} (first: row {_row(values, missing)}). "
            "Fill in what is missing, or remove such rows."
        )


def _row(rows: pd.DataFrame | pd.Series, wrong: np.ndarray) -> object:
    """Return the name of the first row that is wrong."""
    return plain_name(rows.index[int(wrong.argmax())])


def groups_of(frame: pd.DataFrame, column: str, target: str, source: str) -> pd.Series:
    """Return the number of the group of each row, under the name of its column, which may be that of the index."""
    values = _about_rows(frame, column, target, source, "say which rows belong together", "--group")
    _check_complete(values, column, source, "names no group")
    codes, names = pd.factorize(values.astype(str).str.strip().to_numpy())
    if len(names) < 2:
        raise ValueError(
            f"{source}: column {column!r} holds the single group {str(names[0])!r}; at least two are needed, so that "
            "one can be held out. Choose another column (--group)."
        )
    return pd.Series(codes, frame.index, name=column)


def times_of(
    frame: pd.DataFrame, column: str, target: str, source: str, form: str | None = None, decimal: Decimal = "."
) -> pd.Series:
    """Return the time of each row, under the name of its column, which may be that of the index.

    Dates become days since 1970-01-01, of the format ``form`` if it is given; numbers stay what they are. ``decimal``
    is the sign before decimals where a text can be two numbers.
    """
    values = _about_rows(frame, column, target, source, "be the time", "--time")
    _check_complete(values, column, source, "holds no time")
    if form or holds_dates(values):
        times = _dates(values, column, source, form)
    else:
        times = numbers_or_texts_of_numbers(values, decimal)
        if (wrong := ~np.isfinite(times)).any():
            first = str(values.iloc[int(wrong.argmax())])
            raise ValueError(
                f"{source}: column {column!r} holds {first!r} in row {_row(values, wrong)}, which is neither a date "
                "nor a number. Choose another column (--time), or give the format of its dates (--date "
                f"'{column}=%Y%m%d')."
            )
    if len(np.unique(times)) < 2:
        raise ValueError(
            f"{source}: column {column!r} holds the single time {str(values.iloc[0])!r}; at least two are needed, so "
            "that later rows can be held out. Choose another column (--time)."
        )
    return pd.Series(times, frame.index, name=column)


def _dates(values: pd.Series, column: str, source: str, form: str | None) -> np.ndarray:
    formats = (form,) if form else date_formats(values)
    if len(formats) == 2:
        raise ValueError(
            f"{source}: column {column!r} holds dates such as {str(values.iloc[0])!r}, whose day and month cannot be "
            f"told apart. Give their format (--date '{column}={formats[0]}')."
        )
    found = days(values, formats[0]) if formats else None
    if found is None or np.isnan(found).any():
        raise ValueError(
            f"{source}: column {column!r} holds dates that are not of one format, such as {str(values.iloc[0])!r}. "
            f"Give their format (--date '{column}=%Y%m%d')."
        )
    return found


def weights_of(frame: pd.DataFrame, column: str, target: str, source: str, decimal: Decimal = ".") -> pd.Series:
    """Return the weight of each row, under the name of its column, which may be that of the index.

    ``decimal`` is the sign before decimals where a text can be two numbers.
    """
    given = _about_rows(frame, column, target, source, "hold weights", "--weight")
    missing = is_missing(given)
    read = numbers_or_texts_of_numbers(given, decimal)
    wrong = missing | ~np.isfinite(read) | (read < 0)
    if wrong.any():
        place = int(wrong.argmax())
        value = "no value" if missing[place] else repr(str(given.iloc[place]))
        raise ValueError(
            f"{source}: column {column!r} holds {value} in row {_row(given, wrong)}; a weight must be a "
            "finite number, and not negative. Mend or remove such rows, or choose another column (--weight)."
        )
    if not read.any():
        raise ValueError(
            f"{source}: column {column!r} holds no weight above zero, so that no row counts. Choose another column "
            "(--weight)."
        )
    return pd.Series(read, frame.index, name=column)


RowSplit: TypeAlias = tuple[Indices, Indices]  # rows to learn from, rows held out


@dataclass(frozen=True, eq=False)
class TimeOrder:
    """The time of each row. Taken in the place of ``groups`` wherever rows are held out.

    Attributes
    ----------
    times : array-like of shape (n_rows,)
        Numbers or dates; rows of the same time are not separated.
    name : str
        What the times are called.
    """

    times: NDArray[Any]
    name: str = "time"

    def __post_init__(self) -> None:
        times = np.array(self.times)
        times.setflags(write=False)
        object.__setattr__(self, "times", times)

    def __len__(self) -> int:
        return len(self.times)

    def __getitem__(self, rows: Any) -> TimeOrder:
        return TimeOrder(self.times[rows], self.name)


Separation: TypeAlias = pd.Series | TimeOrder  # the group of each row, or its time


def taken(separation: Separation | None, rows: NDArray[Any]) -> Any:
    """Return the groups or times of some of the rows, at positions from 0; None if there are none."""
    if separation is None:
        return None
    return separation.iloc[rows] if isinstance(separation, pd.Series) else separation[rows]


def rows_of(X: Any, rows: NDArray[Any]) -> Any:
    """Return rows of a table, an array, a sparse array or a list, at positions from 0."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return X.tocsr()[rows] if issparse(X) else np.asarray(X)[rows]


def n_different(separation: ArrayLike | TimeOrder) -> int:
    """Return the number of groups, or of different times.

    >>> n_different(["p", "q", "p"]), n_different(TimeOrder([3, 1, 2]))
    (2, 3)
    """
    return len(np.unique(separation.times if isinstance(separation, TimeOrder) else separation))


def groups_in(separation: Any) -> Any:
    """Return groups, within which rows are not independent; None for times, and where there are none."""
    return None if isinstance(separation, TimeOrder) else separation


def groups_by_class(y: NDArray[Any], groups: pd.Series) -> NDArray[np.intp]:
    """Return the number of groups in which each class occurs, in the order of the classes.

    >>> groups_by_class(np.array(["u", "u", "v"]), pd.Series([0, 1, 1])).tolist()
    [2, 1]
    """
    return np.asarray(groups.groupby(y).nunique().sort_index(), dtype=np.intp)


def in_two_groups(y: NDArray[Any], groups: pd.Series, source: str) -> tuple[NDArray[np.bool_], list[str]]:
    """Return which rows belong to classes of two groups or more, and a caveat where others are left out."""
    classes, codes = np.unique(y, return_inverse=True)
    n_groups = groups_by_class(y, groups)
    if np.count_nonzero(n_groups >= 2) < 2:
        raise ValueError(
            f"{source}: every row of {counted(int((n_groups < 2).sum()), 'class', 'classes')} "
            f"({listed(list(classes[n_groups < 2]))}) has the same {groups.name!r}; at least two classes must occur in "
            "two groups, so that one can be held out. Choose another column (--group), or add groups."
        )
    caveat = (
        f"Classes within a single {groups.name!r} cannot be held out together with it and were left out: "
        f"{listed(list(classes[n_groups < 2]))}."
    )
    return n_groups[codes] >= 2, [caveat] if (n_groups < 2).any() else []


TRIED_SEEDS = 10
CHOSEN_AFTER = 0.5  # share of the rows, in time


def split_rows(
    y: NDArray[Any],
    n_folds: int,
    seed: int,
    *,
    stratified: bool,
    groups: ArrayLike | TimeOrder | None = None,
    first: float | None = CHOSEN_AFTER,
) -> list[RowSplit]:
    """Return folds of the rows, with the classes in proportion if ``stratified``; each row is held out once.

    Rows of one group are in one fold, so that there are at most as many folds as groups. The rows of a single group are
    split as if they had none. In time, folds are those of `forward_splits`, and the ``first`` rows are never held out:
    half of them, because what is chosen on the others must suit all rows together, not the few of the beginning.

    >>> [held_out.tolist() for _, held_out in split_rows(np.arange(4.0), 2, 0, stratified=False, groups=[0, 1, 1, 0])]
    [[1, 2], [0, 3]]
    """
    if groups is None or (n_groups := n_different(groups)) < 2:
        kind = StratifiedKFold if stratified else KFold
        return list(kind(n_folds, shuffle=True, random_state=seed).split(y, y))
    if isinstance(groups, TimeOrder):
        return forward_splits(groups, n_folds, y if stratified else None, first)
    n_folds = min(n_folds, n_groups)
    if not stratified:
        return list(GroupKFold(n_folds, shuffle=True, random_state=seed).split(y, y, groups))
    return _in_proportion(y, n_folds, seed, groups)


def forward_splits(
    order: TimeOrder, n_folds: int, y: NDArray[Any] | None = None, first: float | None = None
) -> list[RowSplit]:
    """Return folds that follow each other in time; each is learned from all rows before it (an expanding window).

    The first part is never held out. It has the share ``first`` of the rows, or is as large as a fold, and is longer
    where that is needed for two rows of each of two classes ``y``; if they never come together, there is no fold. Rows
    of the same time are in the same part.

    >>> [(train.tolist(), test.tolist()) for train, test in forward_splits(TimeOrder([1, 1, 2, 3, 3]), 2)]
    [([0, 1], [2]), ([0, 1, 2], [3, 4])]
    """
    place = np.unique(order.times, return_inverse=True)[1]
    before = np.concatenate([[0], np.cumsum(np.bincount(place))])  # rows before each time, and all rows
    last = int(place.max())
    share = 1 / (n_folds + 1) if first is None else first
    start = min(max(1, int(np.searchsorted(before, len(order) * share - 1e-9))), last)
    if y is not None:
        # the first time before which two classes have two rows each; one past the last if there is none
        codes = np.unique(y, return_inverse=True)[1]
        of_classes = (np.sort(place[codes == code]) for code in np.unique(codes))
        second = sorted(times[1] for times in of_classes if len(times) > 1)
        start = max(start, int(second[1]) + 1 if len(second) > 1 else last + 1)
    if not 1 <= start <= last:
        return []
    middles = (before[start:-1] + before[start + 1 :]) / 2 - before[start]
    fold_of_time = np.floor(middles * min(n_folds, len(middles)) / (before[-1] - before[start])).astype(np.intp)
    firsts = start + np.unique(fold_of_time, return_index=True)[1]
    ends = [*firsts[1:], len(before)]
    return [
        (np.flatnonzero(place < first), np.flatnonzero((place >= first) & (place < end)))
        for first, end in zip(firsts, ends, strict=True)
    ]


def _in_proportion(y: NDArray[Any], n_folds: int, seed: int, groups: ArrayLike) -> list[RowSplit]:
    """Return the first folds, over a few seeds, that leave every class to learn from; otherwise those that leave most.

    Groups are dealt out by their classes, so that a class of few groups can come to lie in one fold.
    """
    best: list[RowSplit] = []
    most, n_classes = -1, len(np.unique(y))
    for shift in range(TRIED_SEEDS):
        dealt = StratifiedGroupKFold(n_folds, shuffle=True, random_state=(seed + shift) % 2**32)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of classes with fewer rows than folds
            folds = [(train, test) for train, test in dealt.split(y, y, groups) if len(test)]
        left = min(len(np.unique(y[train])) if len(train) else 0 for train, _ in folds)
        if left > most:
            best, most = folds, left
        if left == n_classes:
            break
    return best


def error_of_mean(values: Array, groups: ArrayLike | None = None) -> Array:
    """Return the standard error of the mean over the last axis, of which the rows of a group are not independent.

    With one row or one group the error is infinite.

    >>> float(error_of_mean(np.array([0.0, 0.0, 1.0, 1.0]), np.array([0, 0, 1, 1])))
    0.5
    """
    n = n_groups = values.shape[-1]
    if groups is not None:
        names, codes = np.unique(groups, return_inverse=True)
        n_groups = len(names)
    if n_groups < 2:
        return np.full(values.shape[:-1], np.inf)
    if groups is None:
        return np.asarray(np.std(values, axis=-1, ddof=1) / np.sqrt(n))
    away = values - values.mean(axis=-1, keepdims=True)
    sums = np.add.reduceat(away[..., np.argsort(codes, kind="stable")], _starts(codes), axis=-1)
    return np.asarray(np.sqrt(np.square(sums).sum(axis=-1) * n_groups / (n_groups - 1)) / n)


def resampled_rows(n_rows: int, groups: ArrayLike | None, rng: np.random.Generator) -> Indices:
    """Draw as many rows as there are with replacement; of groups, as many whole groups as there are."""
    if groups is None:
        return rng.integers(n_rows, size=n_rows)
    codes = np.unique(groups, return_inverse=True)[1]
    members = np.split(np.argsort(codes, kind="stable"), _starts(codes)[1:])
    return np.concatenate([members[drawn] for drawn in rng.integers(len(members), size=len(members))])


def _starts(codes: Indices) -> Indices:
    return np.unique(np.sort(codes), return_index=True)[1]
