"""A study as one self-contained HTML page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from whynear.report.page_script import script_data, stand_ins
from whynear.study.errors import ClassErrors, ErrorAnatomy
from whynear.study.repeat import python_lines, shell_line
from whynear.study.residuals import Residuals
from whynear.study.score import MEANINGS, NAMES
from whynear.utils.text import printable

if TYPE_CHECKING:
    from whynear.study.result import Study


MOST_ROWS = 300  # of the table of features; the script of the page can show the others
MOST_CLASSES = 12  # in the tables of errors


def _harmless(value: Any) -> Any:
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


_PAGES = Environment(
    loader=PackageLoader("whynear.report"), autoescape=True, undefined=StrictUndefined, finalize=_harmless
)


def _worst_classes(errors: ErrorAnatomy | Residuals) -> list[ClassErrors]:
    """Return the classes in their order; where there are many, those of the lowest recall."""
    if isinstance(errors, Residuals):
        return []
    classes = list(errors.by_class)
    return classes if len(classes) <= MOST_CLASSES else sorted(classes, key=lambda one: one.recall)[:MOST_CLASSES]


def render(study: Study, figures: dict[str, str]) -> str:
    """Return the page, which contains its figures and loads nothing."""
    rows = list(study.frame().itertuples(index=False))
    places = {name: place for place, name in enumerate(study.relevance.feature_names)}
    repeated = study.problem.source, study.problem.target, study.inputs
    comparison = study.comparison
    values = [method.score.value for method in comparison.methods]
    return _PAGES.get_template("report.html").render(
        study=study,
        of_numbers=study.problem.kind == "numbers",
        other_score=comparison.measure not in ("accuracy", "r2"),
        score_name=NAMES[comparison.measure],
        score_meaning=MEANINGS[comparison.measure],
        largest_score=max(values) if comparison.measure == "log_loss" else 1.0,
        rows=[(places[str(row.feature)], row) for row in rows[:MOST_ROWS]],
        n_features=len(rows),
        stand_ins=stand_ins(study),
        most_classes=MOST_CLASSES,
        worst_classes=_worst_classes(study.errors),
        figures={name: Markup(svg) for name, svg in figures.items()},
        data=script_data(study),
        python=python_lines(*repeated),
        shell=shell_line(*repeated),
        settings={name: value for name, value in study.settings.items() if value not in (None, [], False)},
    )
