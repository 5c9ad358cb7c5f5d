"""Figures of the interpreters. They compute nothing, return their axes and never show them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from whynear.interpret.relevance import Relevance

# Blue and orange are told apart by all readers; fill, hatch and marker tell them apart in grey print.
STYLES: dict[str, dict[str, Any]] = {
    "strong": {"color": "#1f5f8b", "marker": "s", "hatch": None},
    "weak": {"color": "#e08a1e", "marker": "o", "hatch": "////"},
    "irrelevant": {"color": "#9aa3ab", "marker": "|", "hatch": None},
    "unknown": {"color": "#b03060", "marker": "x", "hatch": None},
}


def new_axes(width: float, height: float) -> Axes:
    """Axes of a new figure, for notebooks and windows."""
    from matplotlib import pyplot as plt

    _, ax = plt.subplots(figsize=(width, height), layout="constrained")
    return ax


def tidy(ax: Axes, grid: Literal["x", "y", "both"]) -> None:
    """Only the lines that help reading."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis=grid, color="0.9", linewidth=0.8)
    ax.set_axisbelow(True)


def draw_intervals(relevance: Relevance, ax: Axes | None, most: int) -> Axes:
    """Intervals as lines, one per feature, or as areas along the axis of many features."""
    if len(relevance.feature_names) > most:
        return _draw_along(relevance, ax or new_axes(8, 3.4))
    return _draw_lines(relevance, ax or new_axes(6.5, 1.2 + 0.26 * len(relevance.feature_names)))


def _draw_lines(relevance: Relevance, ax: Axes) -> Axes:
    order = np.lexsort((np.arange(len(relevance.upper)), -relevance.upper, -relevance.lower))[::-1]
    for place, j in enumerate(order):
        style = STYLES[str(relevance.strength[j])]
        lower, upper = relevance.lower[j], relevance.upper[j]
        if relevance.strength[j] == "weak":
            ax.barh(place, upper - lower, left=lower, height=0.5, fill=False, edgecolor=style["color"], hatch="////")
        else:
            ax.plot([lower, upper], [place, place], color=style["color"], linewidth=5, solid_capstyle="butt")
        ax.plot([lower, upper], [place, place], style["marker"], color=style["color"], markersize=6)
    ax.set_yticks(np.arange(len(order)), [relevance.feature_names[j] for j in order])
    for label in ax.get_yticklabels():
        label.set_parse_math(False)
    ax.set_ylim(-0.7, len(order) - 0.3)
    ax.set_xlim(left=min(0.0, ax.get_xlim()[0]))
    _floor_line(relevance, ax.axvline)
    ax.set_xlabel(f"relevance interval ({relevance.units})")
    tidy(ax, "x")
    ax.legend(handles=_handles(relevance, lines=True), loc="lower right", frameon=False, fontsize="small")
    return ax


def _draw_along(relevance: Relevance, ax: Axes) -> Axes:
    place = np.arange(1, len(relevance.upper) + 1)
    ax.fill_between(
        place, relevance.lower, relevance.upper, step="mid", facecolor="#f3c98b", edgecolor="#e08a1e", linewidth=0.6
    )
    ax.fill_between(place, 0, relevance.lower, step="mid", color="#1f5f8b", linewidth=0)
    unknown = relevance.strength == "unknown"
    if unknown.any():
        ax.plot(place[unknown], np.zeros(unknown.sum()), "x", color=STYLES["unknown"]["color"])
    _floor_line(relevance, ax.axhline)
    ax.set_xlim(0.5, len(place) + 0.5)
    ax.set_ylim(bottom=0)
    ax.set_xlabel("feature, in the order of the table")
    ax.set_ylabel(f"relevance ({relevance.units})")
    tidy(ax, "y")
    ax.legend(
        handles=[Patch(color="#1f5f8b", label="must matter (lower bound)"),
                 Patch(facecolor="#f3c98b", edgecolor="#e08a1e", label="can matter (up to the upper bound)")],
        loc="upper right", frameon=False, fontsize="small",
    )  # fmt: skip
    return ax


def _floor_line(relevance: Relevance, line: Callable[..., object]) -> None:
    largest = relevance.upper[np.isfinite(relevance.upper)].max(initial=0.0)
    line(float(relevance.floor) * largest, color="0.35", linestyle=":", linewidth=1)


def _handles(relevance: Relevance, lines: bool) -> list[Line2D | Patch]:
    present = [kind for kind in STYLES if (relevance.strength == kind).any()]
    handles: list[Line2D | Patch] = []
    for kind in present:
        style = STYLES[kind]
        if kind == "weak":
            handles.append(Patch(fill=False, edgecolor=style["color"], hatch="////", label="weak: can be replaced"))
        else:
            text = {"strong": "strong: must matter", "irrelevant": "irrelevant", "unknown": "unknown"}[kind]
            handles.append(Line2D([], [], color=style["color"], marker=style["marker"], linewidth=4, label=text))
    if lines:
        handles.append(Line2D([], [], color="0.35", linestyle=":", linewidth=1, label="floor"))
    return handles
