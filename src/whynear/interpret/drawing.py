"""Figures of the interpreters. They compute nothing, return their axes and never show them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from whynear.utils.axes import new_axes, short_name, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from whynear.interpret.dimension import EffectiveDimension
    from whynear.interpret.paths import RegularizationPaths
    from whynear.interpret.relevance import Relevance
    from whynear.interpret.tolerance import RelevanceTolerance

# Blue and orange differ for all kinds of colour vision; fill, hatch and marker differ in grey print.
NAMED = ("#1f5f8b", "#e08a1e", "#2e8b57", "#b03060", "#6a5acd", "#5b4636")
CRITERIA = {
    "validation_error": "classification error",
    "mse": "mean squared error",
    "correlation": "correlation of prediction and target",
}
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


def draw_dimension(result: EffectiveDimension, ax: Axes | None) -> Axes:
    """Draw the results on training and validation data over the number of directions, with the choice marked."""
    ax = ax or new_axes(6, 3.4)
    curve, kept = result.curve, result.curve["effective_dim"]
    train = next(name for name in curve if str(name).startswith("train"))
    shown = [result.criterion] if result.criterion == "correlation" else [train, result.criterion]
    for name, color, line, marker in zip(shown[::-1], NAMED, ("-", "--"), ("o", "s"), strict=False):
        ax.plot(kept, curve[name], line, color=color, marker=marker, markersize=4, label=str(name).replace("_", " "))
    ax.axvline(result.best, color="0.35", linestyle=":", linewidth=1)
    place = (result.best, 0.03)
    ax.annotate(f" best: {result.best}", place, xycoords=("data", "axes fraction"), color="0.35", fontsize="small")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("effective dimension (directions of the data kept)")
    ax.set_ylabel(CRITERIA[result.criterion])
    tidy(ax, "y")
    ax.legend(frameon=False, fontsize="small")
    return ax


def draw_tolerance(result: RelevanceTolerance, ax: Axes | None) -> Axes:
    """Draw the results over the tolerance, the excess over the learned map with its error, and the choice."""
    ax = ax or new_axes(6, 3.4)
    curve = result.curve
    train = next(name for name in curve if str(name).startswith("train"))
    named = result.criterion.replace("_", " ")
    look: dict[str, Any] = {"color": NAMED[0], "marker": "o", "markersize": 4, "capsize": 2, "elinewidth": 1}
    ax.errorbar(curve["tolerance"], curve[result.criterion], curve["standard_error"], label=named, **look)
    look = {"color": NAMED[1], "marker": "s", "markersize": 4}
    ax.plot(curve["tolerance"], curve[train], "--", label=str(train).replace("_", " "), **look)
    ax.axvline(result.best, color="0.35", linestyle=":", linewidth=1)
    place = (result.best, 0.03)
    ax.annotate(f" chosen: {result.best:g}", place, xycoords=("data", "axes fraction"), color="0.35", fontsize="small")
    ax.set_xlabel("tolerance (share of the effect of the map)")
    ax.set_ylabel(CRITERIA[result.criterion])
    tidy(ax, "y")
    ax.legend(frameon=False, fontsize="small")
    return ax


def draw_paths(paths: RegularizationPaths, axes: list[Axes] | None) -> list[Axes]:
    """Draw one panel per method; the features with the largest weights have colours and names, the others are grey."""
    if axes is None:
        from matplotlib import pyplot as plt

        axes = list(plt.subplots(1, len(paths.weights), figsize=(9, 3.2), sharey=True, layout="constrained")[1])
    largest = np.max([np.abs(weights).max(axis=0) for weights in paths.weights.values()], axis=0)
    named = np.argsort(-largest, kind="stable")[: len(NAMED)]
    for ax, (method, weights) in zip(axes, paths.weights.items(), strict=True):
        ax.plot(paths.alphas[method], np.delete(weights, named, axis=1), color="0.8", linewidth=0.7)
        for j, color, line in zip(named, NAMED, ("-", "--", "-.", ":", "-", "--"), strict=False):
            label = short_name(paths.feature_names[j])
            ax.plot(paths.alphas[method], weights[:, j], line, color=color, linewidth=1.5, label=label)
        ax.set_xscale("log")
        ax.invert_xaxis()
        ax.set_title(method)
        ax.set_xlabel("penalty")
        tidy(ax, "y")
    axes[0].set_ylabel(f"weight ({paths.units})")
    for text in axes[-1].legend(frameon=False, fontsize="small").get_texts():
        text.set_parse_math(False)
    return axes


def _floor_line(relevance: Relevance, line: Callable[..., object]) -> None:
    line(relevance.threshold, color="0.35", linestyle=":", linewidth=1)


def _floor_handle() -> Line2D:
    return Line2D([], [], color="0.35", linestyle=":", linewidth=1, label="floor")


def _handle(kind: str) -> Line2D | Patch:
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
