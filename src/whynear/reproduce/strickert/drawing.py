"""Drawings of the figures of Strickert et al.: curves against the directions kept, maps and spectra."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from whynear.utils.arrays import Array
from whynear.utils.axes import color_bar, tidy

TEST, TRAIN, THIRD, GREY = "#1f5f8b", "#e08a1e", "#44aa99", "0.4"
CLASSES = {"low": TEST, "medium": TRAIN, "high": THIRD}
N_COLOURS = 21  # of a matrix; few colours keep the file small
MARKS: dict[str, dict[str, Any]] = {
    name: {"marker": marker, "color": TEST, "markerfacecolor": face, "markersize": 7, "linestyle": "", "zorder": 4}
    for name, marker, face in (
        ("a single direction", "^", TEST),
        ("best on test data", "D", TEST),
        ("not regularized", "o", "white"),
    )
}
POINTS: dict[str, dict[str, Any]] = {
    "training": {"marker": "*", "markersize": 8, "linestyle": "", "markeredgewidth": 0.4},
    "test": {"marker": "^", "markersize": 5, "linestyle": "", "markerfacecolor": "none"},
    "prototypes": {"marker": "o", "markersize": 14, "linestyle": "", "markeredgewidth": 1.6, "markerfacecolor": "none"},
}


class Sweep(NamedTuple):
    """Mean scores at 1, 2, ... directions kept, their deviation on test data, and all without regularization."""

    train: Array
    test: Array
    spread: Array
    train_whole: float
    test_whole: float
    spread_whole: float

    @classmethod
    def of(cls, results: Sequence[Mapping[str, Any]]) -> Sweep:
        """The means of several curves, up to the shortest; the last entry of each is without regularization."""
        most = min(len(result["test"]) for result in results) - 1
        train, test = (
            np.array([[*result[part][:most], result[part][-1]] for result in results]) for part in ("train", "test")
        )
        means, spread = (train.mean(axis=0), test.mean(axis=0)), test.std(axis=0)
        ends = (float(values[-1]) for values in (*means, spread))
        return cls(means[0][:-1], means[1][:-1], spread[:-1], *ends)

    @property
    def most(self) -> int:
        """The largest number of directions."""
        return len(self.test)

    def best(self, lowest: bool) -> int:
        """The smallest number of directions with the best mean on test data."""
        return 1 + int(self.test.argmin() if lowest else self.test.argmax())

    def test_at(self, kept: int) -> float:
        """The mean on test data at this number of directions."""
        return float(self.test[kept - 1])

    def spread_at(self, kept: int) -> float:
        """The standard deviation on test data at this number of directions."""
        return float(self.spread[kept - 1])


def draw_sweep(ax: Axes, curve: Sweep, line: int, lowest: bool = True, is_log: bool = False) -> None:
    """Draw training and test scores against the directions kept, and those of the learned map at the right."""
    kept, apart = np.arange(1, curve.most + 1), curve.most * 1.09 + 1
    below = np.maximum(curve.test - curve.spread, curve.test / 10) if is_log else curve.test - curve.spread
    ax.fill_between(kept, below, curve.test + curve.spread, color=TEST, alpha=0.15, linewidth=0)
    ax.plot(kept, curve.train, "--", color=TRAIN, linewidth=1.4)
    ax.plot(kept, curve.test, "-", color=TEST, linewidth=1.6)
    best = curve.best(lowest)
    ax.plot(1, curve.test[0], **MARKS["a single direction"])
    ax.plot(best, curve.test_at(best), **MARKS["best on test data"])
    if is_log:  # training errors become zero
        ax.set_yscale("log")
        ax.set_ylim(float(curve.test.min()) / 3, float(curve.test.max()) * 2)
    else:
        ax.plot(apart, curve.train_whole, **MARKS["not regularized"] | {"color": TRAIN})
    ax.plot(apart, curve.test_whole, **MARKS["not regularized"])
    ax.axvline(line, color=GREY, linestyle=":", linewidth=1)
    _name_ticks(ax, curve.most, apart)
    tidy(ax, "y")


def _name_ticks(ax: Axes, most: int, apart: float) -> None:
    """Label whole numbers, and the place of the learned map with "none"."""
    ticks = [tick for tick in MaxNLocator(6, integer=True).tick_values(1, most) if 1 < tick <= most]
    ax.set_xticks([1, *ticks, apart], [*(f"{tick:.0f}" for tick in (1, *ticks)), "none"])
    ax.set_xlim(1 - 0.02 * most, apart + 0.02 * most)
    ax.set_xlabel("effective dimension K (directions of the data kept)")


def add_legend(figure: Figure, line: str, is_mean: bool = True) -> None:
    """Add a legend above the panels, where it covers no curve; `line` is the label of the vertical line."""
    test = "test, mean and deviation" if is_mean else "test"
    handles = [
        Line2D([], [], color=TEST, linewidth=1.6, label=test),
        Line2D([], [], color=TRAIN, linestyle="--", linewidth=1.4, label="training"),
        Line2D([], [], color=GREY, linestyle=":", linewidth=1, label=line),
        *(Line2D([], [], label=label, **look) for label, look in MARKS.items()),
    ]
    figure.legend(handles=[handles[i] for i in (0, 3, 1, 4, 2, 5)], loc="outside upper center", ncols=3, frameon=False)


def mark_published(ax: Axes, kept: int) -> None:
    """Mark the number of directions that the paper uses."""
    ax.axvline(kept, color=THIRD, linestyle="-.", linewidth=1, zorder=0)
    ax.annotate(
        f" K = {kept} (paper)", (kept, 0.97), xycoords=("data", "axes fraction"), color=GREY, fontsize="small", va="top"
    )


def draw_spectra(figure: Figure, X: Array, target: Array, left_out: NDArray[np.bool_]) -> None:
    """Draw each spectrum in the colour of its target, as pixels; outliers are dotted."""
    ax = figure.add_subplot()
    channels = np.broadcast_to(np.arange(1, X.shape[1] + 1), X.shape)
    lines = LineCollection(
        list(np.stack([channels, X], axis=-1)[~left_out]), array=target[~left_out], cmap="viridis", linewidths=0.6
    )
    lines.set_rasterized(True)
    ax.add_collection(lines)
    ax.plot(channels[left_out].T, X[left_out].T, ":", color="black", linewidth=0.9, rasterized=True)
    ax.set_xlim(1, X.shape[1])
    ax.set_xlabel("channel")
    ax.set_ylabel("intensity")
    color_bar(lines, ax).set_label("alcohol content")
    tidy(ax, "y")
    out = Line2D([], [], color="black", linestyle=":", linewidth=0.9, label="left out as outliers")
    ax.legend(handles=[out], frameon=False, loc="best")


def draw_coefficients(ax: Axes, whole: Array, projected: Array, effective_dim: int) -> None:
    """Draw both vectors of coefficients against the channels."""
    channels = np.arange(1, len(whole) + 1)
    ax.axhline(0, color="0.7", linewidth=0.8)
    ax.plot(channels, whole, color=TRAIN, linewidth=0.9, label="pseudo-inverse")
    ax.plot(channels, projected, color=TEST, linewidth=1.8, label=f"{effective_dim} directions kept")
    ax.set_xlim(1, len(whole))
    ax.set_xlabel("channel")
    ax.set_ylabel("coefficient")
    tidy(ax, "y")
    ax.legend(frameon=False, ncols=2, loc="lower left", bbox_to_anchor=(0, 1))


def draw_projections(
    figure: Figure, points: Mapping[str, Sequence[Any]], classes: Mapping[str, NDArray[Any]], effective_dim: int
) -> None:
    """Draw the spectra and the prototypes on the plane of the map, before and after regularization."""
    titles = "not regularized", f"{effective_dim} directions kept"
    for place, (ax, title) in enumerate(zip(figure.subplots(2, 1), titles, strict=True)):
        for code, (name, color) in enumerate(CLASSES.items()):
            for part in ("test", "training"):
                ax.plot(*np.array(points[part][place])[classes[part] == code].T, color=color, **POINTS[part])
            prototype = np.array(points["prototypes"][place][code])
            ax.plot(*prototype, color="black", **POINTS["prototypes"])
            ax.plot(*prototype, ".", color=color, markeredgecolor="white", markersize=11, zorder=5)
            ax.annotate(name, prototype, (0, 22), textcoords="offset points", ha="center")
        ax.set_title(title, fontsize="medium", loc="left")
        ax.set_ylabel("second coordinate")
        ax.set_aspect("equal", adjustable="datalim")
        tidy(ax, "both")
    ax.set_xlabel("first coordinate")
    handles = [Line2D([], [], color="0.3", label=part, **look) for part, look in POINTS.items()]
    handles += [Line2D([], [], color=color, linewidth=5, label=label) for label, color in CLASSES.items()]
    figure.legend(handles=handles, loc="outside upper center", ncols=6, frameon=False, columnspacing=1.2)


def draw_matrices(figure: Figure, whole: Array, projected: Array, effective_dim: int) -> None:
    """Draw Lambda before and after regularization above their diagonals, each with its own scale."""
    panels = figure.subplots(2, 2, sharex=True, height_ratios=(2, 1))
    names = "not regularized", f"{effective_dim} directions kept"
    n = whole.shape[1]
    for (ax, below), omega, name in zip(panels.T, (whole, projected), names, strict=True):
        matrix = omega.T @ omega
        most = float(np.quantile(np.abs(matrix), 0.99))
        look = {"cmap": mpl.colormaps["RdBu_r"].resampled(N_COLOURS), "vmin": -most, "vmax": most}
        ax.imshow(matrix, extent=(0.5, n + 0.5, n + 0.5, 0.5), aspect="auto", interpolation="none", **look)
        ax.set_title(f"{name}, colours up to ±{most:.1g}", fontsize="medium")
        below.plot(np.arange(1, n + 1), np.square(omega).sum(axis=0), color=TEST, linewidth=1.2)
        below.set_ylim(bottom=0)
        below.set_xlabel("channel")
        tidy(below, "y")
    panels[0, 0].set_ylabel("channel")
    panels[1, 0].set_ylabel("diagonal entry")
