"""The names of the rows of a table: the labels of its index, or numbers from 1 if it has only the default one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from whynear.utils.plain import python_value


def names_of_rows(*tables: Any) -> NDArray[Any] | None:
    """Return the names of the rows of the first DataFrame or Series, whole numbers or text; None if there is none.

    >>> names_of_rows(np.zeros((2, 1)), pd.Series([1, 0], index=["ann", "bob"]))
    array(['ann', 'bob'], dtype=object)
    """
    index = next((table.index for table in tables if isinstance(table, pd.DataFrame | pd.Series)), None)
    if index is None:
        return None
    if is_default(index):
        return np.arange(1, len(index) + 1)
    if pd.api.types.is_integer_dtype(index.dtype):
        return index.to_numpy(dtype=np.int64)
    return np.fromiter(map(plain_name, index), dtype=object, count=len(index))


def joined_names(first: NDArray[Any] | None, second: NDArray[Any] | None) -> NDArray[Any] | None:
    """Return the names of the rows of two tables after each other; None unless both are known."""
    return None if first is None or second is None else np.concatenate([first, second])


def is_default(index: pd.Index[Any]) -> bool:
    """Return whether an index is the one that pandas gives to rows without names: 0, 1, 2, ...

    >>> is_default(pd.DataFrame({"a": [5, 6]}).index), is_default(pd.Index([0, 1], name="id"))
    (True, False)
    """
    return isinstance(index, pd.RangeIndex) and index.name is None and (index.start, index.step) == (0, 1)


def rows_at(places: Iterable[int], table: Any, most: int = 10) -> str:
    """Return the names of the rows at these places, from 0, for a message; without names, their numbers from 1.

    >>> rows_at([0, 2], np.zeros(3)), rows_at([1], pd.Series([1, 0], index=["ann", "bob"]))
    ('1, 3 (counting from 1)', 'bob')
    """
    wanted, names = list(places), names_of_rows(table)
    counted = names is None or is_default(table.index)
    shown = ", ".join(str(place + 1 if names is None else names[place]) for place in wanted[:most])
    return shown + (", ..." if len(wanted) > most else "") + (" (counting from 1)" if counted else "")


def plain_name(label: Any) -> Any:
    """Return the label of a row as a whole number or text, so that it can be stored and printed.

    >>> plain_name(7.0), plain_name("7"), plain_name(pd.Timestamp(2024, 1, 31))
    (7, '7', '2024-01-31 00:00:00')
    """
    label = python_value(label)
    if isinstance(label, float) and label.is_integer():  # pandas makes floats of integers where some are missing
        return int(label)
    return label if isinstance(label, int) and not isinstance(label, bool) else str(label)
