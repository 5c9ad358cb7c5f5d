"""What each column of a table holds, before anything is fitted."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import pandas as pd

from whynear.tables.encoder import holds_text, is_ordered
from whynear.tables.recorded import DATE
from whynear.tables.rows import numbers_in_file
from whynear.utils.columns import as_numbers
from whynear.utils.text import counted


@dataclass(frozen=True)
class WholeTable:
    """A table that does not fit in memory: the number of its rows, and what its target holds."""

    n_rows: int
    classes: tuple[tuple[str, int], ...] = ()
    range: tuple[float, float] | None = None


_NAMES_ROWS = re.compile(r"(^|[\W_])(id|key|index|no|nr|number|row)$", re.IGNORECASE)


def preview(X: pd.DataFrame, readings: Mapping[str, str] = MappingProxyType({})) -> pd.DataFrame:
    """Return one row per feature: its name, what it holds (``kind``), its missing values and its distinct ones."""
    rows = [
        (
            str(name),
            "dates" if readings.get(str(name), "").startswith(DATE) else kind_of_column(X[name]),
            int(X[name].isna().sum()),
            X[name].nunique(),
        )
        for name in X
    ]
    return pd.DataFrame(rows, columns=["column", "kind", "missing", "distinct"])


def kind_of_column(column: pd.Series) -> str:
    """Return what a feature holds: empty, constant, (ordered) categories, yes or no, whole numbers, or numbers."""
    known = column.dropna()
    if not len(known):
        return "empty"
    if known.nunique() == 1:
        return "constant"
    if holds_text(known):
        return "ordered categories" if is_ordered(known) else "categories"
    values = as_numbers(known)
    assert values is not None, "features are numbers or text"
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
