"""The figure of a stream's history. It computes nothing and returns its axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from whynear.utils.axes import CLASS_COLORS, new_axes, short_name, tidy
from whynear.utils.text import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from whynear.stream.history import StreamHistory


def draw_history(history: StreamHistory, ax: Axes | None, most: int) -> Axes:
    """Draw shares of relevance as areas, the accuracy as a line, and replacements as vertical lines."""
    ax = ax or new_axes(7.5, 3.6)
    shares = history.relevances.fillna(0.0)
    order = np.argsort(-shares.sum().to_numpy(), kind="stable")
    first, rest = order[:most], order[most:]
    areas = [shares.iloc[:, place] for place in first]
    names = [short_name(str(shares.columns[place])) for place in first]
    if len(rest):
        areas.append(shares.iloc[:, rest].sum(axis=1))
        names.append(counted(len(rest), "other"))
    cases = history.table["case"]
    colors = [*(CLASS_COLORS[place % len(CLASS_COLORS)] for place in range(len(first))), "#c8ccd0"]
    if len(cases):
        ax.stackplot(cases, areas, labels=names, colors=colors[: len(areas)], alpha=0.55, linewidth=0)
    ax.plot(cases, history.table["accuracy"], color="black", linewidth=1.2, label="accuracy")
    for found in history.replacements:
        ax.axvline(found.case, color="black", linestyle=":", linewidth=1.0)
    ax.set_ylim(0.0, 1.0)
    ax.set_xlabel("case")
    ax.set_ylabel("share of relevance; accuracy")
    tidy(ax, "y")
    legend = ax.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
    for text in legend.get_texts():
        text.set_parse_math(False)
    return ax
