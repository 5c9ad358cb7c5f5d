"""What the page of a study knows beyond what it shows at first: features, cases, and why cases are predicted so."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from markupsafe import Markup
from numpy.typing import NDArray

from whynear.explain import Explanation, explain
from whynear.tables.encoder import holds_text
from whynear.utils.text import printable

if TYPE_CHECKING:
    from whynear.study.result import Study

MOST_COLOURED = 60  # features by whose values the maps can be coloured
MOST_EXPLAINED = 250  # cases that can be chosen on the map
MOST_PARTS = 250_000  # features of all these cases, which take time to explain
MOST_REPLACING = 8  # features named beside one; relevance.csv names all
LEVELS = 5  # of values on the map
PARTS = 8  # features of an explanation


def page_data(study: Study) -> dict[str, Any]:
    """Features, cases, the values that colour the maps, and explanations, as plain numbers, strings and lists."""
    return {
        "features": _features(study),
        "cases": _cases(study),
        "levels": _levels(study),
        "why": {} if study.problem.is_measured else _reasons(study),
    }


def replacing(study: Study) -> dict[str, str]:
    """For each feature the first few of those that can replace it, and how many more there are."""

    def few(names: tuple[str, ...]) -> str:
        more = len(names) - MOST_REPLACING
        return ", ".join(names[:MOST_REPLACING]) + (f" and {more} more" if more > 0 else "")

    return {name: few(others) for name, others in study.relevance.substitutes.of.items()}


def as_script(data: dict[str, Any]) -> Markup:
    """JSON that cannot end the element it stands in."""
    text = json.dumps(_printable(data), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)


def _printable(value: Any) -> Any:
    match value:
        case dict():
            return {key: _printable(item) for key, item in value.items()}
        case list():
            return [_printable(item) for item in value]
        case str():
            return printable(value)
    return value


def _features(study: Study) -> list[list[Any]]:
    relevance = study.relevance
    others = replacing(study)
    bounds = zip(relevance.feature_names, relevance.lower, relevance.upper, relevance.strength, strict=True)
    return [
        [name, _short(lower), _short(upper), str(strength), others.get(name, "")]
        for name, lower, upper, strength in bounds
    ]


def _cases(study: Study) -> dict[str, Any]:
    """The cases in their order, and which of them each group of points on the maps stands for."""
    found, y = study.comparison.held_out, study.problem.y
    codes = np.zeros(len(y), dtype=np.intp) if study.problem.is_measured else np.unique(y, return_inverse=True)[1]
    facts: dict[str, Any] = {
        "rows": [str(name) for name in found.index],
        "true": [_label(value) for value in found["true"]],
        "predicted": [_label(value) for value in found["predicted"]],
        "groups": {f"class-{code}": np.flatnonzero(codes == code).tolist() for code in np.unique(codes)},
    }
    if "probability" in found:
        facts["probability"] = [round(float(chance), 3) for chance in found["probability"]]
    return facts


def _levels(study: Study) -> dict[int, str]:
    """For the most relevant features a digit for each case, from low to high; a dot where the value is missing."""
    order = np.argsort(-study.relevance.upper, kind="stable")[:MOST_COLOURED]
    names = [study.relevance.feature_names[j] for j in order]
    return {int(j): _digits(study.problem.X[name]) for j, name in zip(order, names, strict=True)}


def _digits(column: pd.Series) -> str:
    values = (
        pd.Series(pd.factorize(column, sort=True)[0]).where(column.notna().to_numpy()) if holds_text(column) else column
    )
    ranks = values.rank(method="average", pct=True).to_numpy()
    return "".join("." if np.isnan(rank) else str(min(LEVELS - 1, int(rank * LEVELS))) for rank in ranks)


def _reasons(study: Study) -> dict[int, dict[str, Any]]:
    """Explanations of the cases that were predicted wrong, and of others in even steps, by models without them."""
    found, features = study.comparison.held_out, list(study.relevance.feature_names)
    places = {name: place for place, name in enumerate(features)}
    wrong = np.flatnonzero((found["true"] != found["predicted"]).to_numpy())
    shown = [case.place for case in study.cases]
    most = min(MOST_EXPLAINED, max(10, MOST_PARTS // len(features)))
    reasons = {}
    for place in _spread(len(found), most, [*shown, *wrong[: most // 2]]):
        if (model := study.comparison.model_without(int(place))) is not None:
            reasons[int(place)] = _reason(explain(model, study.problem.X.iloc[[place]]), places)
    return reasons


def _spread(n_cases: int, most: int, first: list[Any]) -> NDArray[np.intp]:
    """About so many cases, those named first among them and the others in even steps."""
    left = max(1, most - len(first))
    return np.union1d(np.array(first, dtype=np.intp), np.arange(0, n_cases, max(1, -(-n_cases // left))))


def _reason(why: Explanation, places: dict[str, int]) -> dict[str, Any]:
    other = why.nearest_other
    parts = pd.DataFrame({"near": why.nearest.contributions})
    parts["other"] = 0.0 if other is None else other.contributions
    most = parts.abs().max(axis=1).sort_values(ascending=False, kind="stable").index[:PARTS]
    return {
        "text": repr(why),
        "near": [_label(why.nearest.label), _short(why.nearest.distance)],
        "other": None if other is None else [_label(other.label), _short(other.distance)],
        "parts": [
            [places[str(name)], _short(parts.loc[name, "near"]), _short(parts.loc[name, "other"])]
            for name in most
            if str(name) in places
        ],
    }


def _label(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _short(value: Any) -> float | None:
    number = float(f"{float(value):.4g}")
    return number if np.isfinite(number) else None
