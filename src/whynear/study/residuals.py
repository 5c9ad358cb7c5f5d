"""The errors of held-out predictions of a numeric target."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from whynear.study.error_interval import error_interval
from whynear.study.error_patterns import ErrorPattern
from whynear.study.regression import root_mean_squared_error
from whynear.utils.row_names import plain_name

MOST_SHOWN = 5  # rows


@dataclass(frozen=True)
class Residual:
    """The prediction of a row and how far it is from the measured value.

    ``row`` is the name of the row, ``residual`` the measured value less the prediction.
    """

    row: Any
    true: float
    predicted: float
    residual: float


@dataclass(frozen=True)
class Residuals:
    """The errors of held-out predictions of a numeric target.

    Attributes
    ----------
    typical : float
        The root mean squared error.
    median : float
        The median of the absolute errors.
    largest : tuple of Residual
        The rows with the largest absolute errors, largest first.
    interval : tuple of float or None
        The errors, measured less predicted, between which 90% of them lie; see `error_interval`.
    patterns : tuple of ErrorPattern
        What goes with large errors.
    """

    typical: float
    median: float
    largest: tuple[Residual, ...]
    interval: tuple[float, float] | None = None
    patterns: tuple[ErrorPattern, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return asdict(self)


def residuals_of(predictions: pd.DataFrame, patterns: tuple[ErrorPattern, ...] = ()) -> Residuals:
    """Return the errors of predictions with the columns ``true`` and ``predicted``."""
    residuals = (predictions["true"] - predictions["predicted"]).to_numpy()
    largest = np.argsort(-np.abs(residuals), kind="stable")[:MOST_SHOWN]
    return Residuals(
        root_mean_squared_error(predictions),
        float(np.median(np.abs(residuals))),
        tuple(_residual(predictions, int(place)) for place in largest),
        error_interval(residuals),
        patterns,
    )


def _residual(predictions: pd.DataFrame, place: int) -> Residual:
    true, predicted = (float(predictions[name].iloc[place]) for name in ("true", "predicted"))
    return Residual(plain_name(predictions.index[place]), true, predicted, true - predicted)
