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
from whynear.engine.pieces import Piece
from whynear.engine.running import results_of
from whynear.engine.workers import start_workers
from whynear.explain import plot_class_profiles
from whynear.reject.drawing import draw_curve
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
SECONDS_OF_A_FIGURE = 0.1
MOST_LINES = 40  # features with a line and a name each; more are drawn in the order of the table


def figures(study: Study) -> Iterator[tuple[str, str]]:
    """Yield name and SVG of each figure; single cases are drawn by the page, and by `Explanation.plot`."""
    pieces = list(_drawings(study))
    with start_workers("processes", study.inputs.n_jobs, also_here=True) as workers:
        drawn = {piece: done.result for piece, done in results_of(workers, pieces)}
    yield from (drawn[piece] for piece in pieces)


def _drawings(study: Study) -> Iterator[Piece]:
    """Yield the figures as pieces of work."""
    n_features = len(study.relevance.feature_names)
    shown = min(n_features, MOST_LINES)
    yield _piece("verdicts", partial(study.verdicts.plot, most=MOST_LINES), (7.4, 1.4 + 0.24 * shown))
    if study.spectra is not None:
        draw = partial(draw_spectrum, study.spectra, study.verdicts)
        yield Piece(svg_of_figure, {"name": "spectrum", "draw": draw, "size": (7.4, 4.8)}, SECONDS_OF_A_FIGURE)
    if len(study.verdicts.sets.curve) > 1:
        yield _piece("sets", study.verdicts.sets.plot, (7.4, 3.6))
    if study.verdicts.stand_ins.pairs:
        n_named = len({name for group in study.verdicts.stand_ins.groups for name in group})
        yield _piece("stand-ins", study.verdicts.stand_ins.plot, (7.4, 2.2 + 0.3 * min(n_named, 30)))
    height = 1.2 + 0.24 * n_features if n_features <= MOST_LINES else 3.6
    yield _piece("intervals", partial(study.verdicts.plot_intervals, most=MOST_LINES), (7.4, height))
    if study.interpretation.tolerance is not None:
        yield _piece("tolerance", study.interpretation.tolerance.plot, (7.4, 3.6))
    yield from _of_classes(study) if study.problem.kind == "classes" else _of_numbers(study)


def _of_classes(study: Study) -> Iterator[Piece]:
    if isinstance(study.errors, ErrorAnatomy):
        yield _piece("roc", partial(draw_roc, study.errors.roc), ERRORS_SIZE)
        yield _piece("calibration", partial(draw_calibration, study.errors.calibration), ERRORS_SIZE)
    if study.rejection is not None:
        draw = partial(draw_curve, study.rejection.curve, promise=study.rejection.promise)
        yield _piece("rejection", draw, (7.4, 3.6))
    for name, points in study.maps.items():
        yield _piece(
            f"map-{name}", partial(plot_embedding, points, study.shown.y, errors=study.comparison.wrong), MAP_SIZE
        )
    height = 1.2 + 0.26 * min(MOST_LINES, len(study.profiles))
    yield _piece("profiles", partial(plot_class_profiles, study.profiles), (7.4, height))


def _of_numbers(study: Study) -> Iterator[Piece]:
    target = study.problem.target
    for name, points in study.maps.items():
        yield _piece(f"map-{name}", partial(draw_map_of_numbers, points, study.shown.y, target), MAP_SIZE)
    found = study.comparison.predictions
    yield _piece("predictions", partial(draw_predictions, found, target), MAP_SIZE)
    if isinstance(study.errors, Residuals):
        yield _piece("residuals", partial(draw_residuals, found, target, study.errors), MAP_SIZE)


def _piece(name: str, draw: Callable[[Axes], object], size: tuple[float, float]) -> Piece:
    return Piece(svg, {"name": name, "draw": draw, "size": size}, SECONDS_OF_A_FIGURE)


def svg(name: str, draw: Callable[[Axes], object], size: tuple[float, float]) -> tuple[str, str]:
    """Return the name, and as SVG text what a function draws on axes; all ids in it start with the name."""
    return name, svg_text(name, lambda figure: draw(figure.add_subplot()), size)


def svg_of_figure(name: str, draw: Callable[[Figure], object], size: tuple[float, float]) -> tuple[str, str]:
    """Return the name, and as SVG text what a function draws on a whole figure."""
    return name, svg_text(name, draw, size)


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
