"""The finished parts of a running study as plain values."""

from __future__ import annotations

from typing import Any

from whynear.utils.plain import plain_values


def as_plain(part: str, value: Any) -> dict[str, Any]:
    """Return a part, as the parameter ``finished`` of a study gets it, as plain values."""
    return plain_values(_PARTS[part](value) if part in _PARTS else {})


def _problem(problem: Any) -> dict[str, Any]:
    return {
        "summary": problem.summary,
        "target": problem.target,
        "kind": problem.kind,
        "classes": [list(one) for one in problem.classes],
        "decisions": list(problem.decisions),
        "caveats": list(problem.caveats),
    }


def _comparison(comparison: Any) -> dict[str, Any]:
    methods = [
        {"name": one.name, "score": one.score.value, "error": one.score.error, "text": str(one.score)}
        for one in comparison.methods
    ]
    expected, error = comparison.expected, comparison.expected_error
    return {
        "measure": comparison.measure,
        "chosen": comparison.chosen,
        "expected": expected,
        "expected_error": error,
        "methods": methods,
    }


def _frame(value: Any) -> dict[str, Any]:
    return {"rows": value.frame().to_dict("records")}


def _verdicts(verdicts: Any) -> dict[str, Any]:
    return {**_frame(verdicts), "best": list(verdicts.sets.best)}


_PARTS = {
    "problem": _problem,
    "comparison": _comparison,
    "interpretation": _frame,
    "verdicts": _verdicts,
}
