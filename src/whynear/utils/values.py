"""Equality of values that hold arrays and tables."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


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
