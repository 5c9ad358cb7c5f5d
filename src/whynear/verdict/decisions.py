"""From evidence to a word for each feature."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from whynear.utils.arrays import Array
from whynear.verdict.information import Information
from whynear.verdict.leaving_out import Costs

INDISPENSABLE, REPLACEABLE, NO_EVIDENCE, UNDECIDED = "indispensable", "replaceable", "no evidence", "undecided"
WORDS = (INDISPENSABLE, REPLACEABLE, UNDECIDED, NO_EVIDENCE)
SIGNIFICANT = 0.05
LEAST_LOSS = 1.0  # points; what costs less is not indispensable, however surely
MOST_LOSS = 2.0  # points; what may cost more is not called replaceable


def decide(information: Information, costs: Costs, works: bool, n_rows: int) -> NDArray[np.str_]:
    """Return the verdict on each feature.

    Indispensable: no model does as well without it, after Holm's correction for all features, and at least a point is
    lost. Replaceable: it carries information, and leaving it out costs at most two points. No evidence: an effect of
    the usual size would have shown. Everything else is undecided, and so is everything but "no evidence" where no model
    beats the class shares.

    Information that shows only beside other features is not theirs too, so its absence must cost something: where it
    costs nothing, the two contradict each other, and the feature is undecided.
    """
    needed = needed_features(costs) & works
    found = information.found & (information.found_alone | (costs.deviations > 0))
    spare = found & ~needed & (costs.most <= MOST_LOSS) & works
    absent = information.absent(n_rows) & ~needed
    return np.select([needed, spare, absent], [INDISPENSABLE, REPLACEABLE, NO_EVIDENCE], UNDECIDED)


def without_contradiction(verdict: NDArray[np.str_], names: Sequence[str], smallest: Sequence[str]) -> NDArray[np.str_]:
    """Return the verdicts, undecided where a feature shows no evidence, but the smallest set was better with it.

    >>> without_contradiction(np.array(["no evidence", "no evidence"]), ["a", "b"], ["b"]).tolist()
    ['no evidence', 'undecided']
    """
    if len(smallest) == len(names):
        return verdict
    return np.where((verdict == NO_EVIDENCE) & np.isin(names, smallest), UNDECIDED, verdict)


def needed_features(costs: Costs) -> NDArray[np.bool_]:
    """Return which features no model does as well without, and at least a point is lost."""
    return (holm(costs.p_values) < SIGNIFICANT) & (costs.losses >= LEAST_LOSS)


def holm(p_values: Array) -> Array:
    """Return p-values adjusted for all features by Holm's step-down method.

    >>> holm(np.array([0.01, 0.5, 0.02])).round(3).tolist()
    [0.03, 0.5, 0.04]
    """
    m = len(p_values)
    order = np.argsort(p_values, kind="stable")
    adjusted = np.empty(m)
    adjusted[order] = np.maximum.accumulate(p_values[order] * np.arange(m, 0, -1))
    return np.minimum(adjusted, 1.0)
