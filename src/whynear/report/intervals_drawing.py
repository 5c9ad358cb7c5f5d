"""The intervals of a study, coloured by the verdicts on the features."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from whynear.interpret import Relevance
from whynear.utils.axes import short_name, tidy
from whynear.verdict import Verdicts
from whynear.verdict.drawing import STYLES, legend_of_verdicts


def draw_bounds(relevance: Relevance, verdicts: Verdicts, ax: Axes, most: int) -> Axes:
    """Draw a line per feature from the least to the most it can weigh; areas in the order of the table for many."""
    if len(relevance.feature_names) > most:
        return relevance.plot(ax, most)
    words = dict(zip(verdicts.feature_names, verdicts.verdict, strict=True))
    order = np.lexsort((np.arange(len(relevance.upper)), -relevance.upper, -relevance.lower))[::-1]
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
    legend_of_verdicts(ax, set(verdicts.verdict.tolist()))
    return ax
