"""The cases of a study for its page: what was predicted, where they lie on the maps, and why; and many other rows."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from whynear.report.plain_numbers import decimals, short, steps
from whynear.study.interpretation import PlacedRows
from whynear.utils.text import label, printable

if TYPE_CHECKING:
    from whynear.study.cases import Case, Near, Reason, Voters
    from whynear.study.result import Study

MOST_VALUES = 60_000  # of all cases together
MOST_FEATURES = 12  # with the value of every case
MOST_UNUSUAL = 8  # values of a case
MOST_IN_REPORT = 15_000  # beside the cases; a canvas draws as many quickly, and the report stays small
MOST_STEPS = 65_535  # of a coordinate
HEADINGS = {
    "typical": "A case with the median error",
    "overestimate": "The largest overestimate",
    "underestimate": "The largest underestimate",
    "unusual": "The case with most unusual values",
}


def cases_data(study: Study) -> dict[str, Any]:
    """Return the name, the target and the prediction of each held-out case; classes as positions among the classes."""
    found = study.comparison.predictions
    facts: dict[str, Any] = {"rows": [str(name) for name in found.index]}
    codes = {name: code for code, name in enumerate(class_names(study))}
    if not codes:
        return facts | {name: [short(value) for value in found[name]] for name in ("true", "predicted")}
    facts |= {name: [codes[str(value)] for value in found[name]] for name in ("true", "predicted")}
    return facts | {"probability": [decimals(chance, 3) for chance in found["probability"]]}


def class_names(study: Study) -> list[str]:
    """Return the classes in the order of their positions; none for a measured target."""
    return [str(name) for name in study.errors.classes]


def maps_data(study: Study) -> dict[str, Any]:
    """Return the places of the cases before and after learning."""
    return {name: {"x": steps(points[:, 0]), "y": steps(points[:, 1])} for name, points in study.maps.items()}


def values_data(study: Study, places: dict[str, int]) -> list[list[Any]]:
    """Return for the first features, by verdict, the position and the value of every case; none of bands."""
    X = study.shown_values
    most = min(MOST_FEATURES, MOST_VALUES // max(1, len(X)))
    names = [study.relevance.feature_names[place] for place in study.verdicts.order.tolist()]
    shown = [name for name in names if name in X.columns][:most]
    return [[places[name], [_value(value) for value in X[name].tolist()]] for name in shown]


def _value(value: Any) -> Any:
    return None if value is None or value != value else short(value) if isinstance(value, int | float) else str(value)


def reasons_data(study: Study, places: dict[str, int]) -> dict[str, Any]:
    """Return the explanations of cases by their positions."""
    return {str(reason.place): _why(reason, places) for reason in study.reasons}


def selected_data(study: Study) -> list[dict[str, Any]]:
    """Return the selected cases with a heading each."""
    return [{"place": case.place, "row": label(case.row), **_selected(case)} for case in study.cases]


def _selected(case: Case) -> dict[str, str]:
    why: Any = case.why
    if case.kind in HEADINGS and isinstance(case.true, float):
        error = case.true - why.prediction
        side = f" The prediction is {abs(error):.3g} too {'low' if error > 0 else 'high'}." if error else ""
        return {"kind": HEADINGS[case.kind], "text": f"Measured {case.true:.4g}, {why!s}.{side}"}
    text = str(why)
    return {"kind": f"A {case.kind} case of “{label(case.true)}”", "text": f"{text[:1].upper()}{text[1:]}."}


def _why(reason: Reason, places: dict[str, int]) -> dict[str, Any]:
    shown = {part.feature for part in reason.parts} | set(reason.voters.features)
    missing = "" if reason.nearest is None else label(None)  # a mean that a category does not have
    unusual = sorted(reason.unusual, key=lambda one: one.column not in shown)  # features that explain it first
    return {
        "text": reason.text,
        "near": [_near(near) for near in (reason.nearest, reason.other) if near is not None],
        "parts": [
            [places[part.feature], [*map(short, part.adds)], [label(own), *(_known(one, missing) for one in beside)]]
            for part, (own, *beside) in ((part, part.values) for part in reason.parts if part.feature in places)
        ],
        "voters": _voters(reason.voters, places),
        "unusual": [[places.get(one.column, one.column), str(one)] for one in unusual[:MOST_UNUSUAL]],
        "more_unusual": max(0, len(unusual) - MOST_UNUSUAL),
    }


def _known(value: Any, missing: str) -> str:
    return missing if value is None else label(value)


def _near(near: Near) -> list[Any]:
    facts = [label(near.label), short(near.distance, 3), near.kind, label(near.name)]
    return facts if near.row is None else [*facts, label(near.row)]


def _voters(voters: Voters, places: dict[str, int]) -> dict[str, Any]:
    return {
        "columns": list(voters.columns),
        "features": [places.get(name, name) for name in voters.features],
        "own": list(voters.values),
        "lines": [list(line) for line in voters.lines],
        "parts": [[short(part, 3) for part in line] for line in voters.parts],
        "remark": voters.remark,
    }


def others_data(others: PlacedRows | None, classes: Sequence[str]) -> dict[str, Any] | None:
    """Return a sample of the other rows for a page: how many there are, and the rows as base64."""
    if others is None:
        return None
    some = others.some(MOST_IN_REPORT)
    packed = base64.b64encode(packed_rows(some, classes)).decode()
    return {"total": others.n_all, "count": len(some.names), "packed": packed}


def packed_rows(others: PlacedRows, classes: Sequence[str]) -> bytes:
    """Return rows as bytes in little-endian order.

    First the length of a header in bytes (uint32), then the header as JSON: ``count``; ``maps``, for ``before`` and
    ``after`` the least and the most of both coordinates; ``values``, the least and the most measured value, or null for
    classes; ``names``, "numbers" or "text". Then an array per coordinate (uint16, from 0 for the least to 65535 for the
    most; x and y before learning, x and y after), the class (uint16, a position in ``classes``) or measured value (as a
    coordinate), and the names: int32, or text with a line each. Each array starts at a multiple of four bytes.
    """
    columns = [others.maps[name][:, axis] for name in ("before", "after") for axis in (0, 1)]
    ends = [_ends(column) for column in columns]
    parts = [_steps(column) for column in columns]
    values = None if classes else _ends(others.true)
    parts.append(_codes(others.true, classes) if classes else _steps(others.true))
    kind, names = _names(others.names)
    header = {
        "count": len(others.names),
        "maps": {"before": ends[:2], "after": ends[2:]},
        "values": values,
        "names": kind,
    }
    first = _padded(json.dumps(header).encode(), b" ")
    arrays = (_padded(part.tobytes()) for part in parts)
    return b"".join([len(first).to_bytes(4, "little"), first, *arrays, names])


def _padded(content: bytes, filling: bytes = b"\0") -> bytes:
    return content + filling * (-len(content) % 4)


def _ends(values: NDArray[Any]) -> list[Any]:
    return [short(values.min(), 6), short(values.max(), 6)]


def _steps(values: NDArray[Any]) -> NDArray[np.uint16]:
    least, span = values.min(), np.ptp(values)
    return np.round((values - least) * (MOST_STEPS / span if span else 0.0)).astype("<u2")


def _codes(classes_of_rows: NDArray[Any], classes: Sequence[str]) -> NDArray[np.uint16]:
    found, codes = np.unique(classes_of_rows.astype(str), return_inverse=True)
    places = {name: place for place, name in enumerate(classes)}
    return np.array([places[str(name)] for name in found], dtype="<u2")[codes]


def _names(names: pd.Index) -> tuple[str, bytes]:
    if names.dtype.kind in "iu" and len(names) and names.min() >= -(2**31) and names.max() < 2**31:
        return "numbers", names.to_numpy().astype("<i4").tobytes()
    return "text", "\n".join(printable(str(name)) for name in names).encode()
