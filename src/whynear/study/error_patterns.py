"""Where the errors of a measured target are larger: with which features, and with the prediction itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from whynear.tables.encoder import holds_text
from whynear.utils.arrays import Array
from whynear.utils.text import printable

CHANCE = 0.01  # of naming anything where nothing goes with the errors
MOST_NAMED = 2
FEWEST_ROWS = 20
FEWEST_OF_CATEGORY = 5  # rows


@dataclass(frozen=True)
class ErrorPattern:
    """What goes with large errors.

    Attributes
    ----------
    feature : str or None
        A column of the table; None for the prediction itself.
    correlation : float or None
        The rank correlation of its values with the absolute errors; None for categories.
    category : str or None
        The category with the largest median error; None for numbers, and where missing values go with large errors.
    p_value : float
        The probability of so strong a relation by chance, for this feature alone.
    """

    feature: str | None
    correlation: float | None
    category: str | None
    p_value: float

    def __str__(self) -> str:
        what = "the prediction" if self.feature is None else f"“{printable(self.feature)}”"
        if self.correlation is None and self.category is None:
            return f"Errors are larger where {what} is missing."
        if self.correlation is None:
            return f"Errors differ with {what} and are largest where it is “{printable(str(self.category))}”."
        side = "high" if self.correlation > 0 else "low"
        so = "" if self.feature is not None else ": there, the interval of a prediction is too narrow"
        return f"Errors are larger where {what} is {side} (rank correlation {self.correlation:+.2f}){so}."


def error_patterns(X: pd.DataFrame, predictions: pd.DataFrame, groups: pd.Series | None) -> tuple[ErrorPattern, ...]:
    """Return what goes with large errors, most significant first, by Holm's correction for all features.

    Nothing for few rows, and for rows that belong together, which the tests would take as independent.
    """
    sizes = (predictions["true"] - predictions["predicted"]).abs().to_numpy()
    if groups is not None or len(sizes) < FEWEST_ROWS or np.ptp(sizes) == 0:
        return ()
    found = sorted(_patterns(X, predictions["predicted"], sizes), key=lambda pattern: pattern.p_value)
    kept = []
    for place, pattern in enumerate(found):
        if pattern.p_value > CHANCE / (len(found) - place):
            break
        kept.append(pattern)
    return tuple(kept[:MOST_NAMED])


def _patterns(X: pd.DataFrame, predicted: pd.Series, sizes: Array) -> Iterator[ErrorPattern]:
    yield from _of_numbers(None, predicted, sizes)
    for name in X.columns:
        column = X[name]
        yield from (_of_categories if holds_text(column) else _of_numbers)(str(name), column, sizes)
        yield from _of_gaps(str(name), column, sizes)


def _of_numbers(name: str | None, column: pd.Series[Any], sizes: Array) -> Iterator[ErrorPattern]:
    known = column.notna().to_numpy()
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)[known]
    if len(values) >= FEWEST_ROWS and np.ptp(values) > 0 and np.ptp(sizes[known]) > 0:
        tested = stats.spearmanr(values, sizes[known])
        yield ErrorPattern(name, float(tested.statistic), None, float(tested.pvalue))


def _of_categories(name: str, column: pd.Series[Any], sizes: Array) -> Iterator[ErrorPattern]:
    by_category = pd.Series(sizes).groupby(column.to_numpy(dtype=object))
    large = {str(label): part.to_numpy() for label, part in by_category if len(part) >= FEWEST_OF_CATEGORY}
    if len(large) > 1 and np.ptp(np.concatenate(list(large.values()))) > 0:
        worst = max(large, key=lambda label: float(np.median(large[label])))
        yield ErrorPattern(name, None, worst, float(stats.kruskal(*large.values()).pvalue))


def _of_gaps(name: str, column: pd.Series[Any], sizes: Array) -> Iterator[ErrorPattern]:
    missing = column.isna().to_numpy()
    if min(missing.sum(), (~missing).sum()) >= FEWEST_OF_CATEGORY:
        tested = stats.mannwhitneyu(sizes[missing], sizes[~missing], alternative="greater")
        yield ErrorPattern(name, None, None, float(tested.pvalue))
