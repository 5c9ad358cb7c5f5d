"""A study as plain numbers, strings and lists: what `study.json` holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whynear.study.row_scores import row_scores
from whynear.utils.plain import plain_values

if TYPE_CHECKING:
    from whynear.study.result import Study

FORMAT = 1


def content(study: Study) -> dict[str, Any]:
    """Return everything a study holds as plain numbers, strings and lists; equal studies give equal content."""
    tolerance = study.interpretation.tolerance
    held = {
        "format": FORMAT,
        "source": study.problem.source,
        "target": study.problem.target,
        "given": study.inputs.changed(),
        "rows": len(study.problem.X),
        "columns": study.problem.columns.to_dict("records"),
        "measure": study.comparison.measure,
        "finding": study.finding(),
        "settings": dict(study.settings),
        "chosen": study.comparison.chosen,
        "accuracy": study.comparison.accuracy.to_dict("list"),
        "scores": study.comparison.scores.to_dict("list"),
        "expected": study.comparison.expected,
        "expected_error": study.comparison.expected_error,
        "expected_scores": study.comparison.expected_scores.tolist(),
        "row_scores": row_scores(study.comparison).to_dict(),
        "errors": study.errors.to_dict(),
        "relevance": study.relevance.to_dict(),
        "verdicts": study.verdicts.to_dict(),
        "tolerance": None if tolerance is None else tolerance.curve.to_dict("list"),
        "averaged": study.interpretation.averaged,
        "profiles": {str(label): column.tolist() for label, column in study.profiles.items()},
        "maps": {name: points.tolist() for name, points in study.maps.items()},
        "cases": [
            {"row": case.row, "kind": case.kind, "true": case.true, "why": case.why.to_dict()} for case in study.cases
        ],
        "caveats": list(study.caveats),
        **({} if study.spectra is None else {"spectra": study.spectra.to_dict()}),
        **({} if study.rejection is None else {"rejection": study.rejection.to_dict()}),
        **({} if study.on_parts is None else {"held_out_parts": study.on_parts.to_dict()}),
    }
    return plain_values(held)
