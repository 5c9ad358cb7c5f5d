"""The rows of a metric that are bounded, each with the directions of the data it acts on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whynear.interpret.null_space import seen_by_learner, served_rows, times
from whynear.metric import DiagonalMetric, LinearMetric, LocalMetric
from whynear.metric.projection import Directions, principal_directions
from whynear.utils.arrays import Array

MOST_MAPS = 100
NEGLIGIBLE = 1e-6  # of the largest row's norm
EPS = float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class RowProblem:
    """One row to bound: the columns that vary, the directions, the row in them, and its weight in the sum.

    ``t`` is by how much another map may differ from the row in each direction.
    """

    U: Array
    b: Array
    t: Array
    live: NDArray[np.intp]
    map: Array
    share: float
    anchor: int | None


Part = tuple[LinearMetric | DiagonalMetric, Directions, float, int | None]


def maps_with_directions(
    given: LinearMetric | DiagonalMetric | LocalMetric, X: ArrayLike, effective_dim: int | None
) -> Iterator[Part]:
    """Yield each map with the directions of the rows it serves, their share of the data, and its anchor."""
    if not isinstance(given, LocalMetric):
        yield *seen_by_learner(given, X, effective_dim), 1.0, None
        return
    if len(given) > MOST_MAPS:
        raise ValueError(
            f"The metric has {len(given)} maps, one per anchor. Bound one of them on the cases around its anchor: "
            "relevance_intervals(metric[i], X_near)."
        )
    learned, rows, served = given.as_learned(), given.learned_coordinates(X), served_rows(given, X)
    for anchor in range(len(given)):
        mine = rows[served == anchor]
        if len(mine) >= 2:
            one = learned[anchor]
            directions = principal_directions(mine)
            if effective_dim is not None and effective_dim < directions.rank:
                directions = principal_directions(mine, effective_dim)
            yield one, directions, len(mine) / len(rows), anchor


def row_problems(
    parts: Sequence[Part], rows: str, tolerance: float = 0.0, budget: float = 1.0
) -> tuple[list[RowProblem], tuple[str, ...]]:
    """Return the rows to bound, and the names of those left out: negligible, or zero within the tolerance.

    Directions in which no map of at most ``budget`` times the norm of the row can leave the tolerance are left out.
    """
    problems: list[RowProblem] = []
    skipped: list[str] = []
    for metric, directions, share, anchor in parts:
        U = directions.kept
        if not U.shape[1]:  # data that do not vary
            continue
        if rows == "map" and isinstance(metric, DiagonalMetric):
            mapped = np.sqrt(metric.weights)[:, None] * U
        else:
            mapped = times(metric, U)
        if rows == "eigen":
            left, scales, right = np.linalg.svd(mapped, full_matrices=False)
            # The sign of an eigenvector is arbitrary: it gets that of the row of the map it is most like.
            signs = np.sign(left[np.abs(left).argmax(axis=0), np.arange(left.shape[1])])
            mapped = (signs * scales)[:, None] * right
        norms = np.linalg.norm(mapped, axis=1)
        rounding = len(U) * EPS * np.sqrt(metric.relevances().sum())  # what a map in the null space leaves
        kept = norms > max(NEGLIGIBLE * norms.max(initial=0.0), rounding)
        scales = directions.singular_values[: U.shape[1]]
        t = tolerance * float(np.linalg.norm(mapped * scales)) / scales
        kept &= (np.abs(mapped) > t).any(axis=1)
        whose = "" if anchor is None else f"anchor {anchor}, "
        skipped += [f"{whose}row {row}" for row in np.flatnonzero(~kept)]
        lengths = np.linalg.norm(U, axis=1)
        live = np.flatnonzero(lengths > 1e-10 * lengths.max(initial=0.0))
        for b in mapped[kept]:
            row = U @ b
            reach = budget * float(np.abs(row).sum()) * np.abs(U).max(axis=0)
            binding = (t == 0) | (t < np.abs(b) + reach)
            own = np.ascontiguousarray(U[live][:, binding])
            problems.append(RowProblem(own, b[binding], t[binding], live, row, share, anchor))
    return problems, tuple(skipped)
