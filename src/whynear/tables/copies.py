"""Rows of a table that are equal in all features."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from whynear.utils.text import counted


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
