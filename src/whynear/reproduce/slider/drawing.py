"""Drawings of the figures of Gopal and Ioerger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from whynear.reproduce.outcome import Outcome
from whynear.utils.arrays import Array
from whynear.utils.axes import tidy

COLORS = {"equal weights": "#9aa3ab", "equal weights, z-scores": "#e08a1e", "Slider": "#1f5f8b"}
MARKERS = {"equal weights": "s", "equal weights, z-scores": "^", "Slider": "o"}
WEIGHTS = {"Euclidean": ("#e08a1e", "s"), "Slider": ("#1f5f8b", "o")}
MEASURES = {"1-NN accuracy, %": 1, "rank among 10": -1, "matches in the nearest tenth": 1}  # 1 if higher is better


def draw_measures(figure: Figure, outcome: Outcome, rows: Sequence[str]) -> None:
    """Draw a panel for each measure, with filled marks for our values and hollow marks for published ones."""
    lines = {(line.row, line.column): line for line in outcome.lines}
    panels = figure.subplots(1, len(MEASURES), sharey=True)
    for ax, measure in zip(panels, MEASURES, strict=True):
        for place, row in enumerate(rows):
            for weights, (color, marker) in WEIGHTS.items():
                line = lines[f"{row}: {measure}", weights]
                _mark(ax, line.ours, line.deviation, place + 0.13, color, marker, color)
                _mark(ax, line.published, line.published_deviation, place - 0.13, color, marker, "white")
        ax.set_title(measure, fontsize="medium")
        tidy(ax, "both")
    panels[0].set_yticks(range(len(rows)), [row.replace(", ", ",\n") for row in rows])
    panels[0].set_ylim(len(rows) - 0.5, -0.5)
    look: dict[str, Any] = {"linestyle": "", "markersize": 6}
    handles = [
        Line2D([], [], color=color, marker=marker, markerfacecolor=face, label=f"{weights}, {who}", **look)
        for weights, (color, marker) in WEIGHTS.items()
        for who, face in (("published", "white"), ("ours", color))
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=4, frameon=False)


def _mark(
    ax: Axes, value: float | None, deviation: float | None, place: float, color: str, marker: str, face: str
) -> None:
    if value is not None:
        look: dict[str, Any] = {"color": color, "marker": marker, "markerfacecolor": face, "linestyle": ""}
        ax.errorbar(value, place, xerr=deviation or 0.0, markersize=5, elinewidth=1, **look)


def draw_matches(figure: Figure, tolerances: Sequence[float], counts: Mapping[str, Mapping[str, Array]]) -> None:
    """Draw a panel for each distance; counts have a row for each seed and a column for each tolerance."""
    panels = figure.subplots(1, len(counts), sharey=True)
    for ax, (order, by_name) in zip(panels, counts.items(), strict=True):
        existing = by_name["existing matches"].mean(axis=0)
        ax.plot(tolerances, existing, color="0.6", linestyle=":", label="existing matches")
        for name, color in COLORS.items():
            look: dict[str, Any] = {"color": color, "marker": MARKERS[name], "capsize": 3, "label": name}
            ax.errorbar(tolerances, by_name[name].mean(axis=0), yerr=by_name[name].std(axis=0), **look)
        ax.set_title(order, fontsize="medium")
        ax.set_xlabel("tolerance")
        tidy(ax, "y")
    panels[0].set_ylabel("matches among the nearest 400")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=4, frameon=False)


def draw_methods(figure: Figure, methods: Sequence[str], matches: Mapping[tuple[str, str], Sequence[float]]) -> None:
    """Draw a bar for each method, on raw columns and on z-scores."""
    panels = figure.subplots(1, 2, sharey=True)
    for ax, columns in zip(panels, ("raw columns", "z-scores"), strict=True):
        for place, method in enumerate(methods):
            scores = matches[method, columns]
            color = COLORS["Slider" if method == "Slider" else "equal weights"]
            ax.barh(place, np.mean(scores), xerr=np.std(scores), color=color, capsize=3, height=0.6)
        ax.set_title(columns, fontsize="medium")
        ax.set_xlabel("matches among the nearest 400")
        tidy(ax, "x")
    panels[0].set_yticks(range(len(methods)), methods)
    panels[0].invert_yaxis()
