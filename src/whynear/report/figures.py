"""The figures of a study as SVG; equal studies give equal bytes. Drawing computes nothing and shows no window."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from whynear.embed import plot_embedding
from whynear.explain import plot_class_profiles
from whynear.reject.outcome import draw_curve
from whynear.study.errors import ErrorAnatomy, Residuals
from whynear.utils.arrays import Array
from whynear.utils.axes import CLASS_COLORS, color_bar, short_name, tidy
from whynear.verdict.rules import INDISPENSABLE, REPLACEABLE
from whynear.verdict.verdicts import STYLES
from whynear.work.pieces import Piece
from whynear.work.workers import results_of, start_workers

if TYPE_CHECKING:
    import pandas as pd

    from whynear.study.bands import Spectra
    from whynear.study.errors import ProbabilityCalibration, Roc
    from whynear.study.result import Study
    from whynear.verdict import Verdicts

MAP_SIZE = (4.8, 3.8)  # inches: small, because two are shown side by side
ERRORS_SIZE = (4.8, 4.4)
PIXELS_PER_INCH = 150  # of the parts that are drawn as pixels
SECONDS_OF_A_FIGURE = 0.1
MOST_LINES = 40  # features with a line and a name each; more are drawn in the order of the table
POINT_COLOUR, LINE_COLOUR = "#1f5f8b", "#5b6875"
LINE_STYLES = ("-", "--", "-.", ":")
MARGIN = 0.02  # around the unit square, so that lines on its edge are drawn whole
SHADED = {INDISPENSABLE: "..", REPLACEABLE: "//"}  # hatches, for grey print
LINES = ("-", "--", ":", "-.", (0, (5, 1)), (0, (1, 1)))  # of the classes, for grey print
UP_COLOUR, DOWN_COLOUR = "#1f5f8b", "#e08a1e"


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
        yield _piece("spectrum", draw, (7.4, 4.8), whole=True)
    if len(study.verdicts.sets.curve) > 1:
        yield _piece("sets", study.verdicts.sets.plot, (7.4, 3.6))
    if study.verdicts.stand_ins.pairs:
        n_named = len({name for group in study.verdicts.stand_ins.groups for name in group})
        yield _piece("stand-ins", study.verdicts.stand_ins.plot, (7.4, 2.2 + 0.3 * min(n_named, 30)))
    height = 1.2 + 0.24 * n_features if n_features <= MOST_LINES else 3.6
    yield _piece("intervals", partial(study.verdicts.plot_intervals, most=MOST_LINES), (7.4, height))
    if study.interpretation.tolerance is not None:
        yield _piece("tolerance", study.interpretation.tolerance.plot, (7.4, 3.6))
    yield from _of_cases(study)


def _of_cases(study: Study) -> Iterator[Piece]:
    errors, found, target = study.errors, study.comparison.predictions, study.problem.target
    if isinstance(errors, ErrorAnatomy):
        yield _piece("roc", partial(draw_roc, errors.roc), ERRORS_SIZE)
        yield _piece("calibration", partial(draw_calibration, errors.calibration), ERRORS_SIZE)
    if study.rejection is not None:
        draw = partial(draw_curve, study.rejection.curve, promise=study.rejection.promise)
        yield _piece("rejection", draw, (7.4, 3.6))
    for name, points in study.maps.items():
        if isinstance(errors, ErrorAnatomy):
            draw = partial(plot_embedding, points, study.shown.y, errors=study.comparison.wrong)
        else:
            draw = partial(draw_map_of_numbers, points, study.shown.y, target)
        yield _piece(f"map-{name}", draw, MAP_SIZE)
    if isinstance(errors, Residuals):
        yield _piece("predictions", partial(draw_predictions, found, target), MAP_SIZE)
        yield _piece("residuals", partial(draw_residuals, found, target, errors), MAP_SIZE)
    else:
        height = 1.2 + 0.26 * min(MOST_LINES, len(study.profiles))
        yield _piece("profiles", partial(plot_class_profiles, study.profiles), (7.4, height))


def _piece(name: str, draw: Callable[..., object], size: tuple[float, float], whole: bool = False) -> Piece:
    return Piece(svg, {"name": name, "draw": draw, "size": size, "whole": whole}, SECONDS_OF_A_FIGURE)


def svg(name: str, draw: Callable[..., object], size: tuple[float, float], whole: bool = False) -> tuple[str, str]:
    """Return the name, and as SVG text what a function draws on axes, or on a whole figure."""
    return name, svg_text(name, draw if whole else lambda figure: draw(figure.add_subplot()), size)


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
    # Comments repeat the text that is drawn.
    text = re.sub("<!--.*?-->\\s*", "", text[text.index("<svg") :], flags=re.DOTALL)
    text = re.sub(r' d="[^"]*"', lambda path: re.sub(r"(\.\d\d)\d+", r"\1", path[0]), text)  # finer than any screen
    return re.sub(r'( id="|url\(#|href="#)', rf"\1{name}-", text)


def draw_roc(roc: Roc, ax: Axes) -> Axes:
    """Draw the ROC curves, and the diagonal that guessing reaches."""
    _unit_square(ax)
    for curve, style in zip(roc.curves, cycle(LINE_STYLES)):
        label = f"{short_name(str(curve.label))} (area {curve.area:.3f})"
        look: dict[str, Any] = {"color": CLASS_COLORS[curve.place % len(CLASS_COLORS)], "linestyle": style}
        ax.plot(curve.false_rate, curve.true_rate, linewidth=2, label=label, **look)
    legend = ax.legend(loc="lower right", fontsize="small", framealpha=0.9, edgecolor="0.85")
    for text in legend.get_texts():
        text.set_parse_math(False)
    ax.set_xlabel("share of other rows counted as the class")
    ax.set_ylabel("share of the rows of the class found")
    return ax


def draw_calibration(calibration: ProbabilityCalibration, ax: Axes) -> Axes:
    """Draw the share of right predictions over their probability, with the number of predictions of each bin."""
    _unit_square(ax)
    for held in calibration.bins:
        ax.plot([held.probability] * 2, [held.least, held.most], color=POINT_COLOUR, linewidth=1.5)
        beside = (-5, "right") if held.probability > 0.5 else (5, "left")
        ax.annotate(
            f"{held.count:,}", (held.probability, held.right), xytext=(beside[0], 0), textcoords="offset points",
            ha=beside[1], va="center", fontsize="small", color="0.3",
        )  # fmt: skip
    probabilities = [held.probability for held in calibration.bins]
    ax.plot(probabilities, [held.right for held in calibration.bins], "o", color=POINT_COLOUR, markersize=6)
    ax.set_xlabel("probability of the prediction")
    ax.set_ylabel("share of predictions right")
    return ax


def _unit_square(ax: Axes) -> None:
    ax.plot([0, 1], [0, 1], color=LINE_COLOUR, linewidth=1, linestyle="--")
    ax.set(xlim=(-MARGIN, 1 + MARGIN), ylim=(-MARGIN, 1 + MARGIN), aspect="equal")
    tidy(ax, "both")


def draw_predictions(predictions: pd.DataFrame, target: str, ax: Axes) -> Axes:
    """Draw held-out predictions over the true values, and the line on which both are equal."""
    ax.plot(predictions["true"], predictions["predicted"], "o", color=POINT_COLOUR, alpha=0.55, markersize=5, mew=0)
    ax.axline((float(predictions["true"].mean()),) * 2, slope=1, color=LINE_COLOUR, linewidth=1, linestyle="--")
    ax.set_xlabel(f"{short_name(target)}, measured", parse_math=False)
    ax.set_ylabel(f"{short_name(target)}, predicted when held out", parse_math=False)
    tidy(ax, "both")
    return ax


def draw_residuals(predictions: pd.DataFrame, target: str, errors: Residuals, ax: Axes) -> Axes:
    """Draw held-out errors over the predictions, lines between which 90% of them lie, and rings on the largest."""
    ax.axhline(0.0, color=LINE_COLOUR, linewidth=1, linestyle="--")
    for end in errors.interval or ():
        ax.axhline(end, color=LINE_COLOUR, linewidth=1, linestyle=":")
    residuals = predictions["true"] - predictions["predicted"]
    ax.plot(predictions["predicted"], residuals, "o", color=POINT_COLOUR, alpha=0.55, markersize=5, mew=0)
    worst = [(error.predicted, error.residual) for error in errors.largest]
    ax.plot(*zip(*worst, strict=True), "o", color="black", markerfacecolor="none", markersize=9, mew=0.8)
    ax.set_xlabel(f"{short_name(target)}, predicted when held out", parse_math=False)
    ax.set_ylabel("measured − predicted")
    tidy(ax, "both")
    return ax


def draw_map_of_numbers(points: Array, y: Array, target: str, ax: Axes) -> Axes:
    """Draw the cases as points on a plane, coloured by the target."""
    drawn = ax.scatter(points[:, 0], points[:, 1], c=y, cmap="viridis", s=18, linewidths=0, gid="class-0")
    color_bar(drawn, ax).set_label(short_name(target), parse_math=False)
    ax.set_xticks([])
    ax.set_yticks([])
    tidy(ax, "both")
    return ax


def draw_spectrum(spectra: Spectra, verdicts: Verdicts, figure: Figure) -> None:
    """Draw mean spectra over the axis, bands shaded by verdict, and the weights of the channels below."""
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=[3, 2])
    _shade_bands(spectra, verdicts, (top, bottom))
    positions = spectra.axis.positions
    for (label, values), colour, line in zip(spectra.means.items(), CLASS_COLORS, LINES, strict=False):
        top.plot(positions, values, color=colour, linestyle=line, linewidth=1.6, label=short_name(str(label)))
    if len(spectra.means.columns) > 1:
        for text in top.legend(frameon=False, fontsize="small", loc="upper right").get_texts():
            text.set_parse_math(False)
    top.set_ylabel("mean spectrum")
    weights = spectra.weights.tolist()
    up, down = [max(weight, 0.0) for weight in weights], [min(weight, 0.0) for weight in weights]
    for colour, hatch, part in ((UP_COLOUR, "", up), (DOWN_COLOUR, "//", down)):
        if any(part):
            look = {"facecolor": colour, "edgecolor": "w" if hatch else colour, "linewidth": 0.0}
            bottom.fill_between(positions, part, step="mid", hatch=hatch, **look)
    bottom.axhline(0.0, color="0.5", linewidth=0.8)
    bottom.set_ylabel("signed weight" if spectra.upwards else "weight")
    bottom.set_xlabel(spectra.axis.label)
    for ax in (top, bottom):
        tidy(ax, "y")
    top.set_xlim(positions[0], positions[-1])


def _shade_bands(spectra: Spectra, verdicts: Verdicts, axes: tuple[Axes, Axes]) -> None:
    """Draw the edges of all bands, shade those that carry information, and mark those of the smallest set."""
    words = dict(zip(verdicts.feature_names, verdicts.verdict, strict=True))
    edges = spectra.axis.edges
    shown = set()
    for name, (first, last) in zip(spectra.bands.names, spectra.bands.ranges, strict=True):
        ends, word = (float(edges[first]), float(edges[last + 1])), str(words[name])
        for ax in axes:
            ax.axvline(ends[1], color="0.8", linewidth=0.6, zorder=0)
            if word in SHADED:
                shown.add(word)
                ax.axvspan(*ends, facecolor=STYLES[word]["color"], alpha=0.2, linewidth=0, zorder=0)
                ax.axvspan(*ends, facecolor="none", edgecolor=STYLES[word]["color"], alpha=0.35, hatch=SHADED[word],
                           linewidth=0, zorder=0)  # fmt: skip
        if name in verdicts.sets.best and len(verdicts.sets.best) < len(verdicts.feature_names):
            axes[0].plot(ends, [1.02, 1.02], color="k", linewidth=4, solid_capstyle="butt", clip_on=False,
                         transform=axes[0].get_xaxis_transform())  # fmt: skip
    handles = [
        Patch(facecolor=STYLES[word]["color"], alpha=0.35, hatch=hatch, label=word)
        for word, hatch in SHADED.items()
        if word in shown
    ]
    if handles:
        figure = axes[0].get_figure()
        assert figure is not None, "axes are made with a figure"
        figure.legend(handles=handles, frameon=False, fontsize="small", loc="outside upper left", ncols=3)
