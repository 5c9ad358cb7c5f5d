"""Figures of comparisons: mean ranks with their critical difference, and scores of several methods."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import ceil, floor
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from whynear.reproduce.outcome import Measured
from whynear.utils.axes import tidy

OURS, OTHERS, JOINED = "#1f5f8b", "#e08a1e", "#44aa99"
INK = "0.25"
BAR_STEP, NAME_STEP = 0.3, 0.55  # vertical distances between bars and between names


def draw_ranks(
    figure: Figure,
    ranks: Mapping[str, float],
    groups: Sequence[tuple[float, float]],
    distance: float,
    ours: Collection[str],
) -> Axes:
    """Draw the diagram of Demšar: names at their mean ranks, bars over groups without significant differences."""
    ax = figure.add_subplot()
    low, high = floor(min(ranks.values())), ceil(max(max(ranks.values()), min(ranks.values()) + distance))
    ordered = sorted(ranks, key=lambda name: ranks[name])
    half, width = (len(ordered) + 1) // 2, high - low
    top = -BAR_STEP * (len(groups) + 1)
    _draw_scale(ax, low, high)
    _draw_distance(ax, low, distance)
    for place, (first, last) in enumerate(groups):
        ends, height = (first - 0.005 * width, last + 0.005 * width), -BAR_STEP * (place + 1)
        ax.plot(ends, [height, height], color=JOINED, linewidth=4, solid_capstyle="round")
    sides = (ordered[:half], low - 0.08 * width, "right"), (ordered[half:][::-1], high + 0.08 * width, "left")
    for names, edge, side in sides:
        for place, name in enumerate(names):
            color = OURS if name in ours else OTHERS
            _draw_name(ax, name, ranks[name], top - NAME_STEP * (place + 0.3), edge, side, color)
    ax.set(xlim=(low - 0.4 * width, high + 0.4 * width), ylim=(top - NAME_STEP * half, 1.6))
    ax.axis("off")
    _add_legend(figure, ax)
    return ax


def _add_legend(figure: Figure, ax: Axes) -> None:
    """Add what the colours mean."""
    marks = [
        ax.plot([], [], color=OURS, marker="o", markersize=3.5, linewidth=0.9, label="this library")[0],
        ax.plot([], [], color=OTHERS, marker="o", markersize=3.5, linewidth=0.9, label="scikit-learn")[0],
        ax.plot([], [], color=JOINED, linewidth=4, label="no significant difference")[0],
    ]
    figure.legend(handles=marks, loc="outside lower center", ncols=3, frameon=False)


def _draw_scale(ax: Axes, low: int, high: int) -> None:
    ax.plot([low, high], [0, 0], color=INK, linewidth=1.2, solid_capstyle="projecting")
    for rank in range(low, high + 1):
        ax.plot([rank, rank], [0, 0.12], color=INK, linewidth=1.2)
        ax.text(rank, 0.2, str(rank), ha="center", va="bottom", color=INK)
    ax.annotate(
        "mean rank", (low, 0.2), xytext=(-12, 0), textcoords="offset points", ha="right", va="bottom", color=INK
    )


def _draw_distance(ax: Axes, low: int, distance: float) -> None:
    ax.plot([low, low + distance], [1.0, 1.0], color=INK, linewidth=1.2)
    for end in (low, low + distance):
        ax.plot([end, end], [0.92, 1.08], color=INK, linewidth=1.2)
    ax.text(low + distance / 2, 1.12, f"critical difference {distance:.2f}", ha="center", va="bottom", color=INK)


def _draw_name(ax: Axes, name: str, rank: float, height: float, edge: float, side: str, color: str) -> None:
    """Draw a line from the scale to the name, with the mean rank above the line."""
    ax.plot([rank, rank, edge], [0, height, height], color=color, linewidth=0.9, solid_joinstyle="miter")
    ax.plot(rank, 0, marker="o", markersize=3.5, color=color, zorder=3)
    outward = -5 if side == "right" else 5
    look: dict[str, Any] = {"textcoords": "offset points", "color": color}
    ax.annotate(name, (edge, height), xytext=(outward, 0), ha=side, va="center", **look)
    inner = "left" if side == "right" else "right"
    ax.annotate(f"{rank:.1f}", (edge, height), xytext=(0, 1.5), ha=inner, va="bottom", fontsize="x-small", **look)


def draw_scores(
    figure: Figure,
    kinds: Sequence[str],
    panels: Sequence[str],
    methods: Sequence[str],
    scores: Mapping[tuple[str, str, str], Measured],
    ours: Collection[str],
) -> None:
    """Draw a row of panels for each kind of data, with a dot for each mean and a line for its uncertainty."""
    axes = figure.subplots(len(kinds), len(panels), sharex=True, sharey=True, squeeze=False)
    for row, kind in zip(axes, kinds, strict=True):
        for ax, panel in zip(row, panels, strict=True):
            for place, method in enumerate(methods):
                color = OURS if method in ours else OTHERS
                value, uncertainty = scores[kind, panel, method]
                ax.errorbar(value, place, xerr=uncertainty, fmt="o", markersize=4.5, elinewidth=1.2, color=color)
            tidy(ax, "both")
        row[0].set_ylabel(kind.replace(", ", "\n"))
    for ax, panel in zip(axes[0], panels, strict=True):
        ax.set_title(panel, fontsize="medium")
    axes[0, 0].set(xlim=(-0.05, 1.05), ylim=(len(methods) - 0.5, -0.5), xticks=[0, 0.5, 1])
    axes[0, 0].set_yticks(range(len(methods)), methods)
    marks = [
        axes[0, 0].plot([], [], "o", color=color, markersize=4.5, label=label)[0]
        for label, color in (("this library", OURS), ("other methods", OTHERS))
    ]
    figure.legend(handles=marks, loc="outside lower center", ncols=2, frameon=False)
