"""Remarks on the columns of a table: copies, codes for missing values, gaps that were filled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from whynear.data.cells import spelling
from whynear.data.encoder import holds_text, informative_gaps, is_ordered
from whynear.data.options import Impute
from whynear.utils.arrays import Array
from whynear.utils.text import counted, joined, listed


def features_as_codes(X: pd.DataFrame) -> NDArray[np.uint64]:
    """Return a number for each row, the same for rows that are equal in all features."""
    return np.asarray(pd.util.hash_pandas_object(X, index=False), dtype=np.uint64)


def caveats_of_repeats(
    X: pd.DataFrame, y: NDArray[Any], of_classes: bool, groups: pd.Series | None = None
) -> list[str]:
    """Return caveats on rows that repeat the features of others, in another group if there are groups."""
    rows = pd.Series(features_as_codes(X))
    # Copies within a group are held out together.
    counting = rows if groups is None else rows[~pd.DataFrame({"row": rows, "group": groups.to_numpy()}).duplicated()]
    said = []
    if copies := len(counting) - counting.nunique():
        repeat = counted(copies, "row repeats", "rows repeat")
        of_whom = "" if groups is None else f" with another {groups.name!r}"
        said.append(f"{repeat} the features of an earlier row{of_whom}, which makes held-out results optimistic.")
    contradicting = int((pd.Series(y).groupby(rows).transform("nunique") > 1).sum())
    if contradicting and of_classes:
        said.append(
            f"{contradicting:,} rows share all features with a row of another class: no metric can separate them."
        )
    return said


def caveats_of_codes(X: pd.DataFrame) -> list[str]:
    """Return a caveat for each number of nines that occurs twice or more and lies far from all others of its column.

    >>> caveats_of_codes(pd.DataFrame({"mass": [3.1, 2.5, -999, 4.0, -999]}))[0][:69]
    "Column 'mass': 2 values are -999, far from all others, which lie betw"
    """
    said = []
    for name, column in X.select_dtypes("number").items():
        values = column.dropna()
        for code in {values.min(), values.max()} if len(values) else ():
            others = values[values != code]
            count = len(values) - len(others)
            if set(spelling(abs(code))) != {"9"} or count < 2 or len(others) < 2 or others.min() == others.max():
                continue
            gap = min(abs(others.min() - code), abs(others.max() - code))
            if gap > others.max() - others.min():
                written = spelling(code)
                said.append(
                    f"Column {str(name)!r}: {count:,} values are {written}, far from all others, which lie between "
                    f"{others.min():.4g} and {others.max():.4g}. If it stands for a missing value, take it as one "
                    f"(--missing {written})."
                )
    return said


FEWEST_VALUES, MOST_VALUES = 3, 8  # of a column of codes
LEAST_SHARE = 0.02  # of the rows, that have each value
FEWEST_ROWS = 3
SOME = 50  # values that most columns of measurements have
MOST_NAMED = 5  # columns


def caveats_of_possible_codes(X: pd.DataFrame) -> list[str]:
    """Return a caveat on the columns of few frequent whole numbers with unequal steps between them.

    >>> caveats_of_possible_codes(pd.DataFrame({"ward": [1, 2, 3, 7] * 5, "grade": [1, 2, 3, 4] * 5}))[0][:59]
    "Column 'ward' holds the numbers 1, 2, 3 and 7 only, and was"
    """
    found = {str(name): values for name, column in X.select_dtypes("number").items() if (values := _codes(column))}
    if not found:
        return []
    named = list(found)[:MOST_NAMED]
    more = f" and {len(found) - MOST_NAMED:,} more columns" if len(found) > MOST_NAMED else ""
    options = " ".join(f"--category {name!r}" for name in named)
    if len(found) == 1:
        held = f"Column {named[0]!r} holds the numbers {joined(found[named[0]])} only, and was taken as a quantity"
    else:
        each = [f"{name!r} ({', '.join(found[name])})" for name in named]
        listed = f"{', '.join(each)}{more}" if more else joined(each)
        held = f"Columns {listed} hold few whole numbers each, and were taken as quantities"
    return [f"{held}. If they are codes of categories, take them as such ({options})."]


def _codes(column: pd.Series) -> list[str]:
    """Return the values of a column that may be codes; none if it has other values, or equal steps between them."""
    values = column.dropna()
    if values.dtype.kind not in "iuf" or not _are_whole(values.iloc[:SOME].to_numpy(dtype=float)):
        return []
    counts = values.value_counts().sort_index()
    if not FEWEST_VALUES <= len(counts) <= MOST_VALUES or counts.min() < max(FEWEST_ROWS, LEAST_SHARE * len(column)):
        return []
    numbers = counts.index.to_numpy(dtype=float)
    unequal = _are_whole(numbers) and len(set(np.diff(numbers))) > 1
    return [spelling(number) for number in counts.index] if unequal else []


def _are_whole(numbers: Array) -> bool:
    return bool(np.isfinite(numbers).all()) and not np.mod(numbers, 1).any()


def unchanging(X: pd.DataFrame) -> list[str]:
    """Return caveats on the columns that no model can use."""
    empty = list(X.columns[X.isna().all()])
    said = [f"Columns without any value carry no information: {listed(empty)}."] if empty else []
    single = [name for name in X if name not in empty and X[name].nunique() == 1]
    with_gaps = [name for name in single if X[name].isna().any()]
    if constant := [name for name in single if name not in with_gaps]:
        said.append(f"Columns that never change carry no information: {listed(constant)}.")
    if with_gaps:
        columns = listed(with_gaps)
        said.append(f"Columns with one value beside gaps carry no information, unless the gaps do: {columns}.")
    return said


def remarks_on(X: pd.DataFrame, y: NDArray[Any], groups: pd.Series | None = None) -> list[str]:
    """Return caveats on repeated rows, on numbers that may be codes or stand for missing values, and on few rows."""
    repeats = caveats_of_repeats(X, y, y.dtype.kind != "f", groups)
    remarks = [*repeats, *caveats_of_codes(X), *caveats_of_possible_codes(X)]
    if len(X) < 50:
        remarks.append(f"With {len(X)} rows every figure here is uncertain.")
    return remarks


def filled_in(
    X: pd.DataFrame,
    y: NDArray[Any],
    impute: Impute | None,
    missing: pd.Series | None = None,
    usual: Mapping[str, str] | None = None,
) -> list[str]:
    """Return caveats on the missing values that are filled in, and on those that depend on the target.

    ``missing`` are the missing values of each column, and ``usual`` the most frequent categories, where X holds only
    some of the rows.
    """
    counts = (X.isna().sum() if missing is None else missing)[X.notna().any()]
    if impute is None or not counts.sum():
        return []
    of_text = counts[[name for name in counts.index if holds_text(X[name]) and not is_ordered(X[name])]]
    how = "the most frequent value" if impute == "most_frequent" else "the median"
    same = f"the model does the same when it predicts{'; --strict refuses them' if impute == 'auto' else ''}."
    informative = informative_gaps(X, y) if impute == "auto" else []
    return [
        *_filled_numbers(counts.drop(of_text.index), how, same),
        *_filled_categories(X, of_text[of_text > 0], usual or {}, same),
        *(
            f"Whether a value is missing depends on the target in column {name!r}: the column has an indicator of it; "
            "--impute median leaves it out."
            for name in informative
        ),
    ]


def _filled_numbers(counts: pd.Series, how: str, same: str) -> list[str]:
    if not counts.sum():
        return []
    values = counted(int(counts.sum()), "missing value was", "missing values were")
    columns = counted(int((counts > 0).sum()), "column")
    most = f"the most ({int(counts.max()):,}) in" if (counts > 0).sum() > 1 else ""
    where = f"in {columns}, {most} {str(counts.idxmax())!r}" if most else f"in column {str(counts.idxmax())!r}"
    return [f"{values} filled in by {how} of the column, {where}; {same}"]


def _filled_categories(X: pd.DataFrame, counts: pd.Series, usual: Mapping[str, str], same: str) -> list[str]:
    if not len(counts):
        return []
    values = counted(int(counts.sum()), "missing category was", "missing categories were")
    modes = {name: usual.get(str(name)) or X[name].dropna().astype(str).mode()[0] for name in counts.index}
    by = [f"{count:,} by {modes[name]!r} in {str(name)!r}" for name, count in counts.items()]
    more = f" and in {counted(len(by) - MOST_NAMED, 'more column')}" if len(by) > MOST_NAMED else ""
    return [f"{values} filled in by the most frequent one of the column, {', '.join(by[:MOST_NAMED])}{more}; {same}"]
