"""The rows of a study as points on a plane, before learning and after."""

from __future__ import annotations

from typing import Any

import numpy as np

from whynear.embedding import embed
from whynear.embedding.layout import principal_plane
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
    fitted = FittedPipeline.of(model)
    seen = np.asarray(fitted.seen(fitted.table(used.X)), dtype=np.float64)
    contributions = LinearParts(fitted).contributions(seen)
    alike = contributions - contributions.mean(axis=1, keepdims=True)  # without the direction of their sum
    across = fitted.learner.target_origin_ + contributions.sum(axis=1)
    return {"before": before, "after": np.column_stack([across, principal_plane(alike)[:, 0]])}
