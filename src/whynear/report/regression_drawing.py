"""Figures for a numeric target. They compute nothing, return their axes and never show them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from whynear.utils.arrays import Array
from whynear.utils.axes import color_bar, short_name, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from whynear.study.residuals import Residuals

POINT_COLOUR, LINE_COLOUR = "#1f5f8b", "#5b6875"


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
