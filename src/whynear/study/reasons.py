"""Why the cases on a map are predicted as they are, cut to what a page can show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from whynear.explain import Explanation, explain
from whynear.study.cases import Case
from whynear.study.comparison import Comparison
from whynear.study.progress import Progress

MOST_EXPLAINED = 250  # cases
MOST_PARTS = 250_000  # features of all these cases, which take time to explain
SHOWN_PARTS = 8  # features of a case


@dataclass(frozen=True)
class Near:
    """The class of a near case, and its distance."""

    label: Any
    distance: float


@dataclass(frozen=True)
class Part:
    """What a feature adds to the squared distances of the nearest case and of the nearest of another class."""

    feature: str
    nearest: float
    other: float


@dataclass(frozen=True)
class Reason:
    """Why a case is predicted as it is, by a model that never saw it.

    Attributes
    ----------
    place : int
        The number of the row, from 0.
    text : str
        The explanation in a sentence.
    nearest, other : Near
        The nearest case of the predicted class and of any other; None where the model knows no other.
    parts : tuple of Part
        The features that add most to either distance, those first that add most.
    """

    place: int
    text: str
    nearest: Near
    other: Near | None
    parts: tuple[Part, ...]


def reasons_of(X: pd.DataFrame, comparison: Comparison, cases: Sequence[Case], report: Progress) -> tuple[Reason, ...]:
    """Explain wrong predictions, and others in even steps, in the order of the rows; ``cases`` are explained before."""
    known = {case.place: case.why for case in cases}
    most = min(MOST_EXPLAINED, max(10, MOST_PARTS // X.shape[1]))
    wrong = np.flatnonzero(comparison.wrong)
    places = _spread(len(X), most, [*known, *wrong[: most // 2]]).tolist()
    reasons = []
    for number, place in enumerate(places):
        report("explain cases", number / len(places))
        why = known.get(place)
        if why is None and (model := comparison.model_without(place)) is not None:
            why = explain(model, X.iloc[[place]])
        if why is not None:
            reasons.append(_reason(place, why))
    return tuple(reasons)


def _spread(n_cases: int, most: int, first: list[Any]) -> NDArray[np.intp]:
    """About ``most`` cases, those named first among them and the others in even steps."""
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
