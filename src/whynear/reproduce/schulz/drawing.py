"""Drawings of the figures of Schulz, Mokbel, Biehl and Hammer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from whynear.engine.cells import Result, ResultOf
from whynear.interpret.drawing import draw_paths
from whynear.interpret.paths import RegularizationPaths
from whynear.reproduce.data import spectra
from whynear.reproduce.schulz.cases import Case
from whynear.reproduce.schulz.cells import split_of
from whynear.utils.arrays import Array
from whynear.utils.axes import tidy

BLUE, ORANGE, GREEN = "#1f5f8b", "#e08a1e", "#44aa99"
MOST_BARS = 40  # with more features, areas are drawn
MOST_ROWS_SHOWN = 3


def draw_error_curves(figure: Figure, named_cases: Mapping[str, Case], result_of: ResultOf) -> None:
    """Draw errors against the effective dimension, in a panel for each case."""
    n_columns = 2 if len(named_cases) < 5 else 3
    n_rows = -(-len(named_cases) // n_columns)
    panels = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
    for ax, (name, case) in zip(panels, named_cases.items(), strict=False):
        _curve(ax, case, result_of)
        ax.set_title(name, fontsize="medium")
    for ax in panels[len(named_cases) :]:
        ax.axis("off")
    for ax in panels[::n_columns]:
        ax.set_ylabel("error")
    handles, labels = panels[0].get_legend_handles_labels()
    for other in panels[1 : len(named_cases)]:
        more = other.get_legend_handles_labels()
        new = [place for place, label in enumerate(more[1]) if label not in labels]
        handles += [more[0][place] for place in new]
        labels += [more[1][place] for place in new]
    figure.legend(handles, labels, loc="outside upper center", ncols=4, frameon=False)


def _curve(ax: Axes, case: Case, result_of: ResultOf) -> None:
    ax.plot(case.dimensions, result_of(case.curve)["train"], "s--", color=ORANGE, markersize=4, label="training")
    ax.plot(case.dimensions, result_of(case.curve)["test"], "o-", color=BLUE, markersize=4, label="test")
    if case.folds:
        mean = np.mean([result_of(cell)["test"] for cell in case.folds], axis=0)
        ax.plot(case.dimensions, mean, "^:", color=GREEN, markersize=4, label="cross-validation")
    if case.published is not None:
        ax.axvline(case.published, color="0.4", linewidth=1, linestyle=":", label="published choice")
    ax.set_xlabel("effective dimension")
    ax.set_ylim(bottom=-0.02)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    tidy(ax, "y")


def draw_xor(figure: Figure, case: Case, result_of: ResultOf) -> None:
    """Draw two features of the xor data, and its error curve."""
    scatter, curve = figure.subplots(1, 2)
    data = split_of(case.dataset)
    for code, color, marker in ((0, BLUE, "o"), (1, ORANGE, "^")):
        chosen = data.X[data.y == code]
        scatter.scatter(chosen[:, 0], chosen[:, 3], s=10, color=color, marker=marker, label=f"class {code + 1}")
    scatter.set_xlabel("feature 1")
    scatter.set_ylabel("feature 4")
    scatter.legend(frameon=False, fontsize="small", loc="center")
    tidy(scatter, "both")
    _curve(curve, case, result_of)
    curve.set_ylabel("error")
    curve.legend(frameon=False, fontsize="small")


def draw_spectra(figure: Figure, datasets: Mapping[str, str]) -> None:
    """Draw all spectra of each data set, as pixels."""
    for ax, (name, dataset) in zip(figure.subplots(1, len(datasets)), datasets.items(), strict=True):
        data = spectra(dataset)
        rows = np.vstack([data.X, data.X_test])
        ax.plot(np.arange(1, 1 + rows.shape[1]), rows.T, color=BLUE, linewidth=0.4, alpha=0.5, rasterized=True)
        ax.set_title(name, fontsize="medium")
        ax.set_xlabel("feature")
        tidy(ax, "both")
    figure.axes[0].set_ylabel("intensity")


def draw_maps_and_bounds(figure: Figure, result: Result) -> None:
    """Draw the rows of the map in the upper panels, and their bounds in the lower panels."""
    n = min(MOST_ROWS_SHOWN, len(result["original"]), max(1, len(result["rows"])))
    panels = figure.subplots(2, n, sharey="row", sharex=True, squeeze=False)
    for place in range(n):
        _weights(panels[0, place], np.array(result["original"][place]))
        panels[0, place].set_title(f"row {place + 1} of the map", fontsize="medium")
        if place < len(result["rows"]):
            _bounds(panels[1, place], result["rows"][place])
        panels[1, place].set_xlabel("feature")
    panels[0, 0].set_ylabel("|weight|")
    panels[1, 0].set_ylabel("bounds")
    _add_legend(figure, panels[1, 0])


def draw_summed_bounds(figure: Figure, result: Result) -> None:
    """Draw the bounds summed over the rows of the map."""
    ax = figure.add_subplot()
    _bounds(ax, result)
    ax.set_xlabel("feature")
    ax.set_ylabel("bounds, summed over the rows")
    _add_legend(figure, ax)


def draw_average_map(figure: Figure, result: Result) -> None:
    """Draw the learned map, and the mean of all extreme maps."""
    panels = figure.subplots(2, 1, sharex=True)
    for ax, name, title in zip(
        panels, ("original", "average"), ("as learned", "mean of all extreme maps"), strict=True
    ):
        _weights(ax, np.array(result[name]).sum(axis=0))
        ax.set_title(title, fontsize="medium")
        ax.set_ylabel("|weight|")
    panels[1].set_xlabel("feature")


def draw_bounds_of_cases(figure: Figure, named_cases: Mapping[str, Case], result_of: ResultOf) -> None:
    """Draw the summed bounds of each case, in one panel below the other."""
    for ax, (name, case) in zip(figure.subplots(len(named_cases), 1, sharex=True), named_cases.items(), strict=True):
        _bounds(ax, case.chosen(result_of))
        ax.set_title(name, fontsize="medium")
        ax.set_ylabel("bounds")
    figure.axes[-1].set_xlabel("feature")
    _add_legend(figure, figure.axes[0])


def _add_legend(figure: Figure, ax: Axes) -> None:
    """Add a legend above all panels, where it covers no bar."""
    figure.legend(*ax.get_legend_handles_labels(), loc="outside upper right", ncols=2, frameon=False, fontsize="small")


def draw_shrinkage(figure: Figure, result: Mapping[str, Any]) -> None:
    """Draw lasso, elastic net and ridge solutions, in a panel for each."""
    alphas, weights = (
        {name: np.array(values) for name, values in result[key].items()} for key in ("alphas", "weights")
    )
    names = tuple(f"feature {number}" for number in range(1, 1 + len(result["features"])))
    draw_paths(RegularizationPaths(names, alphas, weights, "per standard deviation"), _row(figure))


def _row(figure: Figure) -> list[Axes]:
    return list(figure.subplots(1, 3, sharey=True))


def _weights(ax: Axes, weights: Array) -> None:
    place = np.arange(1, len(weights) + 1)
    if len(weights) <= MOST_BARS:
        ax.bar(place, weights, color="0.45")
    else:
        ax.fill_between(place, weights, step="mid", color="0.45")
    ax.set_xlim(0.5, len(weights) + 0.5)
    ax.set_ylim(bottom=0)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    tidy(ax, "y")


def _bounds(ax: Axes, result: Mapping[str, Any]) -> None:
    """Draw upper bounds as dark bars, and lower bounds as hatched bars in front of them."""
    lower, upper = np.array(result["lower"]), np.array(result["upper"])
    place = np.arange(1, len(upper) + 1)
    looks: list[tuple[Array, dict[str, Any]]] = [
        (upper, {"color": BLUE, "label": "can matter (upper bound)"}),
        (lower, {"facecolor": "white", "edgecolor": ORANGE, "hatch": "////", "label": "must matter (lower bound)"}),
    ]
    for values, look in looks:
        if len(upper) <= MOST_BARS:
            ax.bar(place, values, **look)
        else:
            ax.fill_between(place, values, step="mid", **look)
    ax.set_xlim(0.5, len(upper) + 0.5)
    ax.set_ylim(bottom=0)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    tidy(ax, "y")
