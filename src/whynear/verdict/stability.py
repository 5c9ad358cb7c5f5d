"""How often parts of the rows lead to the same verdicts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

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
    n_jobs: int | None,
    report: Report,
) -> NDArray[np.str_]:
    """Return the verdicts of resamples, of shape (n_resamples, n_features).

    A part of the rows stands for another table of the size of the whole one, so its deviations count as if it had as
    many rows.
    """
    verdicts = []
    for number in range(n_resamples):
        report(f"judge features again on parts of the rows, {number + 1} of {n_resamples}", number / n_resamples)
        rows = _part(target, rng)
        own, aim = columns.rows(rows), target.rows(rows)
        again = KernelModels(own, aim, like=models)
        costs = costs_without(again, quick=True, n_jobs=n_jobs)
        more = len(target.Y) / len(rows)
        costs = replace(costs, deviations=costs.deviations * more**0.5)
        evidence = information(own, aim).with_more_rows(more)
        verdicts.append(decide(evidence, costs, beats_guessing(again.answers, aim), len(target.Y)))
    return np.array(verdicts).reshape(n_resamples, columns.n_features)


def _part(target: Target, rng: np.random.Generator) -> Indices:
    """Draw groups of rows, as many of each class as its share asks for."""
    firsts = np.unique(target.groups, return_index=True)[1]
    strata = target.strata[firsts]
    drawn = []
    for stratum in np.unique(strata):
        mine = rng.permutation(np.flatnonzero(strata == stratum))
        drawn.append(mine[: max(2, round(PART * len(mine)))])
    return np.flatnonzero(np.isin(target.groups, np.concatenate(drawn))).astype(np.intp)
