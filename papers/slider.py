"""The table and figures of Gopal and Ioerger: weights that rank matches before mismatches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from papers.computations import Cell, Result, ResultOf
from papers.matches import matches_found, measures, rank_and_matches
from papers.outcome import Experiment, Measured, Outcome, Values, mean_of, outcome
from papers.plans import load_plan
from whynear.utils.arrays import Array
from whynear.utils.axes import CLASS_COLORS, tidy

CASEBASE_SECONDS = 10  # expected time of a cell with a case base
ORDERS = {1: "Manhattan", 2: "Euclidean", 3: "Minkowski of order 3"}
BLUE, ORANGE = CLASS_COLORS[:2]
COLORS = {"equal weights": "#9aa3ab", "equal weights, z-scores": ORANGE, "Slider": BLUE}
MARKERS = {"equal weights": "s", "equal weights, z-scores": "^", "Slider": "o"}
WEIGHTS = {"Euclidean": (ORANGE, "s"), "Slider": (BLUE, "o")}
MEASURES = {"1-NN accuracy, %": 1, "rank among 10": -1, "matches in the nearest tenth": 1}  # 1 if higher is better


def table2() -> Experiment:
    """Three measures on raw columns, with equal weights and with the weights of Slider."""
    plan = load_plan("slider-table2")
    shared = {name: plan.settings[name] for name in ("queries", "neighbors", "mismatches")}
    cells = {
        row: [
            Cell(measures, {**case, "number": number, **shared}, plan.settings["seconds"].get(row, 1))
            for number in range(plan.settings["test_sets"])
        ]
        for row, case in plan.settings["cases"].items()
    }

    def measure(result_of: ResultOf) -> Values:
        values = {}
        for row, sets in cells.items():
            for score in result_of(sets[0]):
                for weights in ("Euclidean", "Slider"):
                    scores = (result_of(cell)[score][weights] for cell in sets)
                    values[f"{row}: {score}", weights] = mean_of(scores)
        return values | _wins(values, [row for row in cells if row not in plan.settings["variants"]])

    def draw(figure: Figure, result_of: ResultOf) -> None:
        draw_measures(figure, outcome(plan, measure(result_of), 0.0), list(cells))

    return Experiment(plan, [cell for sets in cells.values() for cell in sets], measure, draw, size=(9, 4.2))


def _wins(values: Values, rows: Sequence[str]) -> dict[tuple[str, str], Measured]:
    """The number of data sets where the weights of Slider are better than equal weights."""

    def is_better(row: str, score: str) -> bool:
        gain = values[f"{row}: {score}", "Slider"].value - values[f"{row}: {score}", "Euclidean"].value
        return MEASURES[score] * gain > 0

    return {
        (f"data sets where Slider is better, of {len(rows)}: {score}", "Slider"): Measured(
            sum(is_better(row, score) for row in rows)
        )
        for score in MEASURES
    }


def figure2() -> Experiment:
    """Matches among the nearest 400 of 50,000 cases, at several tolerances."""
    plan = load_plan("slider-fig2")
    seeds, tolerances = plan.settings["seeds"], plan.settings["casebase"]["tolerances"]
    cells = {p: [_casebase_cell(matches_found, plan.settings, seed, {}, p=p) for seed in seeds] for p in ORDERS}

    def counts(result_of: ResultOf, p: int, name: str) -> Array:
        """The counts with a row for each seed and a column for each tolerance."""
        return np.array([result_of(cell)[name] for cell in cells[p]])

    def measure(result_of: ResultOf) -> Values:
        values = {}
        for p, order in ORDERS.items():
            for name in (*COLORS, "existing matches"):
                for place, tolerance in enumerate(tolerances):
                    values[f"{order}, tolerance {tolerance:g}", name] = mean_of(counts(result_of, p, name)[:, place])
            ours = counts(result_of, p, "Slider").mean(axis=0)
            for name in ("equal weights", "equal weights, z-scores"):
                least = float((ours / counts(result_of, p, name).mean(axis=0)).min())
                values[f"{order}: Slider divided by {name}", "smallest over all tolerances"] = Measured(least)
        return values

    def draw(figure: Figure, result_of: ResultOf) -> None:
        names = (*COLORS, "existing matches")
        draw_matches(figure, tolerances, {o: {n: counts(result_of, p, n) for n in names} for p, o in ORDERS.items()})

    return Experiment(plan, [cell for of_seeds in cells.values() for cell in of_seeds], measure, draw, size=(9, 3.6))


def figure3() -> Experiment:
    """Ranks and matches of each method to weight features, on the same case bases."""
    plan = load_plan("slider-fig3")
    methods = {"equal weights": {}, **plan.settings["methods"]}
    cells = {
        (method, columns): [
            _casebase_cell(rank_and_matches, plan.settings, seed, learning, method=method, columns=columns)
            for seed in plan.settings["seeds"]
        ]
        for columns in ("raw columns", "z-scores")
        for method, learning in methods.items()
    }

    def measure(result_of: ResultOf) -> Values:
        values = {}
        for (method, columns), of_seeds in cells.items():
            for score in ("rank among 100", "matches found"):
                values[method, f"{score}, {columns}"] = mean_of(result_of(cell)[score] for cell in of_seeds)
        for columns in ("raw columns", "z-scores"):
            for score, sign in (("rank among 100", -1), ("matches found", 1)):
                scores = {m: [sign * result_of(cell)[score] for cell in cells[m, columns]] for m in methods}
                ours, others = scores.pop("Slider"), np.max(list(scores.values()), axis=0)
                row = f"case bases where Slider is best, {columns}: {score}"
                values[row, f"of {len(ours)}"] = Measured(int(np.sum(ours > others)))
        return values

    def draw(figure: Figure, result_of: ResultOf) -> None:
        draw_methods(
            figure,
            list(methods),
            {pair: [result_of(cell)["matches found"] for cell in sets] for pair, sets in cells.items()},
        )

    return Experiment(plan, [cell for of_seeds in cells.values() for cell in of_seeds], measure, draw, size=(8, 3.4))


def _casebase_cell(
    work: Callable[..., Result], settings: Mapping[str, Any], seed: int, learning: Mapping[str, Any], **arguments: Any
) -> Cell:
    arguments |= {"casebase": settings["casebase"], "learning": settings["learning"] | learning}
    return Cell(work, {"seed": seed, **arguments}, CASEBASE_SECONDS)


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
