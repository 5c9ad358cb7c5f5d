"""The values of the most relevant features in a few levels, used to colour the maps of the cases."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from whynear.interpret import Relevance
from whynear.tables.encoder import holds_text

MOST_FEATURES = 60
N_LEVELS = 5


@dataclass(frozen=True, eq=False)
class FeatureLevels:
    """The level of every case in one feature.

    Attributes
    ----------
    feature : str
        Its name.
    place : int
        Its position among the features, from 0.
    of_cases : ndarray of int8
        From 0 (the lowest fifth of the cases) to 4 (the highest); -1 where the value is missing.
    """

    feature: str
    place: int
    of_cases: NDArray[np.int8]


def levels_of(X: pd.DataFrame, relevance: Relevance) -> tuple[FeatureLevels, ...]:
    """Return the levels of the features with the largest upper bounds, in that order."""
    order = np.argsort(-relevance.upper, kind="stable")[:MOST_FEATURES]
    names = [relevance.feature_names[j] for j in order]
    return tuple(FeatureLevels(name, int(j), _levels(X[name])) for j, name in zip(order, names, strict=True))


def _levels(column: pd.Series) -> NDArray[np.int8]:
    """Return the level of each value; categories count in the order of their names."""
    values = (
        pd.Series(pd.factorize(column, sort=True)[0]).where(column.notna().to_numpy()) if holds_text(column) else column
    )
    ranks = values.rank(method="average", pct=True).to_numpy()
    known = np.minimum(N_LEVELS - 1, np.nan_to_num(ranks * N_LEVELS)).astype(np.int8)
    return np.where(np.isnan(ranks), np.int8(-1), known)
