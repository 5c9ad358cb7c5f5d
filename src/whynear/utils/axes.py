"""What all figures share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.colorbar import Colorbar

LONGEST = 32  # characters of a name


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


def color_bar(drawn: ScalarMappable, ax: Axes) -> Colorbar:
    """The scale of colours beside the axes, made of lines and areas like the rest."""
    figure = ax.get_figure()
    assert figure is not None, "axes are made with a figure"
    bar = figure.colorbar(drawn, ax=ax, pad=0.02)
    assert bar.solids is not None, "a scale of colours is filled with them"
    bar.solids.set(rasterized=False, edgecolor="face")
    bar.outline.set_visible(False)
    return bar


def short_name(name: str) -> str:
    """A name that fits beside an axis: its beginning and its end."""
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 12]}…{name[-11:]}"
