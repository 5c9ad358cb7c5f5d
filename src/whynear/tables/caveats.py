"""What limits the results of a table, in sentences."""

from typing import Any

import pandas as pd
from numpy.typing import NDArray

from whynear.tables.column_types import Impute
from whynear.tables.copies import caveats_of_repeats
from whynear.tables.informative_gaps import informative_gaps
from whynear.utils.text import counted, listed


def unchanging(X: pd.DataFrame) -> list[str]:
    """Return caveats on the columns that no model can use."""
    empty = list(X.columns[X.isna().all()])
    said = [f"Columns without any value carry no information: {listed(empty)}."] if empty else []
    if constant := [name for name in X if name not in empty and X[name].nunique(dropna=False) == 1]:
        said.append(f"Columns that never change carry no information: {listed(constant)}.")
    return said


def remarks_on(X: pd.DataFrame, y: NDArray[Any], groups: pd.Series | None = None) -> list[str]:
    """Return caveats on repeated rows and on few rows."""
    remarks = caveats_of_repeats(X, y, y.dtype.kind != "f", groups)
    if len(X) < 50:
        remarks.append(f"With {len(X)} rows every figure here is uncertain.")
    return remarks


def filled_in(X: pd.DataFrame, y: NDArray[Any], impute: Impute | None, missing: pd.Series | None = None) -> list[str]:
    """Return caveats on the missing values that are filled in, and on those that depend on the target.

    ``missing`` are the missing values of each column, where X holds only some of the rows.
    """
    counts = (X.isna().sum() if missing is None else missing)[X.notna().any()]
    if impute is None or not (total := int(counts.sum())):
        return []
    most = counts.idxmax()
    values = counted(total, "missing value was", "missing values were")
    columns = counted(int((counts > 0).sum()), "column", "columns")
    how = "the most frequent value" if impute == "most_frequent" else "the median"
    refused = "; --strict refuses them" if impute == "auto" else ""
    informative = informative_gaps(X, y) if impute == "auto" else []
    return [
        f"{values} filled in by {how} of the column (categories by the most frequent), in {columns}, most of them "
        f"({int(counts.max()):,}) in {str(most)!r}; the model does the same when it predicts{refused}.",
        *(
            f"Whether a value is missing depends on the target in column {name!r}: the column has an indicator of it; "
            "--impute median leaves it out."
            for name in informative
        ),
    ]
