"""Simple methods that predict better than the model of a study."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from whynear.study.comparison import Comparison
from whynear.study.methods import PLAIN, PLS, RIDGE
from whynear.utils.arrays import Array
from whynear.utils.row_groups import error_of_mean

RIVALS = (PLAIN, RIDGE, PLS)
STANDARD_ERRORS = 1.645  # a chance of 5%, one-sided


def better_rival(comparison: Comparison) -> str | None:
    """Return a sentence that names the best rival of the model if it predicts better, else None.

    It does if the mean difference of the losses over held-out rows is more than 1.645 of its standard errors, and the
    scores still differ when rounded. The losses are squared errors, or for classes one for each wrong prediction.
    """
    rivals = [name for name in RIVALS if name in comparison.by_method]
    best = max(rivals, key=lambda name: comparison.score_of(name).value)
    rival, own = (f"{score.value:.1%}" for score in (comparison.score_of(best), comparison.score))
    predicted = comparison.predictions["predicted"].to_numpy()
    excess = _losses(comparison, predicted) - _losses(comparison, comparison.by_method[best].to_numpy())
    if rival == own or excess.mean() <= STANDARD_ERRORS * error_of_mean(excess, comparison.groups):
        return None
    name = best[0].upper() + best[1:]
    if comparison.measure == "accuracy":
        return (
            f"{name} predicts better than the learned metric ({rival} against {own} of held-out cases right): what "
            "follows describes a metric that the table does not ask for."
        )
    why = (
        "the target may depend on the features in a way that is not linear, and in bins (--bins 3) it may show more."
        if best == PLAIN
        else "what follows describes a map that is not the best for prediction."
    )
    return f"{name} predicts better than the linear map ({rival} against {own} of the variance explained): {why}"


def _losses(comparison: Comparison, predicted: NDArray[Any]) -> Array:
    true = comparison.predictions["true"].to_numpy()
    return np.square(true - predicted) if comparison.measure == "r2" else (true != predicted).astype(float)
