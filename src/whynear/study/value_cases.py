"""Selected rows with a measured target, and short explanations of many, each by a model fitted without the row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from whynear.explain import ValueExplanation
from whynear.explain.value_explanation import explain_value
from whynear.metric.unusual import UnusualValue, unusual_values
from whynear.study.bands import Bands
from whynear.study.cases import Case
from whynear.study.comparison import Comparison
from whynear.study.spread import explained_places
from whynear.study.voters import Voters, near_rows_of
from whynear.utils.arrays import Indices
from whynear.utils.plain import plain_values
from whynear.utils.progress import Report
from whynear.utils.row_names import plain_name

SHOWN_PARTS = 8  # features of a row


@dataclass(frozen=True)
class ValuePart:
    """What a feature adds to a prediction, the value of the row, and the mean of the training rows."""

    feature: str
    contribution: float
    value: Any
    mean: Any


@dataclass(frozen=True)
class ValueReason:
    """A short explanation of the prediction of a row by a model fitted without it.

    ``place`` is the position of the row from 0, ``text`` the explanation in a sentence, ``parts`` the features that add
    most to the prediction or take most from it, ``voters`` the nearest rows with their values, and ``unusual`` the
    values of the row that are unlike the training rows.
    """

    place: int
    text: str
    parts: tuple[ValuePart, ...]
    voters: Voters
    unusual: tuple[UnusualValue, ...]


def explained_values(
    X: pd.DataFrame, comparison: Comparison, report: Report, bands: Bands | None = None
) -> tuple[Case, ...]:
    """Explain a typical row, the largest overestimate and underestimate, and the row with most unusual values.

    With ``bands`` explanations are stated in bands of a spectrum.
    """
    chosen = selected_values(comparison.predictions, _unusual_counts(X, comparison))
    cases = []
    for number, (place, kind) in enumerate(chosen):
        report("explain cases", number / len(chosen))
        if (why := _explained(X, comparison, place, bands)) is not None:
            true = float(comparison.predictions["true"].iloc[place])
            cases.append(Case(plain_name(X.index[place]), kind, true, why, place))
    return tuple(cases)


def selected_values(predictions: pd.DataFrame, unusual: Indices) -> list[tuple[int, str]]:
    """Return position and kind of the selected rows, none twice.

    The typical row has the median of the absolute errors, among rows without unusual values where there are such.
    Of rows with equally many unusual values, the one with the largest error is taken.
    """
    errors = (predictions["true"] - predictions["predicted"]).to_numpy()
    plain = np.flatnonzero(unusual == 0) if (unusual == 0).any() else np.arange(len(errors))
    order = plain[np.argsort(np.abs(errors[plain]), kind="stable")]
    chosen = {int(order[len(order) // 2]): "typical"}
    if errors.min() < 0:
        chosen.setdefault(int(errors.argmin()), "overestimate")
    if errors.max() > 0:
        chosen.setdefault(int(errors.argmax()), "underestimate")
    if unusual.max(initial=0):
        strangest = np.lexsort((-np.abs(errors), -unusual))
        chosen.setdefault(int(strangest[0]), "unusual")
    return list(chosen.items())


def value_reasons(
    X: pd.DataFrame, comparison: Comparison, cases: Sequence[Case], report: Report, bands: Bands | None = None
) -> tuple[ValueReason, ...]:
    """Explain the rows with the largest errors, and others in even steps; ``cases`` have explanations."""
    known = {case.place: case.why for case in cases if isinstance(case.why, ValueExplanation)}
    sizes = (comparison.predictions["true"] - comparison.predictions["predicted"]).abs().to_numpy()
    places = explained_places(X.shape, known, np.argsort(-sizes, kind="stable")).tolist()
    reasons = []
    for number, place in enumerate(places):
        report("explain cases", number / len(places))
        why = known.get(place) or _explained(X, comparison, place, bands)
        if why is not None:
            reasons.append(_reason(place, why))
    return tuple(reasons)


def _unusual_counts(X: pd.DataFrame, comparison: Comparison) -> Indices:
    """Return for each row the number of values unlike those of the rows that its model was fitted to."""
    counts = np.zeros(len(X), dtype=np.intp)
    for fitted, held_out in comparison.by_model(np.arange(len(X))):
        table = fitted.table(X.iloc[held_out])
        counts[held_out] = [len(found) for found in unusual_values(fitted, table, fitted.seen(table))]
    return counts


def _explained(X: pd.DataFrame, comparison: Comparison, place: int, bands: Bands | None) -> ValueExplanation | None:
    """Return the explanation of a row; None where no column varies in the rows that its model was fitted to."""
    fitted = comparison.model_without(place)
    if fitted is None:
        return None
    why = explain_value(fitted, X.iloc[[place]])
    return why if bands is None else bands.summed_value(why)


def _reason(place: int, why: ValueExplanation) -> ValueReason:
    most = [str(name) for name in why.ranked.index[:SHOWN_PARTS]]
    parts = (
        ValuePart(name, float(why.contributions[name]), *plain_values([why.values[name], why.mean_values[name]]))
        for name in most
    )
    return ValueReason(place, repr(why), tuple(parts), near_rows_of(why), why.unusual)
