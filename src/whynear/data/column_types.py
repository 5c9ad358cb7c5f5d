"""Features and target: the types of columns, and values that are spelt in several ways."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from numbers import Complex
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from whynear.data.cells import as_text, holds_dates, is_dated, is_missing, text_counts
from whynear.data.column_reading import Codes
from whynear.data.encoder import TableEncoder, holds_text, is_ordered
from whynear.data.numbers import is_written_number
from whynear.data.options import Categories, Impute, TableRefused
from whynear.data.rows import numbers_in_file
from whynear.utils.checks import choice, whole
from whynear.utils.columns import (
    LARGEST_VALUE,
    SMALLEST_VALUE,
    as_numbers,
    check_finite,
    check_magnitudes,
    is_number,
    rows_at,
)
from whynear.utils.text import counted, listed

MOST_NAMED = 3  # values with several spellings


def note_on_spellings(column: pd.Series, what: str) -> list[str]:
    """Return the notes on texts that differ only in case or blanks; ``what`` they are taken as, in the plural.

    >>> print(*note_on_spellings(pd.Series(["M", "m", "m", "F"], name="sex"), "categories"))
    Column 'sex' holds 'm' (2 rows) and 'M' (1 row), which differ only in case or blanks: they were taken as separate \
categories. If they mean the same, write them alike in the table.
    """
    spellings: dict[str, dict[str, int]] = {}
    for text, count in text_counts(column).items():
        spellings.setdefault("".join(text.casefold().split()), {})[text] = count
    found = [
        " and ".join(f"{text!r} ({counted(count, 'row')})" for text, count in Counter(spelled).most_common())
        for spelled in spellings.values()
        if len(spelled) > 1
    ]
    if not found:
        return []
    shown = "; ".join(found[:MOST_NAMED])
    more = f"; and {counted(len(found) - MOST_NAMED, 'more such text')}" if len(found) > MOST_NAMED else ""
    return [
        f"Column {str(column.name)!r} holds {shown}{more}, which differ only in case or blanks: they were taken as "
        f"separate {what}. If they mean the same, write them alike in the table."
    ]


def note_on_blanks(column: pd.Series) -> list[str]:
    """Return the notes on categories of which some are written with blanks around them.

    >>> print(*note_on_blanks(pd.Series(["M", "M ", "F"], name="sex")))
    Column 'sex': categories that differ only in blanks around them were merged: 'M'.
    """
    counts = text_counts(column)
    merged = dict.fromkeys(text.strip() for text in counts if text != text.strip() and text.strip() in counts)
    if not merged:
        return []
    return [
        f"Column {str(column.name)!r}: categories that differ only in blanks around them were merged: "
        f"{listed(list(merged))}."
    ]


MOST_CATEGORIES = 50  # of a column; with more it is taken for names
MOST_STEPS = 8  # of ordered categories that are named
FEWEST_NUMBERS = 10  # different ones, in a column that is taken for numbers with a few other values


@dataclass(frozen=True, eq=False)
class Features:
    """The features of a table: numbers, text of categories, and ordered categories."""

    X: pd.DataFrame
    encoder: TableEncoder | None  # what a model needs to take them; None where all are numbers without gaps
    notes: list[str]  # what was decided about the columns


def features_of(
    frame: pd.DataFrame,
    source: str,
    categories: Categories | None = None,
    impute: Impute | None = None,
    named: tuple[str, ...] = (),
    readings: dict[str, str] | None = None,
    missing: Codes | None = None,
) -> Features:
    """Return the columns as features.

    With ``categories="onehot"`` all text is kept for the encoder, with ``"auto"`` text of few values, while columns
    of many are set aside; without it text is refused. With ``impute`` missing values are kept for the encoder, without
    it refused. Columns in ``named`` are taken as they are. ``readings`` and ``missing`` are those of the encoder.
    """
    choice("categories", categories, (None, *get_args(Categories)))
    choice("impute", impute, (None, *get_args(Impute)))
    if frame.shape[1] == 0:
        raise ValueError(f"{source} has no columns beside the target; at least one feature is needed.")
    n_columns = frame.shape[1]
    aside = names_of_cases(frame, named) if categories == "auto" else []
    notes = [_set_aside(name, frame[name]) for name in aside]
    frame = frame.drop(columns=aside)
    columns = {name: _feature(frame[name], categories, name in named) for name in frame.columns}
    notes += [
        f"Column {name!r} holds numbers written as text: taken as numbers."
        for name, values in columns.items()
        if values is not None and values.dtype.kind == "f" and holds_text(frame[name])
    ]
    if odd := [name for name in frame.columns if columns[name] is None]:
        raise _not_numeric(frame, odd, source, n_columns)
    X = pd.DataFrame({name: pd.Series(values) for name, values in columns.items()}).set_axis(frame.index)
    text = [name for name in X.columns if holds_text(X[name])]
    for name in text:
        if name not in named and not is_ordered(X[name]) and (distinct := X[name].nunique()) > MOST_CATEGORIES:
            raise TableRefused(
                f"{source}: column {name!r} holds {distinct:,} different texts, such as "
                f"{X[name].dropna().iloc[0][:30]!r}: too many to be categories. Leave it out (--drop {name!r}), or "
                "merge some of them.",
                drop=(str(name),),
            )
    notes += _categories_note(X, [name for name in text if categories == "auto" and name not in named])
    for name in text:
        notes += [*note_on_blanks(frame[name]), *note_on_spellings(X[name], "categories")]
    partly = X.columns[X.isna().any() & X.notna().any()]
    _check_numbers(X.drop(columns=text), source)
    if impute is None and len(partly):
        raise _missing(X[partly], source)
    if not (text or readings or missing or len(partly) or X.isna().any(axis=None)):
        return Features(X, None, notes)
    automatic = impute == "auto"  # fills in missing values only where the table has some
    fill: Literal["median", "most_frequent"] | None = None
    if impute is not None and (not automatic or len(partly)):
        fill = "most_frequent" if impute == "most_frequent" else "median"
    onehot: Literal["onehot"] | None = "onehot" if text or categories == "onehot" else None
    encoder = TableEncoder(onehot, fill, automatic and fill is not None, readings or None, missing or None)
    return Features(X, encoder, notes)


def _feature(column: pd.Series, categories: Categories | None, is_named: bool) -> Any:
    """Return a column as numbers, text or ordered categories; None if it is not taken."""
    if column.isna().all():
        return np.full(len(column), np.nan)
    if is_ordered(column):
        return column.array
    values = as_numbers(column)
    if values is None and categories != "onehot" and not is_named:
        values = as_numbers(column, text=True)
    if values is not None:
        return values + 0.0  # -0.0 is 0.0
    kept = is_named or categories == "onehot" or (categories == "auto" and not _is_mostly_numbers(column))
    if not kept or not holds_text(column) or holds_dates(column):
        return None
    texts = column.astype(object).where(column.notna(), None)
    return np.array([None if value is None else str(value).strip() for value in texts], dtype=object)


def names_of_cases(frame: pd.DataFrame, named: tuple[str, ...] = ()) -> list[str]:
    """Return the columns of text that name the cases: all texts differ, or more than 50; none if nothing else is left.

    >>> names_of_cases(pd.DataFrame({"name": ["Ann", "Bo", "Cy"], "sex": ["f", "m", "m"]}))
    ['name']
    """
    found = [str(name) for name in frame.columns if name not in named and _names_cases(frame[name])]
    return found if len(found) < frame.shape[1] else []


def _names_cases(column: pd.Series) -> bool:
    if is_ordered(column) or not holds_text(column) or as_numbers(column, text=True) is not None:
        return False
    texts = column.dropna().astype(str).str.strip()
    if texts.nunique() <= MOST_CATEGORIES and not (texts.is_unique and len(texts) > 2):
        return False
    return not holds_dates(column) and not _is_mostly_numbers(column)


def _is_mostly_numbers(column: pd.Series) -> bool:
    """Return whether a column of text holds numbers with a few other values; not where some are codes like 007."""
    texts = {str(value).strip() for value in column.dropna().astype(str).unique()}
    numbers = sum(map(is_written_number, texts))
    codes = any(text.isdecimal() and text.startswith("0") and len(text) > 1 for text in texts)
    return numbers >= FEWEST_NUMBERS and 2 * numbers > len(texts) and not codes


def _set_aside(name: str, column: pd.Series) -> str:
    texts = column.dropna().astype(str).str.strip()
    example = f"such as {texts.iloc[0][:30]!r}"
    fact, also = f"a different text in every row, {example}, like names", ""
    if not texts.is_unique:
        fact = f"{texts.nunique():,} different texts, {example}, too many for categories"
        also = f" If rows with the same text belong together, such as those of one patient, use --group {name!r}."
    return f"Column {name!r} was set aside: it holds {fact}; --category {name!r} takes it as categories.{also}"


def _categories_note(X: pd.DataFrame, text: list[str]) -> list[str]:
    ordered = [name for name in X.columns if is_ordered(X[name])]
    notes = []
    for name in ordered:
        steps = list(map(str, X[name].cat.categories))
        more = f" and {len(steps) - MOST_STEPS} more" if len(steps) > MOST_STEPS else ""
        shown = " < ".join(steps[:MOST_STEPS]) + more
        notes.append(
            f"Column {name!r} holds ordered categories, taken as steps: {shown}; --category {name!r} ignores their "
            "order."
        )
    if plain := [name for name in text if name not in ordered]:
        shown = ", ".join(f"{name!r} ({X[name].nunique()})" for name in plain[:5])
        more = f" and {len(plain) - 5} more" if len(plain) > 5 else ""
        notes.append(f"Text was taken as categories in {shown}{more}; --drop COLUMN leaves a column out.")
    return notes


def _check_numbers(X: pd.DataFrame, source: str) -> None:
    values, names = X.to_numpy(dtype=np.float64), list(X.columns)
    known = np.where(np.isnan(values), 0.0, values)
    if (infinite := np.isinf(known)).any():
        try:
            check_finite(known, names, source)
        except ValueError as error:
            signs = {"inf" if value > 0 else "-inf" for value in known[infinite]}
            raise TableRefused(str(error), missing=tuple(sorted(signs))) from None
    try:
        check_magnitudes(known, names, source, by_column=True)
    except ValueError as error:
        peaks = np.abs(known).max(axis=0)
        beyond = (peaks > LARGEST_VALUE) | ((peaks > 0) & (peaks < SMALLEST_VALUE))
        raise TableRefused(str(error), drop=tuple(np.array(names)[beyond].tolist())) from None


def _missing(X: pd.DataFrame, source: str) -> TableRefused:
    counts = X.isna().sum().sort_values(ascending=False, kind="stable")
    shown = ", ".join(f"{count} in column {name!r}" for name, count in counts.head(5).items())
    more = f" and in {counted(len(counts) - 5, 'more column')}" if len(counts) > 5 else ""
    return TableRefused(
        f"{source} contains NaN: {shown}{more}. Fill them in (--impute median), or leave out these "
        f"columns (--drop {counts.index[0]!r}) or rows.",
        impute="median",
    )


def kind_of(column: pd.Series) -> str:
    """Return what a column holds instead of numbers, with the first such value and its row."""
    present = column.notna().to_numpy()
    odd = present & [not is_number(value) for value in column]
    if (text := odd & [isinstance(value, str) for value in column]).any():
        odd &= ~text | [not (isinstance(value, str) and is_written_number(value)) for value in column]
    row = int(np.argmax(odd if odd.any() else present))  # the first entry if all can be read as numbers
    value = column.iloc[row]
    return f"{_kind(column, value)}, such as {str(value)[:30]!r} in row {numbers_in_file(column)[row]}"


def _kind(column: pd.Series, value: object) -> str:
    if isinstance(column.dtype, pd.CategoricalDtype):
        return "categories"
    if isinstance(value, str):
        if is_dated(value):
            return "dates written as text"
        if is_written_number(value):  # and so are all others
            return "numbers written in ways that contradict each other"
        return "text" if math.isnan(pd.to_numeric(value, errors="coerce")) else "numbers written as text"
    for kind, name in ((date | np.datetime64, "dates"), (timedelta | np.timedelta64, "durations")):
        if isinstance(value, kind):
            return name
    return "complex numbers" if isinstance(value, Complex) else f"values of type {type(value).__name__}"


def _not_numeric(frame: pd.DataFrame, odd: list[str], source: str, n_columns: int) -> TableRefused:
    """Return the refusal of columns, with what each can be taken as."""
    shown = ", ".join(f"{name!r} ({kind_of(frame[name])})" for name in odd[:5])
    more = f" and {len(odd) - 5} more" if len(odd) > 5 else ""
    remedies: dict[str, list[str]] = {}
    for name in odd:
        remedies.setdefault(_remedy(frame[name]), []).append(name)
    ways = {
        "date": "take dates as days (--date {!r})",
        "number": "take what is no number as missing (--number {!r})",
        "category": "take text as categories (--category {!r})",
        "drop": "leave columns out (--drop {!r})",
    }
    hints = [way.format(remedies[kind][0]) for kind, way in ways.items() if kind in remedies]
    if "drop" not in remedies:
        hints.append(f"leave the column{'s' * (len(odd) > 1)} out (--drop {odd[0]!r})")
    return TableRefused(
        f"{source}: {len(odd)} of {counted(n_columns, 'column')} {'is' if len(odd) == 1 else 'are'} not numeric: "
        f"{shown}{more}, counting rows from 1 below the header. Correct the values, {', '.join(hints[:-1])}"
        f"{', ' * (len(hints) > 1)}or {hints[-1]}.",
        **{kind: tuple(names) for kind, names in remedies.items()},
    )


def _remedy(column: pd.Series) -> str:
    if holds_dates(column):
        return "date"
    if not holds_text(column):
        return "drop"
    if not isinstance(column.dtype, pd.CategoricalDtype) and _is_mostly_numbers(column):
        return "drop" if all(is_written_number(str(value)) for value in column.dropna()) else "number"
    return "drop" if _names_cases(column) else "category"


def bin_target(y: ArrayLike, n_bins: int = 3) -> NDArray[np.int64]:
    r"""Sort a numeric target into bins of (nearly) equal size, by value.

    Parameters
    ----------
    y : array-like of shape (n,)
        Numeric target, finite everywhere.
    n_bins : int, default=3
        Number of bins, at least 2 and at most the number of distinct values.

    Returns
    -------
    ndarray of shape (n,), int64
        Codes ``0 .. n_bins - 1``; code 0 holds the smallest values. Equal values always share a bin.

    Notes
    -----
    With :math:`c_j` the number of samples up to and including the j-th distinct value, the cuts
    :math:`j_1 < \ldots < j_{b-1}` minimise :math:`\sum_k |c_{j_k} - k n / b|`. Without ties the sizes
    differ by one at most. Time and memory O(u b) for u distinct values, after sorting.

    Examples
    --------
    >>> bin_target([0.3, 9.0, 5.1, 0.3, 7.2, 4.8]).tolist()
    [0, 2, 1, 0, 2, 1]
    """
    n_bins = whole("n_bins", n_bins, 2)
    try:
        values = np.asarray(y, dtype=float)
    except (TypeError, ValueError):
        raise ValueError("y must be numeric, got values that are not numbers instead.") from None
    if values.ndim != 1 or not len(values):
        raise ValueError(f"y must be one column with at least one row, got shape {values.shape} instead.")
    if len(bad := np.flatnonzero(~np.isfinite(values))):
        raise ValueError(
            f"y must be finite, got {len(bad)} missing or infinite values instead, in rows {rows_at(bad, y)}. "
            "Drop these rows first."
        )
    distinct, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    if len(distinct) < n_bins:
        raise ValueError(
            f"n_bins={n_bins} is more than y has distinct values ({len(distinct)}). Use n_bins <= {len(distinct)}."
        )
    cuts = _balanced_cuts(np.cumsum(counts), n_bins)
    return np.searchsorted(cuts, place, side="left").astype(np.int64)


def _balanced_cuts(cumulative: NDArray[np.int64], n_bins: int) -> NDArray[np.int64]:
    """Return the place of the last distinct value of every bin but the last, by dynamic programming over the cuts."""
    n, u = int(cumulative[-1]), len(cumulative)
    best = np.zeros(u)
    came_from = np.zeros((n_bins - 1, u), dtype=np.int64)
    for k in range(1, n_bins):
        # n_bins * |c - k n / n_bins| is a whole number, so ties are exact
        cost = np.abs(n_bins * cumulative - k * n).astype(float)
        if k > 1:
            reach = np.minimum.accumulate(best)
            is_new = np.concatenate([[True], best[1:] < reach[:-1]])
            arg = np.maximum.accumulate(np.where(is_new, np.arange(u), 0))
            cost[1:] += reach[:-1]
            cost[0] = np.inf
            came_from[k - 1, 1:] = arg[:-1]
        best = cost
    best[-1] = np.inf  # the last bin keeps at least one value
    cuts = np.empty(n_bins - 1, dtype=np.int64)
    cuts[-1] = int(np.argmin(best))
    for k in range(n_bins - 2, 0, -1):
        cuts[k - 1] = came_from[k, cuts[k]]
    return cuts


# A numeric target with more distinct values than this is a measurement, not classes.
MOST_CLASSES = 50


def class_names(column: pd.Series) -> pd.Series:
    """Return the class of each row of a target without missing values."""
    return _as_written(column).str.strip()


def _as_written(column: pd.Series) -> pd.Series:
    return (as_text(column) if pd.api.types.is_float_dtype(column) else column).astype(str)  # 1.0 is the class '1'


def target_of(
    column: pd.Series, source: str, bins: int | None, is_number: bool = False
) -> tuple[NDArray[Any], list[str]]:
    """Return the class of each row, and caveats where classes differ only in blanks around them or in case.

    A numeric target with many different values is returned as numbers, with ``is_number`` every numeric target.
    """
    given = _as_written(column)
    names = given.str.strip()
    numbers = None if pd.api.types.is_bool_dtype(column) else as_numbers(column)
    missing = is_missing(column)
    for fault, rows in {"missing": missing, "infinite": numbers is not None and np.isinf(numbers)}.items():
        if np.any(rows):
            codes = ("inf", "-inf") if fault == "infinite" else ()
            places = numbers_in_file(column)[rows]
            message = unusable_target(places.tolist(), len(places), fault, str(column.name), source)
            raise TableRefused(message, drop_missing_target=True, **({"missing": codes} if codes else {}))
    if bins is not None:
        if numbers is None:
            raise ValueError(f"bins={bins} needs a numeric target, got {column.name!r} ({kind_of(column)}) instead.")
        return np.array([f"bin {code + 1} of {bins}" for code in bin_target(numbers, bins)]), []
    counts = names.value_counts()
    if numbers is not None and (is_number or len(counts) > MOST_CLASSES or (counts == 1).mean() > 0.5):
        return numbers, []
    spellings = given.groupby(names.to_numpy()).nunique()
    merged = list(spellings.index[spellings > 1])
    caveat = f"Classes that differ only in blanks around their names were merged: {listed(merged)}."
    alike = note_on_spellings(names.astype(object), "classes")
    return names.to_numpy(dtype=str), [*([caveat] if merged else []), *alike]


def unusable_target(rows: Sequence[int], count: int, fault: str, name: str, source: str) -> str:
    """Return what is wrong with a target of missing or infinite values; ``rows`` are the first of them, from 1."""
    counting = "(counting from 1 below the header)"
    if count == 1:
        fact = f"1 value of the target {name!r} is {fault}, in row {rows[0]} {counting}."
    else:
        shown = ", ".join(map(str, rows[:10])) + (", ..." if count > 10 else "")
        fact = f"{count:,} values of the target {name!r} are {fault}, in rows {shown} {counting}."
    it, these = ("it", "this row") if count == 1 else ("them", "these rows")
    if fault == "missing":
        return f"{source}: {fact} Fill {it} in, or leave {these} out (--drop-missing-target)."
    return f"{source}: {fact} Correct {it}, or remove {these}."
