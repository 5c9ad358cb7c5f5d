"""Short explanations of the predictions of the cases on the maps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from whynear.explain import Explanation
from whynear.explain.why import explain_case
from whynear.study.cases import Case
from whynear.study.comparison import Comparison
from whynear.study.progress import Progress

MOST_EXPLAINED = 250  # cases
MOST_PARTS = 250_000  # features of all explained cases, because each takes time
SHOWN_PARTS = 8  # features of a case


@dataclass(frozen=True)
class Near:
    """The class of a near case, and its distance."""

    label: Any
    distance: float


@dataclass(frozen=True)
class Part:
    """The contributions of a feature to the squared distances of the nearest case and of the nearest other class."""

    feature: str
    nearest: float
    other: float


@dataclass(frozen=True)
class Reason:
    """A short explanation of the prediction of a case by a model fitted without it.

    Attributes
    ----------
    place : int
        The position of the row, from 0.
    text : str
        The explanation in a sentence.
    nearest, other : Near
        The nearest case of the predicted class and of any other; None where there is no other class.
    parts : tuple of Part
        The features that contribute most to either distance, largest first.
    """

    place: int
    text: str
    nearest: Near
    other: Near | None
    parts: tuple[Part, ...]


def reasons_of(X: pd.DataFrame, comparison: Comparison, cases: Sequence[Case], report: Progress) -> tuple[Reason, ...]:
    """Explain wrong predictions, and others in even steps, in the order of the rows; ``cases`` have explanations."""
    known = {case.place: case.why for case in cases}
    most = min(MOST_EXPLAINED, max(10, MOST_PARTS // X.shape[1]))
    wrong = np.flatnonzero(comparison.wrong)
    places = _spread(len(X), most, [*known, *wrong[: most // 2]]).tolist()
    reasons = []
    for number, place in enumerate(places):
        report("explain cases", number / len(places))
        why = known.get(place)
        if why is None and (model := comparison.fitted_without(place)) is not None:
            why = explain_case(model, X.iloc[[place]])
        if why is not None:
            reasons.append(_reason(place, why))
    return tuple(reasons)


def _spread(n_cases: int, most: int, first: list[Any]) -> NDArray[np.intp]:
    """Return about ``most`` positions: those in ``first``, and others in even steps."""
    left = max(1, most - len(first))
    return np.union1d(np.array(first, dtype=np.intp), np.arange(0, n_cases, max(1, -(-n_cases // left))))


def _reason(place: int, why: Explanation) -> Reason:
    other = why.nearest_other
    parts = pd.DataFrame({"nearest": why.nearest.contributions})
    parts["other"] = 0.0 if other is None else other.contributions
    most = parts.abs().max(axis=1).sort_values(ascending=False, kind="stable").index[:SHOWN_PARTS]
    shown = parts.loc[most]
    return Reason(
        place,
        repr(why),
        Near(why.nearest.label, why.nearest.distance),
        None if other is None else Near(other.label, other.distance),
        tuple(Part(str(name), near, far) for name, near, far in shown.itertuples()),
    )
