"""A study as one self-contained HTML page."""

from __future__ import annotations

import io
import warnings
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from matplotlib.figure import Figure

from whynear.report.wording import printable

if TYPE_CHECKING:
    from whynear.report.result import Study


def _harmless(value: Any) -> Any:
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


_PAGES = Environment(
    loader=PackageLoader("whynear.report"), autoescape=True, undefined=StrictUndefined, finalize=_harmless
)


def render(study: Study) -> str:
    """The page, with its figure inside and nothing to fetch."""
    counts = study.problem.y
    classes = [(str(name), int((counts == name).sum())) for name in sorted(set(counts))]
    methods = [
        (name, float(scores.mean()), float(scores.std()), [round(float(score), 4) for score in scores])
        for name, scores in study.accuracy.items()
    ]
    largest = float(study.relevance["relevance"].max())
    rows = [
        (place, str(feature), float(relevance), float(relevance) / largest if largest else 0.0)
        for place, (feature, relevance) in enumerate(study.relevance.itertuples(index=False), start=1)
    ]
    return _PAGES.get_template("report.html").render(
        study=study, classes=classes, methods=methods, rows=rows, figure=_svg(study)
    )


def _svg(study: Study) -> Markup:
    """The relevance plot; equal studies give equal bytes."""
    with (
        mpl.rc_context({"svg.hashsalt": "whynear", "svg.fonttype": "path", "font.size": 10}),
        warnings.catch_warnings(),
    ):
        # Names in a script that the font lacks stay readable in the table of the page.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font", category=UserWarning)
        shown = min(25, len(study.relevance))
        figure = Figure(figsize=(7.4, 0.9 + 0.26 * shown), layout="constrained")
        study.plot(figure.add_subplot(), most=shown)
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    return Markup(text[text.index("<svg") :])
