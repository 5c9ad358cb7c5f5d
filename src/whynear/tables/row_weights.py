"""The column of the weights of rows."""

from __future__ import annotations

import numpy as np
import pandas as pd

from whynear.tables.target import is_missing
from whynear.tables.written_numbers import Decimal, numbers_or_texts_of_numbers
from whynear.utils.row_names import plain_name


def weights_of(frame: pd.DataFrame, column: str, target: str, source: str, decimal: Decimal = ".") -> pd.Series:
    """Return the weight of each row, under the name of its column, which may be that of the index.

    ``decimal`` is the sign before decimals where a text can be two numbers.
    """
    if column == target:
        raise ValueError(
            f"{source}: column {column!r} is the target, and cannot hold weights too. Choose another column (--weight)."
        )
    given = frame[column] if column in frame.columns else frame.index.to_series()
    missing = is_missing(given)
    read = numbers_or_texts_of_numbers(given, decimal)
    wrong = missing | ~np.isfinite(read) | (read < 0)
    if wrong.any():
        place = int(wrong.argmax())
        value = "no value" if missing[place] else repr(str(given.iloc[place]))
        raise ValueError(
            f"{source}: column {column!r} holds {value} in row {plain_name(frame.index[place])}; a weight must be a "
            "finite number, and not negative. Mend or remove such rows, or choose another column (--weight)."
        )
    if not read.any():
        raise ValueError(
            f"{source}: column {column!r} holds no weight above zero, so that no row counts. Choose another column "
            "(--weight)."
        )
    return pd.Series(read, frame.index, name=column)
