"""The values of training cases in the units of the table, with the gaps of their rows."""

from __future__ import annotations

import numpy as np

from whynear.metric.pipeline import FittedPipeline
from whynear.utils.arrays import Array, Indices


def values_of_cases(model: FittedPipeline, cases: Array, numbers: Indices) -> Array:
    """Return the cases with these numbers in the columns made; NaN where their rows are known to lack a value."""
    values = model.values(cases[numbers])
    gaps = getattr(model.learner, "row_gaps_", None)
    if gaps is not None and model.coordinates == "columns":
        for own, number in zip(values, numbers, strict=True):
            lacking = [model.columns[place] for place in gaps[gaps[:, 0] == number, 1]]
            own[np.isin(model.sources, lacking)] = np.nan
    return values
