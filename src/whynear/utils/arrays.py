"""Kinds of arrays, frozen copies of them, and their values as plain numbers."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Flags = NDArray[np.bool_]


class ByValue:
    """Base of frozen dataclasses with arrays: ``==`` compares field by field and never raises.

    For classes made with ``@dataclass(frozen=True, eq=False)``. They have no hash.
    """

    def __eq__(self: DataclassInstance, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        compared = (field.name for field in fields(self) if field.compare)
        return self is other or all(same(getattr(self, name), getattr(other, name)) for name in compared)


def same(first: Any, second: Any) -> bool:
    """Return whether two values are equal: arrays and tables entry by entry, with NaN equal to NaN.

    >>> same({"a": np.array([1.0, np.nan])}, {"a": np.array([1.0, np.nan])})
    True
    """
    if isinstance(first, np.ndarray) or isinstance(second, np.ndarray):
        return type(first) is type(second) and np.array_equal(first, second, equal_nan=first.dtype.kind in "fc")
    if hasattr(first, "equals"):  # a table, a column or an index of pandas
        return type(first) is type(second) and bool(first.equals(second))
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(same(first[key], second[key]) for key in first)
    if isinstance(first, list | tuple) and type(first) is type(second):
        return len(first) == len(second) and all(map(same, first, second))
    if isinstance(first, float) and isinstance(second, float) and np.isnan(first):
        return bool(np.isnan(second))
    return bool(first == second)


def python_value(value: Any) -> Any:
    """Return a number, text or label of numpy as a value of Python; others as they are.

    >>> python_value(np.int64(3)), python_value("a")
    (3, 'a')
    """
    return value.item() if isinstance(value, np.generic) else value


def plain_values(value: Any) -> Any:
    """Return a value in types that JSON has: numpy's numbers as Python's, None for NaN and infinities."""
    match value:
        case dict():
            return {str(key): plain_values(item) for key, item in value.items()}
        case list() | tuple():
            return [plain_values(item) for item in value]
        case np.ndarray():
            return plain_values(value.tolist())
        case np.generic():
            return plain_values(value.item())
        case float():
            return value if np.isfinite(value) else None
        case None | bool() | int() | str():
            return value
    return str(value)
