"""The figure of relevance intervals. It computes nothing, returns its axes and never shows them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from whynear.utils.axes import new_axes, short_name, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    from whynear.interpret.relevance import Relevance

# Blue and orange differ for all kinds of colour vision; fill, hatch and marker differ in grey print.
STYLES: dict[str, dict[str, Any]] = {
    "strong": {"color": "#1f5f8b", "marker": "s", "hatch": None},
    "weak": {"color": "#e08a1e", "marker": "o", "hatch": "////"},
    "irrelevant": {"color": "#9aa3ab", "marker": "|", "hatch": None},
    "unknown": {"color": "#b03060", "marker": "x", "hatch": None},
}


def draw_intervals(relevance: Relevance, ax: Axes | None, most: int) -> Axes:
    """Draw the intervals as lines, one per feature, or as areas along an axis of many features."""
    if len(relevance.feature_names) > most:
        return _draw_along(relevance, ax or new_axes(8, 3.4))
    return _draw_lines(relevance, ax or new_axes(6.5, 1.6 + 0.26 * len(relevance.feature_names)))


def _draw_lines(relevance: Relevance, ax: Axes) -> Axes:
    order = np.lexsort((np.arange(len(relevance.upper)), -relevance.upper, -relevance.lower))[::-1]
    for place, j in enumerate(order):
        style = STYLES[str(relevance.strength[j])]
        lower, upper = relevance.lower[j], relevance.upper[j]
        if style["hatch"]:
            look = {"fill": False, "edgecolor": style["color"], "hatch": style["hatch"], "gid": f"feature-{j}-body"}
            ax.barh(place, upper - lower, left=lower, height=0.5, **look)
        else:
            body = {"color": style["color"], "linewidth": 5, "solid_capstyle": "butt", "gid": f"feature-{j}-body"}
            ax.plot([lower, upper], [place, place], **body)
        ends = {"color": style["color"], "markersize": 6, "clip_on": False, "zorder": 3, "gid": f"feature-{j}-ends"}
        ax.plot([lower, upper], [place, place], style["marker"], **ends)
    ax.set_yticks(np.arange(len(order)), [short_name(relevance.feature_names[j]) for j in order])
    for label in ax.get_yticklabels():
        label.set_parse_math(False)
    ax.set_ylim(-0.7, len(order) - 0.3)
    ax.set_xlim(left=0.0)
    _floor_line(relevance, ax.axvline)
    ax.set_xlabel(f"relevance interval ({relevance.units})")
    tidy(ax, "x")
    handles = [_handle(kind) for kind in STYLES if (relevance.strength == kind).any()]
    _legend(ax, [*handles, _floor_handle()])
    return ax


def _draw_along(relevance: Relevance, ax: Axes) -> Axes:
    place = np.arange(1, len(relevance.upper) + 1)
    ax.patch.set_gid("all-features")
    # The edges keep a single feature visible among thousands.
    can = {"facecolor": "#f3c98b", "edgecolor": STYLES["weak"]["color"], "hatch": STYLES["weak"]["hatch"]}
    must = {"facecolor": STYLES["strong"]["color"], "edgecolor": STYLES["strong"]["color"]}
    ax.fill_between(place, relevance.lower, relevance.upper, step="mid", linewidth=0.6, **can)
    ax.fill_between(place, 0, relevance.lower, step="mid", linewidth=0.6, **must)
    handles: list[Line2D | Patch]
    handles = [
        Patch(label="must matter (lower bound)", **must),
        Patch(label="can matter (upper bound)", **can),
        _floor_handle(),
    ]
    unknown = relevance.strength == "unknown"
    if unknown.any():
        style = STYLES["unknown"]
        ax.plot(place[unknown], np.zeros(unknown.sum()), style["marker"], color=style["color"], clip_on=False, zorder=3)
        handles.append(Line2D([], [], linestyle="", marker=style["marker"], color=style["color"], label="unknown"))
    _floor_line(relevance, ax.axhline)
    ax.set_xlim(0.5, len(place) + 0.5)
    ax.set_ylim(bottom=0)
    ax.set_xlabel("feature, in the order of the table")
    ax.set_ylabel(f"relevance ({relevance.units})")
    tidy(ax, "y")
    _legend(ax, handles)
    return ax


def _floor_line(relevance: Relevance, line: Callable[..., object]) -> None:
    line(relevance.threshold, color="0.35", linestyle=":", linewidth=1)


def _floor_handle() -> Line2D:
    from matplotlib.lines import Line2D

    return Line2D([], [], color="0.35", linestyle=":", linewidth=1, label="floor")


def _handle(kind: str) -> Line2D | Patch:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    style = STYLES[kind]
    if style["hatch"]:
        return Patch(fill=False, edgecolor=style["color"], hatch=style["hatch"], label="weak: can be replaced")
    text = {"strong": "strong: must matter"}.get(kind, kind)
    return Line2D([], [], color=style["color"], marker=style["marker"], linewidth=4, label=text)


def _legend(ax: Axes, handles: list[Line2D | Patch]) -> None:
    """Put the legend above the axes, where it covers no interval."""
    ax.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=3 if len(handles) == 5 else len(handles) if len(handles) < 4 else 2,
        frameon=False,
        fontsize="small",
    )
