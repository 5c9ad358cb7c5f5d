"""The most instructive cases of every class, each explained by a model fitted without it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from whynear.explain import Explanation, explain
from whynear.study.comparison import Comparison
from whynear.study.progress import Progress

MOST_CLASSES = 6  # whose cases are explained
MOST_MISSING = 0.2  # of a class that may be kept from the model


@dataclass(frozen=True)
class Case:
    """A row of the table, why it was chosen, and why it is predicted as it is; ``place`` is its number from 0."""

    row: Any
    kind: str
    true: Any
    why: Explanation
    place: int


def cases_frame(cases: Sequence[Case]) -> pd.DataFrame:
    """A row per case: what it is, what is predicted of it, and the features that hold the nearest other class off."""
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
    ]
    return pd.DataFrame(rows, columns=columns)


def explained_cases(X: pd.DataFrame, y: NDArray[Any], comparison: Comparison, report: Progress) -> tuple[Case, ...]:
    """A typical, a borderline and a wrong case of each class, each explained by the model fitted without it."""
    chosen = instructive(y, comparison.held_out)
    cases = []
    for number, (place, kind) in enumerate(chosen):
        report("explain cases", number / len(chosen))
        if (model := comparison.model_without(place)) is not None:
            cases.append(Case(X.index[place], kind, y[place], explain(model, X.iloc[[place]]), place))
    return tuple(cases)


def instructive(y: NDArray[Any], predictions: pd.DataFrame) -> list[tuple[int, str]]:
    """Places of the chosen rows with the kind of each; no row twice, and of no class more than a fifth."""
    right = (predictions["true"] == predictions["predicted"]).to_numpy()
    sure = np.where(right, predictions["probability"].to_numpy(), -predictions["probability"].to_numpy())
    chosen: list[tuple[int, str]] = []
    classes, counts = np.unique(y, return_counts=True)
    for label in classes[np.argsort(-counts, kind="stable")][:MOST_CLASSES]:
        places = np.flatnonzero(y == label)
        wanted = int(min(3, max(1, MOST_MISSING * len(places))))
        good, bad = places[right[places]], places[~right[places]]
        kinds = []
        if len(good):
            middle = np.argsort(sure[good], kind="stable")
            kinds.append((int(good[middle[len(middle) // 2]]), "typical"))
        if len(bad):
            kinds.append((int(bad[np.argmin(sure[bad])]), "wrong"))
        if len(good) > 1:
            kinds.append((int(good[np.argmin(sure[good])]), "borderline"))
        if len(places) - len(dict(kinds[:wanted])) >= 2:
            chosen += list(dict(kinds[:wanted]).items())
    return chosen
