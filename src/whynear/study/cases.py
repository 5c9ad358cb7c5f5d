"""Selected cases, each explained by a model fitted without it; those of every class are selected here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from whynear.explain import Explanation, ValueExplanation
from whynear.explain.explanation import explain_case
from whynear.study.bands import Bands
from whynear.study.comparison import Comparison
from whynear.utils.progress import Report
from whynear.utils.row_names import plain_name

MOST_CLASSES = 6  # the largest ones, of which cases are explained
MOST_CASES = 3  # of a class
LARGEST_SHARE = 0.2  # of the rows of a class, but at least one row


@dataclass(frozen=True)
class Case:
    """A selected row of the table, with its class or measured value and the explanation of its prediction.

    ``kind`` is "typical", "wrong" or "borderline"; for a measured target "typical", "overestimate", "underestimate" or
    "unusual". ``row`` is the name of the row, ``place`` its position from 0.
    """

    row: Any
    kind: str
    true: Any
    why: Explanation | ValueExplanation
    place: int

    def neighbors_frame(self) -> pd.DataFrame:
        """Return a line per neighbour with what each feature adds to its distance, or for numbers to its prediction."""
        why = self.why
        parts = why.contributions if isinstance(why, Explanation) else why.neighbor_contributions
        return pd.concat([why.neighbors, parts.reset_index(drop=True)], axis=1)


def cases_frame(cases: Sequence[Case]) -> pd.DataFrame:
    """Return a row per case: its class, its prediction, and the features that make the nearest other class distant.

    For a measured target: the value, its prediction, and the features of the largest contributions.
    """
    if any(isinstance(case.why, ValueExplanation) for case in cases):
        return _values_frame(cases)
    columns = ["row", "kind", "true", "predicted", "probability", "nearest_other", "held_off_by"]
    rows = [
        (
            case.row,
            case.kind,
            case.true,
            case.why.prediction,
            float(case.why.probabilities.max()),
            None if case.why.nearest_other is None else case.why.nearest_other.label,
            ", ".join(map(str, case.why.held_off_by.index[:3])),
        )
        for case in cases
        if isinstance(case.why, Explanation)
    ]
    return pd.DataFrame(rows, columns=columns)


def _values_frame(cases: Sequence[Case]) -> pd.DataFrame:
    rows = [
        (
            case.row,
            case.kind,
            case.true,
            case.why.prediction,
            case.true - case.why.prediction,
            ", ".join(map(str, case.why.ranked.index[:3])),
        )
        for case in cases
        if isinstance(case.why, ValueExplanation)
    ]
    return pd.DataFrame(rows, columns=["row", "kind", "true", "predicted", "residual", "moved_by"])


def explained_cases(
    X: pd.DataFrame, y: NDArray[Any], comparison: Comparison, report: Report, bands: Bands | None = None
) -> tuple[Case, ...]:
    """Explain a typical, a borderline and a wrongly predicted case of each class, by the learner chosen without it.

    With ``bands`` explanations are stated in bands of a spectrum.
    """
    chosen = selected_rows(y, comparison.predictions)
    cases = []
    for number, (place, kind) in enumerate(chosen):
        report("explain cases", number / len(chosen))
        if (model := comparison.model_without(place)) is not None:
            why = explain_case(model, X.iloc[[place]])
            why = why if bands is None else bands.summed(why)
            cases.append(Case(plain_name(X.index[place]), kind, y[place], why, place))
    return tuple(cases)


def selected_rows(y: NDArray[Any], predictions: pd.DataFrame) -> list[tuple[int, str]]:
    """Return position and kind of the selected rows: none twice, and of a class at most a fifth, but one."""
    right = (predictions["true"] == predictions["predicted"]).to_numpy()
    confidence = np.where(right, predictions["probability"].to_numpy(), -predictions["probability"].to_numpy())
    chosen: list[tuple[int, str]] = []
    classes, counts = np.unique(y, return_counts=True)
    for label in classes[np.argsort(-counts, kind="stable")][:MOST_CLASSES]:
        places = np.flatnonzero(y == label)
        wanted = int(min(MOST_CASES, max(1, LARGEST_SHARE * len(places))))
        good, bad = places[right[places]], places[~right[places]]
        kinds = []
        if len(good):
            order = np.argsort(confidence[good], kind="stable")
            kinds.append((int(good[order[len(order) // 2]]), "typical"))
        if len(bad):
            kinds.append((int(bad[np.argmin(confidence[bad])]), "wrong"))
        if len(good) > 1:
            kinds.append((int(good[np.argmin(confidence[good])]), "borderline"))
        if len(places) - len(dict(kinds[:wanted])) >= 2:
            chosen += list(dict(kinds[:wanted]).items())
    return chosen
