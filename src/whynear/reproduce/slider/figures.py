"""The table and figures of Gopal and Ioerger: weights that rank matches before mismatches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from whynear.engine.cells import Cell, Result, ResultOf
from whynear.reproduce.experiment import Experiment
from whynear.reproduce.outcome import Measured, Values, mean_of, outcome
from whynear.reproduce.plans import load_plan
from whynear.reproduce.slider.cells import matches_found, measures, rank_and_matches
from whynear.reproduce.slider.drawing import COLORS, MEASURES, draw_matches, draw_measures, draw_methods
from whynear.utils.arrays import Array

CASEBASE_SECONDS = 10  # expected time of a cell with a case base
ORDERS = {1: "Manhattan", 2: "Euclidean", 3: "Minkowski of order 3"}


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
