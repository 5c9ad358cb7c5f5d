"""The data for the script of a page: features, cases, levels that colour the maps, and short explanations."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from whynear.study.value_cases import ValueReason
from whynear.utils.text import printable

if TYPE_CHECKING:
    from whynear.study.reasons import Near, Reason
    from whynear.study.result import Study


def script_data(study: Study) -> Markup:
    """Return the data as JSON that cannot end the HTML element around it."""
    places = {name: place for place, name in enumerate(study.relevance.feature_names)}
    data = {
        "features": _features(study),
        "order": study.verdicts.order.tolist(),
        "cases": _cases(study),
        "levels": {
            feature.place: "".join("." if level < 0 else str(level) for level in feature.of_cases.tolist())
            for feature in study.levels
        },
        "why": {reason.place: _why(reason, places) for reason in study.reasons},
    }
    text = json.dumps(_printable(data), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)


def stand_ins(study: Study) -> dict[str, str]:
    """Return for each feature that has stand-ins their names, cheapest first."""
    found = study.verdicts.stand_ins
    return {
        name: ", ".join(pair.stand_in for pair in pairs)
        for name in study.verdicts.feature_names
        if (pairs := found.of(name))
    }


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
    """Return for each feature its name, verdict, points lost without it, their error, bounds and stand-ins."""
    judged, relevance, others = study.verdicts, study.relevance, stand_ins(study)
    points = [[round(float(one), 1) for one in both] for both in zip(judged.loss, judged.error, strict=True)]
    bounds = [[_short(low), _short(high)] for low, high in zip(relevance.lower, relevance.upper, strict=True)]
    facts = zip(relevance.feature_names, judged.verdict, points, bounds, strict=True)
    return [[name, str(word), *lost, *ends, others.get(name, "")] for name, word, lost, ends in facts]


def _cases(study: Study) -> dict[str, Any]:
    """Return the cases in their order, and the cases of each group of points on the maps."""
    found = study.comparison.predictions
    facts: dict[str, Any] = {
        "rows": [str(name) for name in found.index],
        "true": [_label(value) for value in found["true"]],
        "predicted": [_label(value) for value in found["predicted"]],
        "groups": {f"class-{code}": rows.tolist() for code, rows in enumerate(study.shown.rows_of_classes)},
    }
    if "probability" in found:
        facts["probability"] = [round(float(chance), 3) for chance in found["probability"]]
    return facts


def _why(reason: Reason | ValueReason, places: dict[str, int]) -> dict[str, Any]:
    return _value_reason(reason, places) if isinstance(reason, ValueReason) else _reason(reason, places)


def _value_reason(reason: ValueReason, places: dict[str, int]) -> dict[str, Any]:
    """Return the sentence, and of the features what each adds, the value of the case and the mean."""
    return {
        "text": reason.text,
        "adds": [
            [
                places[part.feature],
                _short(part.contribution),
                _value(part.value),
                "" if part.mean is None else _label(part.mean),
            ]
            for part in reason.parts
            if part.feature in places
        ],
    }


def _reason(reason: Reason, places: dict[str, int]) -> dict[str, Any]:
    near, other = reason.nearest, reason.other
    return {
        "text": reason.text,
        "near": _near(near),
        "other": None if other is None else _near(other),
        "parts": [
            [places[part.feature], _short(part.nearest), _short(part.other), *map(_value, part.values)]
            for part in reason.parts
            if part.feature in places
        ],
    }


def _near(near: Near) -> list[Any]:
    return [_label(near.label), _short(near.distance), f"{near.kind} {near.name}"]


def _value(value: Any) -> str:
    return "missing" if value is None else _label(value)


def _label(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _short(value: Any) -> float | None:
    number = float(f"{float(value):.4g}")
    return number if math.isfinite(number) else None
