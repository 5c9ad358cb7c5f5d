"""Held-out rows that have a copy among the rows that they were predicted from."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from whynear.study.comparison import Comparison
from whynear.study.score import NAMES, Measure, Score, score_of
from whynear.tables.copies import features_as_codes
from whynear.utils.text import counted


def copies_across_folds(X: pd.DataFrame, fold: pd.Series) -> NDArray[np.bool_]:
    """Return which rows have all features in common with a row of another fold.

    Where the first rows are in no fold (0), folds follow in time, and only a row of an earlier one counts.

    >>> copies_across_folds(pd.DataFrame({"a": [5.0, 5.0, 6.0, 6.0]}), pd.Series([1, 2, 1, 1])).tolist()
    [True, True, False, False]
    """
    number, alike = pd.Series(fold.to_numpy()), features_as_codes(X)
    if (number == 0).any():
        return (number.groupby(alike).transform("min") < number).to_numpy()
    return (number.groupby(alike).transform("nunique") > 1).to_numpy()


def caveats_of_copies(X: pd.DataFrame, comparison: Comparison) -> list[str]:
    """Return a caveat with the number of copies across folds, and the score without them; none if there are none."""
    predictions, groups = comparison.predictions, comparison.groups
    fold = np.zeros(len(X), dtype=int)
    fold[comparison.places] = predictions["fold"]
    copied = copies_across_folds(X, pd.Series(fold))[comparison.places]
    if not copied.any():
        return []
    if copied.all():
        return [
            "Every held-out row has a copy among the rows it was predicted from: nothing here says how well new rows "
            "are predicted."
        ]
    new = predictions[~copied]
    of_new = None if groups is None else groups[~copied]
    measure, shares = comparison.measure, comparison.probabilities
    of_new_rows = None if shares is None else shares[~copied]
    weights = None if comparison.weights is None else comparison.weights[~copied]
    score = score_of(new["true"].to_numpy(), new["predicted"].to_numpy(), measure, of_new, of_new_rows, weights)
    one, several = "row has a copy among the rows it was", "rows have a copy among the rows they were"
    rows = f"{counted(int(copied.sum()), f'held-out {one}', f'held-out {several}')} predicted from"
    return [f"{rows}; {_of_others(measure, score)}." if np.isfinite(score.value) else f"{rows}."]


def _of_others(measure: Measure, score: Score) -> str:
    if measure == "accuracy":
        return f"of the others, {score} are predicted right"
    if measure == "r2":
        return f"of the others, {score} of the variance is explained"
    return f"the {NAMES[measure]} of the others is {score}"
