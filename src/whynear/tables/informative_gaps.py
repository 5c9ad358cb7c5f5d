"""Columns whose missing values depend on the target."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats

FEWEST_GAPS = 5  # and as many values, in a column whose gaps are tested
LARGEST_P_VALUE = 0.01  # of all columns with gaps together


def informative_gaps(X: pd.DataFrame, y: ArrayLike) -> list[str]:
    """Return the columns in which a value is missing more often for some targets than for others.

    Missing and known values are compared by Fisher's exact test for two classes, a chi-squared test for more, and the
    test of Mann and Whitney for a numeric target; a p-value below 0.01 over the number of columns with gaps counts.

    >>> X = pd.DataFrame({"a": [None] * 10 + [1.0] * 10, "b": [None, 1.0] * 10})
    >>> informative_gaps(X, ["u"] * 10 + ["v"] * 10)
    ['a']
    """
    return informative({str(name): X[name].isna().to_numpy() for name in X}, y)


def informative(gaps: Mapping[str, NDArray[np.bool_]], y: ArrayLike) -> list[str]:
    """Return the columns of `informative_gaps`, given where the values of each column are missing."""
    target = np.asarray(y)
    tested = [name for name, gone in gaps.items() if min(gone.sum(), (~gone).sum()) >= FEWEST_GAPS]
    p_values = {name: _p_value(gaps[name], target) for name in tested}
    return [name for name, p_value in p_values.items() if p_value * len(p_values) < LARGEST_P_VALUE]


def _p_value(missing: np.ndarray, target: np.ndarray) -> float:
    if target.dtype.kind == "f":
        return float(stats.mannwhitneyu(target[missing], target[~missing]).pvalue)
    codes = np.unique(target, return_inverse=True)[1]
    table = np.stack([np.bincount(codes[chosen], minlength=codes.max() + 1) for chosen in (missing, ~missing)])
    if table.shape[1] < 2:
        return 1.0
    if table.shape[1] == 2:
        return float(stats.fisher_exact(table).pvalue)
    return float(stats.chi2_contingency(table).pvalue)
