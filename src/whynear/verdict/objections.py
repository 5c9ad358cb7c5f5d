"""What the learner, fitted to many rows, objects to in verdicts that rest on fewer rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from whynear.utils.progress import Report
from whynear.verdict.decisions import (
    LEAST_LOSS,
    MOST_LOSS,
    NO_EVIDENCE,
    REPLACEABLE,
    SIGNIFICANT,
    UNDECIDED,
    needed_features,
)
from whynear.verdict.leaving_out import Costs, cost_of
from whynear.verdict.many_rows import ManyRows

MOST_SPARE = 40  # features, those that may cost most, without which the learner is fitted again


def costs_of_needed(costs: Costs, others: ManyRows, report: Report) -> Costs:
    """Return the costs, those of features that look indispensable as the learner has them on many rows."""
    return _measured(costs, np.flatnonzero(needed_features(costs)).tolist(), others, report)


def without_missed(decided: NDArray[np.str_], others: ManyRows) -> NDArray[np.str_]:
    """Return the verdicts, undecided where features show no evidence, but the learner misses them together."""
    absent = np.flatnonzero(decided == NO_EVIDENCE).tolist()
    if not absent or len(absent) == len(decided):
        return decided
    cost = cost_of(others.without(absent), others.without(), others.target)
    missed = cost.loss >= LEAST_LOSS and norm.sf(cost.deviation) < SIGNIFICANT
    return np.where(decided == NO_EVIDENCE, UNDECIDED, decided) if missed else decided


def without_costly(
    decided: NDArray[np.str_], costs: Costs, sufficient: Sequence[int], others: ManyRows, report: Report
) -> tuple[NDArray[np.str_], Costs]:
    """Return the verdicts, undecided where replaceable features may cost too much on many rows, and the costs.

    Only members of the sufficient set are left out one by one: it was fitted to many rows, and shows that all others
    can be left out, even together.
    """
    spare = [int(j) for j in sufficient if decided[j] == REPLACEABLE]
    asked = sorted(sorted(spare, key=lambda j: -costs.most[j])[:MOST_SPARE])
    costs = _measured(costs, asked, others, report)
    return np.where((decided == REPLACEABLE) & (costs.most > MOST_LOSS), UNDECIDED, decided), costs


def _measured(costs: Costs, features: Sequence[int], others: ManyRows, report: Report) -> Costs:
    """Return the costs, those of some features as the learner has them on many rows."""
    if not features:
        return costs
    others.prepare([[feature] for feature in features], report)
    full = others.without()
    return costs.replaced({j: cost_of(others.without([j]), full, others.target) for j in features})
