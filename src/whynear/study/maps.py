"""The cases as points on a plane, with further rows and the levels that colour them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from whynear.data.encoder import holds_text
from whynear.data.problem import Problem
from whynear.embed.embedding import Plane, by_blocks, embed, place_after, place_before
from whynear.explain.value_explanation import LinearParts
from whynear.interpret import Relevance
from whynear.model.pipeline import FittedPipeline
from whynear.study.folds import sampled_rows
from whynear.study.settings import COMPARED_ROWS
from whynear.utils.arrays import Array

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


def maps_of(used: Problem, model: Any, seed: int) -> dict[str, Array]:
    """Return the cases as points on a plane before learning and after.

    After learning they are placed by the learned metric. That of a numeric target places them on a line, by their
    predictions; the second coordinate is the principal direction of their contributions among cases predicted alike.
    """
    before = embed(model, used.X, method="pca")
    if used.kind == "classes":
        return {"before": before, "after": embed(model, used.X, random_state=seed)}
    return {"before": before, "after": place_numbers(model, used.X, used.X)}


def place_numbers(model: Any, X: pd.DataFrame, rows: pd.DataFrame) -> Array:
    """Return rows on the map of X that a model of a numeric target makes."""
    fitted = FittedPipeline.of(model)
    parts = LinearParts(fitted)

    def contributions(table: pd.DataFrame) -> Array:
        return parts.contributions(np.asarray(fitted.seen(fitted.matched(table)), dtype=np.float64))

    plane = Plane.of(_alike(contributions(X)))

    def placed(table: pd.DataFrame) -> Array:
        added = contributions(table)
        return np.column_stack([fitted.learner.target_origin_ + added.sum(axis=1), plane.at(_alike(added))[:, 0]])

    return by_blocks(placed, rows)


def _alike(contributions: Array) -> Array:
    """Return contributions without the direction of their sum."""
    return contributions - contributions.mean(axis=1, keepdims=True)


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
