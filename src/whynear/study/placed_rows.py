"""The rows that were not compared, as further points on the maps of those that were."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from whynear.embedding.further_rows import place_after, place_before
from whynear.study.maps import place_numbers
from whynear.study.sample import sampled_rows
from whynear.study.settings import COMPARED_ROWS
from whynear.tables.problem import Problem
from whynear.utils.arrays import Array

MOST_OTHERS = 1_000_000  # rows that are placed


@dataclass(frozen=True, eq=False)
class PlacedRows:
    """Rows of a large table beside the cases of a study. They were not held out, so that nothing is predicted of them.

    Attributes
    ----------
    names : Index
        The names of the rows.
    true : ndarray
        Their classes, or their measured values.
    maps : dict of ndarray
        Where they lie before and after learning, on the maps of the cases.
    n_all : int
        How many there are; those that are placed are at most a million, drawn at random.
    """

    names: pd.Index
    true: NDArray[Any]
    maps: dict[str, Array]
    n_all: int

    def some(self, most: int) -> PlacedRows:
        """Return at most so many of them, in even steps."""
        if len(self.names) <= most:
            return self
        rows = np.linspace(0, len(self.names) - 1, most).round().astype(np.intp)
        maps = {name: points[rows] for name, points in self.maps.items()}
        return PlacedRows(self.names[rows], self.true[rows], maps, self.n_all)


def placed_rows_of(
    problem: Problem, shown: Problem, maps: dict[str, Array], model: Any, seed: int
) -> PlacedRows | None:
    """Place the rows that were not compared on the maps of the cases; None where all were."""
    if len(problem.X) <= COMPARED_ROWS:
        return None
    left = np.ones(len(problem.X), dtype=bool)
    left[sampled_rows(problem, COMPARED_ROWS, seed)] = False
    rows = np.flatnonzero(left)
    n_all = len(rows)
    if n_all > MOST_OTHERS:
        rows = np.sort(np.random.default_rng(seed).choice(rows, MOST_OTHERS, replace=False))
    further = problem.X.iloc[rows]
    after = (
        place_after(model, shown.X, maps["after"], further)
        if problem.kind == "classes"
        else place_numbers(model, shown.X, further)
    )
    placed = {"before": place_before(model, shown.X, further), "after": after}
    return PlacedRows(further.index, problem.y[rows], placed, n_all)
