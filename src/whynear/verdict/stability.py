"""How often parts of the rows lead to the same verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from whynear.engine.pieces import Piece
from whynear.engine.running import results_of
from whynear.engine.workers import Workers
from whynear.utils.arrays import Indices
from whynear.utils.progress import Report
from whynear.verdict.decisions import decide
from whynear.verdict.feature_columns import FeatureColumns
from whynear.verdict.information import information
from whynear.verdict.leaving_out import costs_without
from whynear.verdict.models import KernelModels, beats_guessing
from whynear.verdict.targets import Target

PART = 0.8  # of the rows, or of their groups
AGREED = 0.75  # share of resamples below which a verdict is undecided


def resampled_verdicts(
    columns: FeatureColumns,
    target: Target,
    models: KernelModels,
    n_resamples: int,
    rng: np.random.Generator,
    workers: Workers,
    report: Report,
    seconds: float = 0.0,
) -> NDArray[np.str_]:
    """Return the verdicts of resamples, of shape (n_resamples, n_features).

    Every resample is a piece of work, which takes roughly this number of seconds.
    """
    pieces = [Piece(judge_part, {"rows": _part(target, rng)}, seconds) for _ in range(n_resamples)]
    found: dict[Piece, NDArray[np.str_]] = {}
    shared = {"columns": columns, "target": target, "ridges": models.settled}
    report("judge features again on parts of the rows", 0.0)
    for piece, done in results_of(workers, pieces, shared):
        found[piece] = done.result
        report(f"judge features again on parts of the rows, {len(found)} of {n_resamples}", len(found) / n_resamples)
    return np.array([found[piece] for piece in pieces]).reshape(n_resamples, columns.n_features)


def judge_part(rows: Indices, columns: FeatureColumns, target: Target, ridges: Mapping[str, float]) -> NDArray[np.str_]:
    """Return the verdicts of a part of the rows, by these kernels at these ridges.

    It stands for another table of the size of the whole one, so its deviations count as if it had as many rows.
    """
    own, aim = columns.rows(rows), target.rows(rows)
    again = KernelModels(own, aim, ridges=ridges)
    costs = costs_without(again, quick=True)
    more = len(target.Y) / len(rows)
    costs = replace(costs, deviations=costs.deviations * more**0.5)
    evidence = information(own, aim).with_more_rows(more)
    return decide(evidence, costs, beats_guessing(again.answers, aim), len(target.Y))


def _part(target: Target, rng: np.random.Generator) -> Indices:
    """Draw groups of rows, as many of each class as its share asks for."""
    firsts = np.unique(target.groups, return_index=True)[1]
    strata = target.strata[firsts]
    drawn = []
    for stratum in np.unique(strata):
        mine = rng.permutation(np.flatnonzero(strata == stratum))
        drawn.append(mine[: max(2, round(PART * len(mine)))])
    return np.flatnonzero(np.isin(target.groups, np.concatenate(drawn))).astype(np.intp)
