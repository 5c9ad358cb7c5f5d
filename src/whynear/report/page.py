"""A study as one self-contained HTML page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from whynear.report.page_data import as_script, page_data, replacing
from whynear.study.findings import sentences
from whynear.study.repeat import python_lines, shell_line
from whynear.tables.preview import summary
from whynear.utils.text import in_runs, printable

if TYPE_CHECKING:
    from whynear.study.result import Study


MOST_ROWS = 300  # of the table of features; the script of the page finds the others


def _harmless(value: Any) -> Any:
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


_PAGES = Environment(
    loader=PackageLoader("whynear.report"), autoescape=True, undefined=StrictUndefined, finalize=_harmless
)


def render(study: Study, figures: dict[str, str]) -> str:
    """The page, with its figures inside and nothing to fetch."""
    names, counts = np.unique([] if study.problem.is_measured else study.problem.y, return_counts=True)
    methods = [
        (name, float(scores.mean()), float(scores.std()), [round(float(score), 4) for score in scores])
        for name, scores in study.accuracy.items()
    ]
    repeated = study.problem.source, study.problem.target, study.inputs
    groups = study.relevance.substitutes.groups
    rows = list(study.frame().itertuples(index=False))
    places = {name: place for place, name in enumerate(study.relevance.feature_names)}
    return _PAGES.get_template("report.html").render(
        study=study,
        finding=sentences(study),
        classes=[(str(name), int(count)) for name, count in zip(names, counts, strict=True)],
        groups=[in_runs(group, study.relevance.feature_names) for group in groups],
        methods=methods,
        rows=[(places[str(row.feature)], row) for row in rows[:MOST_ROWS]],
        n_features=len(rows),
        replacing=replacing(study),
        figures={name: Markup(svg) for name, svg in figures.items()},
        columns=summary(study.problem.columns, len(study.problem.X)),
        data=as_script(page_data(study)),
        python=python_lines(*repeated),
        shell=shell_line(*repeated),
        settings={name: value for name, value in study.settings.items() if value not in (None, [], False)},
    )
