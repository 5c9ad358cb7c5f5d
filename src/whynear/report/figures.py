"""The figures of a study as SVG; equal studies give equal bytes."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from whynear.embedding import plot_embedding
from whynear.explain import plot_class_profiles
from whynear.report.errors_drawing import draw_calibration, draw_roc
from whynear.report.regression_drawing import draw_map_of_numbers, draw_predictions, draw_residuals
from whynear.report.spectra_drawing import draw_spectrum
from whynear.study.errors import ErrorAnatomy
from whynear.study.residuals import Residuals

if TYPE_CHECKING:
    from whynear.study.result import Study

MAP_SIZE = (4.8, 3.8)  # inches: small, because two are shown side by side
ERRORS_SIZE = (4.8, 4.4)
PIXELS_PER_INCH = 150  # of the parts that are drawn as pixels
MOST_LINES = 40  # features with a line and a name each; more are drawn in the order of the table


def figures(study: Study) -> Iterator[tuple[str, str]]:
    """Yield name and SVG of each figure."""
    n_features = len(study.relevance.feature_names)
    shown = min(n_features, MOST_LINES)
    yield svg("verdicts", partial(study.verdicts.plot, most=MOST_LINES), (7.4, 1.4 + 0.24 * shown))
    if study.spectra is not None:
        yield "spectrum", svg_text("spectrum", partial(draw_spectrum, study.spectra, study.verdicts), (7.4, 4.8))
    if len(study.verdicts.sets.curve) > 1:
        yield svg("sets", study.verdicts.sets.plot, (7.4, 3.6))
    if study.verdicts.stand_ins.pairs:
        n_named = len({name for group in study.verdicts.stand_ins.groups for name in group})
        yield svg("stand-ins", study.verdicts.stand_ins.plot, (7.4, 2.2 + 0.3 * min(n_named, 30)))
    height = 1.2 + 0.24 * n_features if n_features <= MOST_LINES else 3.6
    yield svg("intervals", partial(study.verdicts.plot_intervals, most=MOST_LINES), (7.4, height))
    if study.interpretation.tolerance is not None:
        yield svg("tolerance", study.interpretation.tolerance.plot, (7.4, 3.6))
    yield from _of_classes(study) if study.problem.kind == "classes" else _of_numbers(study)


def _of_classes(study: Study) -> Iterator[tuple[str, str]]:
    if isinstance(study.errors, ErrorAnatomy):
        yield svg("roc", partial(draw_roc, study.errors.roc), ERRORS_SIZE)
        yield svg("calibration", partial(draw_calibration, study.errors.calibration), ERRORS_SIZE)
    for name, points in study.maps.items():
        yield svg(
            f"map-{name}", partial(plot_embedding, points, study.shown.y, errors=study.comparison.wrong), MAP_SIZE
        )
    height = 1.2 + 0.26 * min(MOST_LINES, len(study.profiles))
    yield svg("profiles", partial(plot_class_profiles, study.profiles), (7.4, height))
    yield from _of_cases(study, "votes")


def _of_numbers(study: Study) -> Iterator[tuple[str, str]]:
    target = study.problem.target
    for name, points in study.maps.items():
        yield svg(f"map-{name}", partial(draw_map_of_numbers, points, study.shown.y, target), MAP_SIZE)
    found = study.comparison.predictions
    yield svg("predictions", partial(draw_predictions, found, target), MAP_SIZE)
    if isinstance(study.errors, Residuals):
        yield svg("residuals", partial(draw_residuals, found, target, study.errors), MAP_SIZE)
    yield from _of_cases(study, "near")


def _of_cases(study: Study, neighbors: str) -> Iterator[tuple[str, str]]:
    n_features = len(study.relevance.feature_names)
    for number, case in enumerate(study.cases, start=1):
        yield svg(f"case-{number}", case.why.plot, (7.4, 1.7 + 0.26 * min(13, n_features)))
        yield svg(f"{neighbors}-{number}", case.why.plot_neighbors, (7.4, 1.5 + 0.28 * min(12, n_features)))


def svg(name: str, draw: Callable[[Axes], object], size: tuple[float, float]) -> tuple[str, str]:
    """Return the name, and as SVG text what a function draws on axes; all ids in it start with the name."""
    return name, svg_text(name, lambda figure: draw(figure.add_subplot()), size)


def svg_text(name: str, draw: Callable[[Figure], object], size: tuple[float, float]) -> str:
    """Return what a function draws on a figure as SVG text; equal drawings give equal text, ids start with the name."""
    with (
        mpl.rc_context({"svg.hashsalt": "whynear", "svg.fonttype": "path", "font.size": 10}),
        warnings.catch_warnings(),
    ):
        # Names that the font cannot show can still be read in the tables of the page.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font", category=UserWarning)
        figure = Figure(figsize=size, layout="constrained")
        draw(figure)
        buffer = io.StringIO()
        metadata = {"Date": None, "Creator": None}
        figure.savefig(buffer, format="svg", transparent=True, dpi=PIXELS_PER_INCH, metadata=metadata)
    text = buffer.getvalue()
    text = re.sub(
        "<!--.*?-->\\s*", "", text[text.index("<svg") :], flags=re.DOTALL
    )  # comments repeat the text that is drawn
    text = re.sub(r' d="[^"]*"', lambda path: re.sub(r"(\.\d\d)\d+", r"\1", path[0]), text)  # finer than any screen
    return re.sub(r'( id="|url\(#|href="#)', rf"\1{name}-", text)
