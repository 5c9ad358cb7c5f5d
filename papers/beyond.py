"""Beyond the papers: all learners ranked over many data sets, and methods that find relevant features."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import ceil, floor
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.stats import friedmanchisquare, rankdata, studentized_range

from papers.accuracy import accuracy_cells, mean_accuracy
from papers.computations import Cell, ResultOf
from papers.feature_selection import agreement, scores
from papers.outcome import Experiment, Measured, Values, mean_of
from papers.plans import load_plan
from whynear.learn.registry import LEARNERS
from whynear.utils.arrays import Array
from whynear.utils.axes import CLASS_COLORS, tidy

ALL_LEARNERS = "all"
SCORES = (
    "exact strength",
    "exact strength, strong or weak",
    "strong found",
    "weak found",
    "irrelevant left out",
    "relevant or not",
    "same features",
    "same order",
)
OURS = {"verdicts", "intervals"}
SECONDS = {"verdicts": 4.0, "permutation": 0.7, "Boruta": 2.3}
OUR_COLOR, OTHER_COLOR, JOINED = CLASS_COLORS[:3]
INK = "0.25"
BAR_STEP, NAME_STEP = 0.3, 0.55  # vertical distances between bars and between names


def ranking() -> Experiment:
    """Accuracies of every learner on every data set, mean ranks, and their critical difference."""
    plan = load_plan("beyond-accuracy")
    datasets, learners = plan.settings["datasets"], list(plan.settings["learners"])
    cells = {
        (dataset, learner): accuracy_cells(dataset, learner, "fifth", settings_on(dataset, plan.settings))
        for dataset in datasets
        for learner in learners
    }

    def scores(result_of: ResultOf) -> Array:
        """Mean accuracies with a row for each data set and a column for each learner."""
        flat = [mean_accuracy(folds, result_of).value for folds in cells.values()]
        return np.reshape(flat, (len(datasets), len(learners)))

    def measure(result_of: ResultOf) -> Values:
        table = scores(result_of)
        values: dict[tuple[str, str], Measured] = {}
        for dataset, row in zip(datasets, table, strict=True):
            values |= {(dataset, learner): mean_accuracy(cells[dataset, learner], result_of) for learner in learners}
            values[dataset, ALL_LEARNERS] = Measured(float(row.mean()))
        ranks = zip(learners, mean_ranks(table), strict=True)
        return values | {("mean rank", learner): Measured(rank) for learner, rank in ranks} | _friedman_test(table)

    def draw(figure: Figure, result_of: ResultOf) -> None:
        table = scores(result_of)
        ranks = dict(zip(learners, mean_ranks(table), strict=True))
        distance = critical_difference(len(learners), len(datasets))
        ours = {name for name in learners if name.lower() in LEARNERS}
        draw_ranks(figure, ranks, groups_within(list(ranks.values()), distance), distance, ours)

    return Experiment(plan, [cell for folds in cells.values() for cell in folds], measure, draw, size=(7.4, 4.2))


def settings_on(dataset: str, settings: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The settings of each learner on a data set; limits of this data set replace the usual settings."""
    learners = dict(settings["learners"])
    for limit in settings["limits"]:
        if dataset in limit["datasets"]:
            learners |= limit["learners"]
    return learners


def mean_ranks(scores: Array) -> list[float]:
    """The mean rank of each column over the rows: rank 1 is the highest score, equal scores share their mean rank."""
    return rankdata(-scores, axis=1).mean(axis=0).tolist()


def critical_difference(n_methods: int, n_sets: int, alpha: float = 0.05) -> float:
    r"""The critical difference of two mean ranks (Demšar 2006): :math:`q_\alpha \sqrt{k (k + 1) / (6 N)}`.

    >>> round(critical_difference(5, 30), 3)
    1.114
    """
    q = studentized_range.ppf(1 - alpha, n_methods, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6 * n_sets)))


def groups_within(ranks: Sequence[float], distance: float) -> list[tuple[float, float]]:
    """The first and last rank of each largest group of ranks that lie within the distance.

    >>> groups_within([1.0, 2.0, 2.5, 4.0], 1.5)
    [(1.0, 2.5), (2.5, 4.0)]
    """
    ordered = sorted(ranks)
    groups: list[tuple[float, float]] = []
    for first in ordered:
        last = max(rank for rank in ordered if rank - first <= distance)
        if last > first and (not groups or last > groups[-1][1]):
            groups.append((first, last))
    return groups


def _friedman_test(scores: Array) -> dict[tuple[str, str], Measured]:
    statistic, p = friedmanchisquare(*scores.T)
    n_sets, n_methods = scores.shape
    values = {
        "Friedman's statistic": float(statistic),
        "its p-value": float(p),
        "critical difference of mean ranks": critical_difference(n_methods, n_sets),
    }
    return {(name, ALL_LEARNERS): Measured(value) for name, value in values.items()}


def comparison() -> Experiment:
    """Scores of every method on every kind of data, and its agreement on halves of the rows."""
    plan = load_plan("beyond-relevance")
    kinds, methods = plan.settings["kinds"], plan.settings["methods"]
    cells = {
        (kind, method): _cells({"method": method, "kind": kind, "settings": settings}, plan.settings)
        for kind in kinds
        for method, settings in methods.items()
    }

    def by_score(result_of: ResultOf) -> dict[tuple[str, str, str], list[float]]:
        """The values on all data sets by kind, score and method, in the order of the page."""
        return {
            (kind, score, method): values
            for kind in kinds
            for score in SCORES
            for method in methods
            if (values := [result[score] for cell in cells[kind, method] if score in (result := result_of(cell))])
        }

    def measure(result_of: ResultOf) -> Values:
        return {
            (f"{kind}: {score}", method): mean_of(values)
            for (kind, score, method), values in by_score(result_of).items()
        }

    def draw(figure: Figure, result_of: ResultOf) -> None:
        marks = {
            key: Measured(float(np.mean(values)), _two_standard_errors(values))
            for key, values in by_score(result_of).items()
        }
        draw_scores(figure, list(kinds), plan.settings["panels"], list(methods), marks, OURS)

    return Experiment(
        plan, [cell for of_method in cells.values() for cell in of_method], measure, draw, size=(7.4, 9.2)
    )


def _cells(arguments: dict[str, Any], settings: Mapping[str, Any]) -> list[Cell]:
    """One cell for each data set, and one for the halves of each of the first few data sets."""
    seconds, n_halves = SECONDS.get(arguments["method"], 0.3), settings["halves"]["number"]
    whole = [Cell(scores, {**arguments, "seed": seed}, seconds) for seed in range(settings["seeds"])]
    halves = [
        Cell(agreement, {**arguments, "seed": seed, "n_halves": n_halves}, n_halves * seconds)
        for seed in range(settings["halves"]["seeds"])
    ]
    return whole + halves


def _two_standard_errors(values: Sequence[float]) -> float:
    """Two standard errors of the mean."""
    return float(2 * np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0


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
            color = OUR_COLOR if name in ours else OTHER_COLOR
            _draw_name(ax, name, ranks[name], top - NAME_STEP * (place + 0.3), edge, side, color)
    ax.set(xlim=(low - 0.4 * width, high + 0.4 * width), ylim=(top - NAME_STEP * half, 1.6))
    ax.axis("off")
    _add_legend(figure, ax)
    return ax


def _add_legend(figure: Figure, ax: Axes) -> None:
    """Add what the colours mean."""
    marks = [
        ax.plot([], [], color=OUR_COLOR, marker="o", markersize=3.5, linewidth=0.9, label="this library")[0],
        ax.plot([], [], color=OTHER_COLOR, marker="o", markersize=3.5, linewidth=0.9, label="scikit-learn")[0],
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
                color = OUR_COLOR if method in ours else OTHER_COLOR
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
        for label, color in (("this library", OUR_COLOR), ("other methods", OTHER_COLOR))
    ]
    figure.legend(handles=marks, loc="outside lower center", ncols=2, frameon=False)
