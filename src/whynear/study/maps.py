"""The rows of a study as points on a plane, before learning and after."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from whynear.embedding import embed
from whynear.embedding.further_rows import by_blocks
from whynear.embedding.layout import Plane
from whynear.explain.linear_parts import LinearParts
from whynear.metric.pipeline import FittedPipeline
from whynear.tables.problem import Problem
from whynear.utils.arrays import Array


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
        return parts.contributions(np.asarray(fitted.seen(fitted.table(table)), dtype=np.float64))

    plane = Plane.of(_alike(contributions(X)))

    def placed(table: pd.DataFrame) -> Array:
        added = contributions(table)
        return np.column_stack([fitted.learner.target_origin_ + added.sum(axis=1), plane.at(_alike(added))[:, 0]])

    return by_blocks(placed, rows)


def _alike(contributions: Array) -> Array:
    """Return contributions without the direction of their sum."""
    return contributions - contributions.mean(axis=1, keepdims=True)
