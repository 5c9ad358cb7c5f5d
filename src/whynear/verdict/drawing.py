"""Figures of verdicts and of sufficient sets. They compute nothing and return their axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from whynear.utils.axes import new_axes, short_name, tidy
from whynear.verdict.decisions import INDISPENSABLE, NO_EVIDENCE, REPLACEABLE, UNDECIDED, WORDS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from whynear.interpret import Relevance
    from whynear.utils.arrays import Indices
    from whynear.verdict.result import Verdicts
    from whynear.verdict.stand_ins import StandIns
    from whynear.verdict.sufficient import SufficientSets

# Colours differ for all kinds of colour vision, markers in grey print.
STYLES: dict[str, dict[str, Any]] = {
    INDISPENSABLE: {"color": "#1f5f8b", "marker": "s"},
    REPLACEABLE: {"color": "#e08a1e", "marker": "o"},
    UNDECIDED: {"color": "#5b4636", "marker": "x"},
    NO_EVIDENCE: {"color": "#9aa3ab", "marker": "|"},
}


def draw_verdicts(found: Verdicts, ax: Axes | None, most: int) -> Axes:
    """Draw the points lost without each feature with their errors, sorted by verdict and loss."""
    order = found.order[:most][::-1]
    ax = ax or new_axes(6.5, 1.4 + 0.26 * len(order))
    for place, j in enumerate(order):
        style = STYLES[str(found.verdict[j])]
        ax.errorbar(
            found.loss[j], place, xerr=1.645 * found.error[j], color=style["color"], marker=style["marker"],
            markersize=6, elinewidth=1.2, capsize=0, linestyle="",
        )  # fmt: skip
    ax.axvline(0.0, color="0.6", linewidth=0.8)
    ax.set_yticks(np.arange(len(order)), [short_name(found.feature_names[j]) for j in order])
    for label in ax.get_yticklabels():
        label.set_parse_math(False)
    ax.set_ylim(-0.7, len(order) - 0.3)
    ax.set_xlabel(f"points of {found.measure} lost without it (bars: 90% interval)")
    tidy(ax, "x")
    legend_of_verdicts(ax, set(found.verdict[order].tolist()))
    return ax


def legend_of_verdicts(ax: Axes, words: set[str]) -> None:
    """Add the legend of these verdicts above the axes."""
    shown = {word: STYLES[word] for word in WORDS if word in words}
    handles = [Line2D([], [], linestyle="", label=word, **look) for word, look in shown.items()]
    ax.legend(handles=handles, frameon=False, fontsize="small", loc="lower left", bbox_to_anchor=(0, 1), ncols=4)


def draw_bounds(found: Verdicts, ax: Axes | None, most: int) -> Axes:
    """Draw a line per feature from the least to the most it can weigh; areas in the order of the table for many."""
    relevance = found.relevance
    assert relevance is not None, "there are intervals to draw"
    if len(relevance.feature_names) > most:
        return relevance.plot(ax, most)
    order = np.lexsort((np.arange(len(relevance.upper)), -relevance.upper, -relevance.lower))
    return _draw_lines(found, relevance, order, ax)


def draw_first_bounds(found: Verdicts, ax: Axes | None, most: int) -> Axes:
    """Draw the intervals of the first features in the order of their verdicts, one line each."""
    relevance = found.relevance
    assert relevance is not None, "there are intervals to draw"
    first = [relevance.feature_names.index(found.feature_names[j]) for j in found.order[:most]]
    ax = _draw_lines(found, relevance, np.array(first), ax)
    if len(first) < len(found.feature_names):
        ax.set_ylabel(f"the first {len(first)} of {len(found.feature_names):,}")
    return ax


def _draw_lines(found: Verdicts, relevance: Relevance, from_the_top: Indices, ax: Axes | None) -> Axes:
    order = from_the_top[::-1]
    ax = ax or new_axes(6.5, 1.6 + 0.26 * len(order))
    words = dict(zip(found.feature_names, found.verdict, strict=True))
    for place, j in enumerate(order):
        style = STYLES[str(words[relevance.feature_names[j]])]
        ends, height = [relevance.lower[j], relevance.upper[j]], [place, place]
        ax.plot(ends, height, color=style["color"], linewidth=4, solid_capstyle="butt", gid=f"feature-{j}-body")
        look: dict[str, Any] = {"color": style["color"], "markersize": 6, "clip_on": False, "zorder": 3}
        ax.plot(ends, height, style["marker"], gid=f"feature-{j}-ends", **look)
    ax.set_yticks(np.arange(len(order)), [short_name(relevance.feature_names[j]) for j in order])
    for label in ax.get_yticklabels():
        label.set_parse_math(False)
    ax.set_ylim(-0.7, len(order) - 0.3)
    ax.set_xlim(left=0.0)
    ax.set_xlabel(f"least and most weight in the metric ({relevance.units})")
    tidy(ax, "x")
    legend_of_verdicts(ax, {str(words[relevance.feature_names[j]]) for j in order})
    return ax


def draw_sets(found: SufficientSets, ax: Axes | None) -> Axes:
    """Draw the score over the number of features, with the error of the difference from all, and the choice."""
    ax = ax or new_axes(6, 3.4)
    curve = found.curve.iloc[:-1] if len(found.curve) > 1 else found.curve
    look: dict[str, Any] = {"color": "#1f5f8b", "marker": "o", "markersize": 4, "elinewidth": 1, "capsize": 2}
    ax.errorbar(curve["n_features"], 100 * curve["score"], 100 * curve["error"], label="this many features", **look)
    ax.axhline(100 * found.curve["score"].iloc[-1], color="0.35", linestyle="--", linewidth=1, label="all features")
    ax.axvline(len(found.best), color="#e08a1e", linestyle=":", linewidth=1.5, label=f"chosen: {len(found.best)}")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("number of features")
    ax.set_ylabel(f"{found.measure} on held-out rows, %")
    tidy(ax, "y")
    ax.legend(frameon=False, fontsize="small", loc="lower right")
    return ax


def draw_stand_ins(found: StandIns, ax: Axes | None, most: int = 30) -> Axes:
    """Draw a matrix: what it costs, in points, to put the feature of the column in the place of that of the row."""
    names = list(dict.fromkeys(name for group in found.groups for name in group))[:most]
    prices = {(pair.feature, pair.stand_in): pair.price for pair in found.pairs}
    values = np.array([prices.get((one, other), np.nan) for one in names for other in names])
    values = values.reshape(len(names), len(names))
    shown = [short_name(name) for name in names]
    room = 0.07 * max([8, *map(len, shown)])  # inches for the longest name
    ax = ax or new_axes(1.7 + room + 0.42 * len(names), 1.3 + room + 0.36 * len(names))
    largest = max(1.0, float(np.nanmax(np.abs(values), initial=0.0)))
    if names:
        edges = np.arange(len(names) + 1) - 0.5
        ax.pcolormesh(edges, edges, values, cmap="PuOr_r", vmin=-largest, vmax=largest)
        ax.invert_yaxis()
    for row, col in np.argwhere(np.isfinite(values)):
        dark = abs(values[row, col]) > 0.6 * largest
        ax.text(col, row, f"{values[row, col]:.1f}", ha="center", va="center", fontsize=7, color="w" if dark else "k")
    ax.set_xticks(np.arange(len(names)), shown, rotation=60, ha="right", rotation_mode="anchor")
    ax.set_yticks(np.arange(len(names)), shown)
    for label in (*ax.get_xticklabels(), *ax.get_yticklabels()):
        label.set_parse_math(False)
    ax.set_xlabel("stand-in")
    ax.set_ylabel("feature")
    ax.set_title("points lost with the stand-in", fontsize="small", loc="left")
    return ax
