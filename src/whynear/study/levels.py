"""The values of the most relevant features in a few levels, by which maps of the cases are coloured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from whynear.interpret import Relevance
from whynear.tables.encoder import holds_text

MOST_FEATURES = 60
LEVELS = 5


@dataclass(frozen=True, eq=False)
class FeatureLevels:
    """How high every case lies in a feature.

    Attributes
    ----------
    feature : str
        Its name.
    place : int
        Its number among the features, from 0.
    of_cases : ndarray of int8
        From 0, the lowest fifth of the cases, to 4, the highest; -1 where the value is missing.
    """

    feature: str
    place: int
    of_cases: NDArray[np.int8]


def levels_of(X: pd.DataFrame, relevance: Relevance) -> tuple[FeatureLevels, ...]:
    """The levels of the features that can matter most, in the order of that."""
    order = np.argsort(-relevance.upper, kind="stable")[:MOST_FEATURES]
    names = [relevance.feature_names[j] for j in order]
    return tuple(FeatureLevels(name, int(j), _levels(X[name])) for j, name in zip(order, names, strict=True))


def _levels(column: pd.Series) -> NDArray[np.int8]:
    """Categories in the order of their names."""
    values = (
        pd.Series(pd.factorize(column, sort=True)[0]).where(column.notna().to_numpy()) if holds_text(column) else column
    )
    ranks = values.rank(method="average", pct=True).to_numpy()
    known = np.minimum(LEVELS - 1, np.nan_to_num(ranks * LEVELS)).astype(np.int8)
    return np.where(np.isnan(ranks), np.int8(-1), known)
