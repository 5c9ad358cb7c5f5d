"""Simple methods that predict better than the model of a study."""

from __future__ import annotations

import numpy as np
import pandas as pd

from whynear.study.comparison import Comparison
from whynear.study.methods import PLAIN, PLS, RIDGE
from whynear.study.score import NAMES, counting, direction, parts_of, shown, weighted_parts
from whynear.utils.arrays import Array
from whynear.utils.row_groups import error_of_mean

RIVALS = (PLAIN, RIDGE, PLS)
STANDARD_ERRORS = 1.645  # a chance of 5%, one-sided


def better_rival(comparison: Comparison) -> str | None:
    """Return a sentence that names the best rival of the model if it predicts better, else None.

    It does if the mean difference of the losses over held-out rows is more than 1.645 of its standard errors, and the
    scores still differ when rounded. The losses are squared errors, or for classes the parts of the rows in the score.
    """
    rivals = [name for name in RIVALS if name in comparison.by_method]
    measure = comparison.measure
    best = max(rivals, key=lambda name: direction(measure) * comparison.score_of(name).value)
    rival, own = (shown(score.value, measure) for score in (comparison.score_of(best), comparison.score))
    of_own = _losses(comparison, comparison.predictions["predicted"], comparison.probabilities)
    excess = of_own - _losses(comparison, comparison.by_method[best], comparison.probabilities_by_method.get(best))
    groups = None if comparison.groups is None else comparison.groups.to_numpy()[counting(comparison.weights)]
    if rival == own or excess.mean() <= STANDARD_ERRORS * error_of_mean(excess, groups):
        return None
    name = best[0].upper() + best[1:]
    if measure != "r2":
        of_what = "of held-out cases right" if measure == "accuracy" else f"in {NAMES[measure]}"
        return (
            f"{name} predicts better than the learned metric ({rival} against {own} {of_what}): what "
            "follows describes a metric that the table does not ask for."
        )
    why = (
        "the target may depend on the features in a way that is not linear, and in bins (--bins 3) it may show more."
        if best == PLAIN
        else "what follows describes a map that is not the best for prediction."
    )
    return f"{name} predicts better than the linear map ({rival} against {own} of the variance explained): {why}"


def _losses(comparison: Comparison, predicted: pd.Series, probabilities: pd.DataFrame | None) -> Array:
    true, found, weights = comparison.predictions["true"].to_numpy(), predicted.to_numpy(), comparison.weights
    if comparison.measure == "r2":
        return weighted_parts(np.square(true - found), weights)
    return -direction(comparison.measure) * parts_of(true, found, comparison.measure, probabilities, weights)
