"""Numbers such as -999 that may stand for missing values."""

from __future__ import annotations

import pandas as pd

from whynear.tables.cells import spelling


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
            if not _is_nines(code) or count < 2 or len(others) < 2 or others.min() == others.max():
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


def _is_nines(value: float) -> bool:
    return set(spelling(abs(value))) == {"9"}
