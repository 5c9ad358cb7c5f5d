"""Figures of the errors of predicted classes. They compute nothing, return their axes and never show them."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING

from whynear.utils.axes import CLASS_COLORS, short_name, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from whynear.study.calibration import ProbabilityCalibration
    from whynear.study.roc import Roc

POINT_COLOUR, LINE_COLOUR = "#1f5f8b", "#5b6875"
LINE_STYLES = ("-", "--", "-.", ":")
MARGIN = 0.02  # around the unit square, so that lines on its edge are drawn whole


def draw_roc(roc: Roc, ax: Axes) -> Axes:
    """Draw the ROC curves, and the diagonal that guessing reaches."""
    _unit_square(ax)
    for curve, style in zip(roc.curves, cycle(LINE_STYLES)):
        ax.plot(
            curve.false_rate,
            curve.true_rate,
            color=CLASS_COLORS[curve.place % len(CLASS_COLORS)],
            linestyle=style,
            linewidth=2,
            label=f"{short_name(str(curve.label))} (area {curve.area:.3f})",
        )
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
            f"{held.count:,}",
            (held.probability, held.right),
            xytext=(beside[0], 0),
            textcoords="offset points",
            ha=beside[1],
            va="center",
            fontsize="small",
            color="0.3",
        )
    probabilities = [held.probability for held in calibration.bins]
    ax.plot(probabilities, [held.right for held in calibration.bins], "o", color=POINT_COLOUR, markersize=6)
    ax.set_xlabel("probability of the prediction")
    ax.set_ylabel("share of predictions right")
    return ax


def _unit_square(ax: Axes) -> None:
    ax.plot([0, 1], [0, 1], color=LINE_COLOUR, linewidth=1, linestyle="--")
    ax.set(xlim=(-MARGIN, 1 + MARGIN), ylim=(-MARGIN, 1 + MARGIN), aspect="equal")
    tidy(ax, "both")
