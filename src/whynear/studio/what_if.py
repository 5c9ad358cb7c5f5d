"""What changes a prediction: changed values, and the nearest change of class."""

from __future__ import annotations

import time
from typing import Any

import pandas as pd

from whynear.explain import Explanation, ValueExplanation
from whynear.explain.flips import flips
from whynear.explain.linear_parts import is_linear_map
from whynear.explain.why import explain_each, explainable
from whynear.model.pipeline import FittedPipeline
from whynear.model.unusual import UnusualValue
from whynear.studio.live import Live, features_of
from whynear.studio.models import CaseQuery, Change, FlipAnswer, FlipQuery, Flips, Neighbor, Unusual, WhatIf
from whynear.studio.store import Refused
from whynear.utils.arrays import plain_values
from whynear.utils.text import listed, printable

MOST_NEIGHBORS = 25


def case_of(live: Live, query: CaseQuery, fitted: FittedPipeline) -> pd.DataFrame:
    """Return the case as a table of one row: a row of the table, or usual values, with the given values in it."""
    if unknown := [name for name in query.values if name not in live.problem.X.columns]:
        raise Refused(f"The table has no feature {listed(unknown)}.")
    if query.row is not None:
        place = live.place_of(query.row)
        case = live.problem.X.iloc[[place]]
    else:
        whole = FittedPipeline.of(live.model)
        usual: dict[str, Any] = {one.name: [_read(one.name, one.usual, whole)] for one in features_of(live)}
        case = live.problem.X.iloc[[0]].assign(**usual)
    taken = {name: value for name, value in query.values.items() if name in fitted.columns}  # by a locked model fewer
    changed = {name: [_read(name, value, fitted)] for name, value in taken.items()}
    return case.assign(**changed)[list(fitted.columns)]


def what_if(live: Live, query: CaseQuery) -> WhatIf:
    """Predict a case, with its votes, its neighbours and its unusual values."""
    start = time.perf_counter()
    model = live.model_of(query.model)
    fitted = explainable(model)
    case = case_of(live, query, fitted)
    why = next(explain_each(fitted, fitted.table(case, "x")))
    true = None if query.row is None else plain_values(live.problem.y[live.place_of(query.row)])
    parts = _of_value(why) if isinstance(why, ValueExplanation) else _of_class(why)
    return WhatIf(
        prediction=plain_values(why.prediction),
        true=true,
        values=live.shown_values(case),
        unusual=[_unusual(value) for value in why.unusual],
        sentence=printable(repr(why)),
        **parts,
        seconds=time.perf_counter() - start,
    )


def _of_class(why: Explanation) -> dict[str, Any]:
    return {
        "interval": None,
        "probabilities": {str(name): float(share) for name, share in why.probabilities.items()},
        "support": {str(name): float(votes) for name, votes in why.support.items()},
        "contributions": {},
        "neighbors": [
            Neighbor(
                name=plain_values(row[why.nearest.kind]),
                kind=why.nearest.kind,
                label=plain_values(row["label"]),
                distance=row["distance"],
                vote=row["vote"],
                for_prediction=row["for_prediction"],
                values=_by_name(why.neighbor_values.iloc[place]),
                contributions=_by_name(why.contributions.iloc[place]),
            )
            for place, row in enumerate(why.neighbors.head(MOST_NEIGHBORS).to_dict("records"))
        ],
    }


def _of_value(why: ValueExplanation) -> dict[str, Any]:
    return {
        "interval": why.interval,
        "probabilities": {},
        "support": {},
        "contributions": _by_name(why.contributions),
        "neighbors": [
            Neighbor(
                name=plain_values(row[why.kind]),
                kind="row" if why.kind == "row" else "case",
                label=plain_values(row["measured"]),
                distance=row["distance"],
                vote=0.0,
                for_prediction=True,
                values=_by_name(why.neighbor_values.iloc[place]),
                contributions=_by_name(why.distance_shares.iloc[place]),
            )
            for place, row in enumerate(why.neighbors.head(MOST_NEIGHBORS).to_dict("records"))
        ],
    }


def _unusual(value: UnusualValue) -> Unusual:
    return Unusual(column=value.column, kind=value.kind, text=printable(str(value)))


def _by_name(values: pd.Series) -> dict[str, Any]:
    return {str(name): plain_values(value) for name, value in values.items()}


def _read(name: str, value: Any, fitted: FittedPipeline) -> Any:
    """Return a value as the column holds it."""
    if name in fitted.text_columns:
        known = {str(one): one for one in fitted.known_categories[name]}
        return None if value is None else known.get(str(value), value)
    if value is None:
        return float("nan")
    if name in fitted.date_columns and isinstance(value, str):
        days = fitted.read(pd.DataFrame({name: [value]}))[name].iloc[0]
        if isinstance(days, str):
            raise Refused(f"{name!r} takes a date such as 2022-03-04, got {value[:40]!r} instead.")
        return days
    try:
        return float(value)
    except ValueError:
        raise Refused(f"{name!r} takes a number, got {str(value)[:40]!r} instead.") from None


def smallest_flips(live: Live, query: FlipQuery) -> Flips:
    """Find the smallest changes of a case; refuse a numeric target, which has no other class."""
    start = time.perf_counter()
    model = live.model_of(query.model)
    if is_linear_map(model):
        raise Refused("A numeric target has no other class to reach. Change the values instead (what-if).")
    case = case_of(live, query, FittedPipeline.of(model))
    found = flips(model, case, live.problem.X[list(case.columns)], to=query.to, features=query.features)
    answers = [
        FlipAnswer(
            changes=[
                Change(feature=name, before=plain_values(old), after=plain_values(new), deviations=size)
                for name, old, new, size in zip(flip.features, flip.before, flip.after, flip.deviations, strict=True)
            ],
            size=flip.size,
            prediction=plain_values(flip.prediction),
            sentence=printable(str(flip)),
        )
        for flip in found
    ]
    return Flips(prediction=plain_values(found.prediction), flips=answers, seconds=time.perf_counter() - start)
