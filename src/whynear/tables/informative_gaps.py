"""Columns whose missing values depend on the target."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
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
    target = np.asarray(y)
    gaps = X.isna().to_numpy()
    counts = gaps.sum(axis=0)
    tested = np.flatnonzero((counts >= FEWEST_GAPS) & (len(X) - counts >= FEWEST_GAPS))
    p_values = {str(X.columns[int(place)]): _p_value(gaps[:, place], target) for place in tested}
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
