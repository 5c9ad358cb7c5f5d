"""Short explanations of the predictions of the cases on the maps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from whynear.engine.pieces import Piece
from whynear.engine.processes import Processes
from whynear.engine.running import results_of
from whynear.engine.workers import Workers
from whynear.explain import Explanation
from whynear.explain.explanation import NearCase, explain_cases
from whynear.metric.pipeline import FittedPipeline
from whynear.metric.unusual import UnusualValue
from whynear.study.bands import Bands
from whynear.study.cases import Case
from whynear.study.comparison import Comparison
from whynear.study.spread import explained_places
from whynear.study.voters import Voters, voters_of
from whynear.utils.arrays import Indices
from whynear.utils.plain import plain_values as plain
from whynear.utils.progress import Report

SHOWN_PARTS = 8  # features of a case
CASES_AT_ONCE = 20  # in a piece of work
SECONDS_OF_A_CASE = 0.005


@dataclass(frozen=True)
class Near:
    """The class of a near row or prototype (``kind``), its name or number, and its distance."""

    label: Any
    distance: float
    kind: str
    name: Any


@dataclass(frozen=True)
class FeatureContributions:
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
    parts : tuple of FeatureContributions
        The features that contribute most to either distance, largest first.
    voters : Voters
        The rows or prototypes that vote, with their values.
    unusual : tuple of UnusualValue
        Values of the case that are unlike the training rows.
    """

    place: int
    text: str
    nearest: Near
    other: Near | None
    parts: tuple[FeatureContributions, ...]
    voters: Voters
    unusual: tuple[UnusualValue, ...]


def reasons_of(
    X: pd.DataFrame,
    comparison: Comparison,
    cases: Sequence[Case],
    report: Report,
    bands: Bands | None = None,
    workers: Workers | None = None,
) -> tuple[Reason, ...]:
    """Explain wrong predictions, and others in even steps, in the order of the rows; ``cases`` have explanations."""
    known = {case.place: case.why for case in cases if isinstance(case.why, Explanation)}
    places = explained_places(X.shape, known, np.flatnonzero(comparison.wrong))
    reasons = {place: _reason(place, why) for place, why in known.items()}
    pieces = [
        Piece(explain_rows, {"model": model, "rows": X.iloc[few], "places": few}, SECONDS_OF_A_CASE * len(few))
        for model, left in comparison.by_model(np.setdiff1d(places, list(known)))
        for few in np.array_split(left, -(-len(left) // CASES_AT_ONCE))
    ]
    for _, done in results_of(Processes(1) if workers is None else workers, pieces, {"bands": bands}):
        reasons.update((reason.place, reason) for reason in done.result)
        report("explain cases", len(reasons) / len(places))
    return tuple(reasons[place] for place in sorted(reasons))


def explain_rows(model: FittedPipeline, rows: pd.DataFrame, places: Indices, bands: Bands | None) -> list[Reason]:
    """Explain rows by a model fitted without them."""
    found = zip(places.tolist(), explain_cases(model, model.table(rows, "X")), strict=True)
    return [_reason(place, why if bands is None else bands.summed(why)) for place, why in found]


def _reason(place: int, why: Explanation) -> Reason:
    other = why.nearest_other
    near = why.nearest.contributions.to_numpy()
    far = np.zeros(len(near)) if other is None else other.contributions.to_numpy()
    most = np.argsort(-np.maximum(np.abs(near), np.abs(far)), kind="stable")[:SHOWN_PARTS]
    held = [why.values, why.nearest.values, *([] if other is None else [other.values])]
    values = [[plain(value) for value in each.iloc[most]] for each in held]
    values += [[None] * len(most)] * (3 - len(values))
    names = why.nearest.contributions.index[most]
    return Reason(
        place,
        repr(why),
        _near(why.nearest),
        None if other is None else _near(other),
        tuple(
            map(
                FeatureContributions,
                map(str, names),
                near[most].tolist(),
                far[most].tolist(),
                zip(*values, strict=True),
            )
        ),
        voters_of(why),
        why.unusual,
    )


def _near(case: NearCase) -> Near:
    return Near(case.label, case.distance, case.kind, case.name)
