"""Numbers of a query that lie outside the range of the stored cases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from whynear.cases.case_base import CaseBase
from whynear.metric.unusual import UnusualValue
from whynear.utils.arrays import Array

ROUNDING = 1e-6  # of the 32-bit numbers of a case base
MOST_COMPARED = 100_000  # cases, all of which are read


def numbers_out_of_range(base: CaseBase, case: Array | pd.DataFrame | Mapping[str, Any]) -> list[UnusualValue]:
    """Return the numbers of a case that lie outside the range of the stored ones; none for a base of many cases.

    >>> from whynear import DiagonalMetric
    >>> with CaseBase(":memory:", DiagonalMetric([1.0, 4.0], ["width", "height"])) as base:
    ...     ids = base.add([[0, 0], [1, 1], [3, 0]])
    ...     [(value.column, value.range) for value in numbers_out_of_range(base, {"width": 7, "height": 1})]
    [('width', '0 to 3')]
    """
    if not 0 < len(base) <= MOST_COMPARED:
        return []
    given = {str(name): number for name, value in _named(base, case) if np.isfinite(number := _as_number(value))}
    found = []
    for name, (low, high) in _ranges(base, list(given)).items():
        slack = ROUNDING * max(abs(low), abs(high))
        if not low - slack <= given[name] <= high + slack:
            found.append(UnusualValue(name, "out_of_range", given[name], low=low, high=high))
    return found


def _named(base: CaseBase, case: Array | pd.DataFrame | Mapping[str, Any]) -> list[tuple[Any, Any]]:
    if isinstance(case, np.ndarray):
        return list(zip(base.columns, case.tolist(), strict=True))
    return list((case.iloc[0] if isinstance(case, pd.DataFrame) else case).items())


def _ranges(base: CaseBase, names: list[str]) -> dict[str, tuple[float, float]]:
    """Return the smallest and the largest stored number of each of these columns that is stored as numbers."""
    ends: dict[str, tuple[float, float]] = {}
    for block in base.blocks():
        for name in block.X.columns.intersection(names):
            low, high = ends.get(name, (np.inf, -np.inf))
            ends[name] = min(low, float(block.X[name].min())), max(high, float(block.X[name].max()))
    return ends


def _as_number(value: Any) -> float:
    """Return a value as a number; NaN if it is none."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return np.nan
