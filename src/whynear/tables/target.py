"""The target of a table as classes or numbers."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from whynear.tables.binning import bin_target
from whynear.tables.cells import as_text
from whynear.tables.column_types import kind_of
from whynear.tables.refusal import TableRefused
from whynear.tables.rows import numbers_in_file
from whynear.tables.spellings import note_on_spellings
from whynear.utils.columns import as_numbers
from whynear.utils.text import listed

# A numeric target with more distinct values than this is a measurement, not classes.
MOST_CLASSES = 50


def is_missing(column: pd.Series) -> NDArray[np.bool_]:
    """Return which rows have no target."""
    return column.isna().to_numpy() | (column.astype(str).str.strip() == "").to_numpy(dtype=bool, na_value=True)


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
