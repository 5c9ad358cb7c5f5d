"""How far measured values lie from predictions of held-out rows, kept in the learner for new predictions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from whynear.metric.steps import estimators_of
from whynear.utils.arrays import Array

COVERED = 0.9  # share of the values measured in new rows that lie within the interval


def error_interval(errors: Array) -> tuple[float, float] | None:
    """Return two of the errors, measured less predicted, between which that of a new row lies with 90% probability.

    They are those at places floor(0.05 (n + 1)) and ceil(0.95 (n + 1)) in the order of size (split conformal
    prediction); None where there are too few rows for these.

    >>> error_interval(np.arange(1.0, 20.0)), error_interval(np.arange(1.0, 19.0))
    ((1.0, 19.0), None)
    """
    ranked, tail = np.sort(errors), (1 - COVERED) / 2 * (len(errors) + 1)
    low = math.floor(tail + 1e-9)
    if low < 1:
        return None
    return float(ranked[low - 1]), float(ranked[len(ranked) - low])


def remember_errors(model: Any, predictions: pd.DataFrame) -> Any:
    """Return a model whose learner knows the interval of the errors of its kind on held-out rows, if it has a map."""
    learner = estimators_of(model)[-1]
    found = error_interval((predictions["true"] - predictions["predicted"]).to_numpy())
    if found is not None and hasattr(learner, "metric_"):
        learner.error_interval_ = np.array(found)
    return model
