"""Short explanations of the predictions of the cases on the maps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from whynear.explain import Explanation
from whynear.explain.explanation import NearCase, plain
from whynear.explain.why import explain_case
from whynear.study.cases import Case
from whynear.study.comparison import Comparison
from whynear.study.progress import Progress

MOST_EXPLAINED = 250  # cases
MOST_PARTS = 250_000  # features of all explained cases, because each takes time
SHOWN_PARTS = 8  # features of a case


@dataclass(frozen=True)
class Near:
    """The class of a near row or prototype (``kind``), its name or number, and its distance."""

    label: Any
    distance: float
    kind: str
    name: Any


@dataclass(frozen=True)
class Part:
    """The contributions of a feature to the squared distances of the nearest case and of the nearest other class.

    ``values`` are those of the explained case and of these two.
    """

    feature: str
    nearest: float
    other: float
    values: tuple[Any, ...]


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
    values = why.frame().set_index("feature")[["value", "nearest_value", "other_value"]].loc[most]
    return Reason(
        place,
        repr(why),
        _near(why.nearest),
        None if other is None else _near(other),
        tuple(
            Part(str(name), near, far, tuple(map(plain, held)))
            for (name, near, far), held in zip(parts.loc[most].itertuples(), values.to_numpy(), strict=True)
        ),
    )


def _near(case: NearCase) -> Near:
    return Near(case.label, case.distance, case.kind, case.name)
