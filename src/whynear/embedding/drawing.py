"""Figures of embeddings. They compute nothing, return their axes and never show them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from whynear.embedding.inputs import embedded_classes
from whynear.utils.axes import CLASS_COLORS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

# They distinguish classes in grey print. As 10 colours and 9 markers have no common divisor, 90 classes look different.
MARKERS = ("o", "^", "s", "D", "v", "P", "*", "X", "p")
LEGEND_ROWS = 20


def plot_embedding(embedding: ArrayLike, y: ArrayLike, ax: Axes | None = None, errors: ArrayLike | None = None) -> Axes:
    """Draw an embedding with a colour and a marker for each class.

    Parameters
    ----------
    embedding : array-like of shape (n_samples, 2)
        Positions, as `embed` returns them.
    y : array-like of shape (n_samples,)
        Classes of the points, named in the legend.
    ax : Axes, optional
        Where to draw; a new figure without it.
    errors : array-like of shape (n_samples,) of bool, optional
        Points to mark by a ring, for example ``learner.predict(X) != y``.

    Returns
    -------
    ax : Axes

    Examples
    --------
    >>> ax = plot_embedding([[0.0, 0.0], [1.0, 1.0], [4.0, 4.0]], ["cat", "cat", "dog"], errors=[False, True, False])
    >>> [text.get_text() for text in ax.get_legend().get_texts()][:2]
    ['cat', 'dog']
    """
    points, classes, codes = embedded_classes(embedding, y)
    if points.shape[1] != 2:
        raise ValueError(f"embedding must have 2 columns to be drawn, got {points.shape[1]} instead.")
    marked = np.zeros(len(points), dtype=bool) if errors is None else np.asarray(errors)
    if marked.shape != (len(points),) or marked.dtype != bool:
        raise ValueError(
            f"errors must hold True or False for each of the {len(points)} points, "
            f"got shape {marked.shape} of {marked.dtype} instead."
        )
    if ax is None:
        from matplotlib import pyplot as plt

        _, ax = plt.subplots(figsize=(6, 4.5), layout="constrained")
    size = float(np.clip(180 / len(points) ** 0.35, 6, 36))
    # Large classes first, so that they do not cover small ones.
    for code in np.argsort(-np.bincount(codes), kind="stable"):
        across, up = points[codes == code].T
        ax.scatter(
            across,
            up,
            s=size,
            c=CLASS_COLORS[code % len(CLASS_COLORS)],
            marker=MARKERS[code % len(MARKERS)],
            edgecolors="white",
            linewidths=0.2,
            alpha=0.85,
            gid=f"class-{code}",
        )
    handles = [_handle(code, str(name)) for code, name in enumerate(classes)]
    if errors is not None:
        across, up = points[marked].T
        ax.scatter(across, up, s=3 * size, marker="o", edgecolors="black", facecolors="none", linewidths=0.6)
        handles.append(_ring(f"error ({marked.sum()} of {len(points)})"))
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[:].set_color("0.8")
    # Beside the axes, where it covers no point.
    legend = ax.legend(
        handles=handles,
        loc="upper left",
        bbox_to_anchor=(1.0, 1.0),
        ncols=-(-len(handles) // LEGEND_ROWS),
        frameon=False,
        fontsize="small",
    )
    for text in legend.get_texts():
        text.set_parse_math(False)
    return ax


def _handle(code: int, name: str) -> Line2D:
    color, marker = CLASS_COLORS[code % len(CLASS_COLORS)], MARKERS[code % len(MARKERS)]
    return _point(color=color, marker=marker, markersize=6, label=name)


def _ring(name: str) -> Line2D:
    return _point(color="black", marker="o", markersize=9, markerfacecolor="none", label=name)


def _point(**looks: Any) -> Line2D:
    from matplotlib.lines import Line2D  # imported when needed, because it takes long

    return Line2D([], [], linestyle="", **looks)
