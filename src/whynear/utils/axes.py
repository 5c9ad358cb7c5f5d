"""Axes, grids, colour bars and short names for all figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.colorbar import Colorbar

LONGEST_NAME = 32  # characters
# Readers with any kind of colour vision can distinguish these.
CLASS_COLORS = (
    *("#1f5f8b", "#e08a1e", "#44aa99", "#882255", "#88ccee"),
    *("#999933", "#aa4499", "#117733", "#ddcc77", "#3a3a3a"),
)
# So can they these lines, of which the first are told apart in grey print too.
LINE_COLORS = ("#1f5f8b", "#e08a1e", "#2e8b57", "#b03060", "#6a5acd", "#5b4636")


def new_axes(width: float, height: float) -> Axes:
    """Return the axes of a new figure, for notebooks and windows."""
    from matplotlib import pyplot as plt

    _, ax = plt.subplots(figsize=(width, height), layout="constrained")
    return ax


def tidy(ax: Axes, grid: Literal["x", "y", "both"]) -> None:
    """Remove the lines at the top and on the right, and draw a light grid behind the data."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis=grid, color="0.9", linewidth=0.8)
    ax.set_axisbelow(True)


def color_bar(drawn: ScalarMappable, ax: Axes) -> Colorbar:
    """Draw a colour bar beside the axes, as vector graphics like the rest of the figure."""
    figure = ax.get_figure()
    assert figure is not None, "axes are made with a figure"
    bar = figure.colorbar(drawn, ax=ax, pad=0.02)
    assert bar.solids is not None, "a colour bar is filled with colours"
    bar.solids.set(rasterized=False, edgecolor="face")
    bar.outline.set_visible(False)
    return bar


def short_name(name: str) -> str:
    """Return a name that fits beside an axis: of a long one the beginning and the end."""
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 12]}…{name[-11:]}"
