"""What limits the results of a table, in sentences."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from numpy.typing import NDArray

from whynear.tables.copies import caveats_of_repeats
from whynear.tables.encoder import holds_text, is_ordered
from whynear.tables.informative_gaps import informative_gaps
from whynear.tables.missing_codes import caveats_of_codes
from whynear.tables.possible_codes import caveats_of_possible_codes
from whynear.tables.settings import Impute
from whynear.utils.text import counted, listed

MOST_NAMED = 5  # columns


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
