"""Gopal and Ioerger: weights that rank matches before mismatches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from whynear.reproduce.cells import Cell, Found, Result
from whynear.reproduce.experiment import Experiment
from whynear.reproduce.outcome import Measured, Values, mean_of, outcome
from whynear.reproduce.plans import plan
from whynear.reproduce.slider.cells import criteria, matches_found, rank_and_matches
from whynear.reproduce.slider.drawing import COLORS, CRITERIA, draw_criteria, draw_matches, draw_methods
from whynear.utils.arrays import Array

SECONDS = 10  # of a cell with a case base
ORDERS = {1: "Manhattan", 2: "Euclidean", 3: "Minkowski of order 3"}


def table2() -> Experiment:
    """Three criteria on raw columns, with equal weights and with those of Slider."""
    told = plan("slider-table2")
    shared = {name: told.settings[name] for name in ("queries", "neighbors", "mismatches")}
    cells = {
        row: [
            Cell(criteria, {**case, "number": number, **shared}, told.settings["seconds"].get(row, 1))
            for number in range(told.settings["test_sets"])
        ]
        for row, case in told.settings["cases"].items()
    }

    def measure(found: Found) -> Values:
        values = {}
        for row, sets in cells.items():
            for criterion in found(sets[0]):
                for weights in ("Euclidean", "Slider"):
                    scores = (found(cell)[criterion][weights] for cell in sets)
                    values[f"{row}: {criterion}", weights] = mean_of(scores)
        return values | _wins(values, [row for row in cells if row not in told.settings["variants"]])

    def draw(figure: Figure, found: Found) -> None:
        draw_criteria(figure, outcome(told, measure(found), 0.0), list(cells))

    return Experiment(told, [cell for sets in cells.values() for cell in sets], measure, draw, size=(9, 4.2))


def _wins(values: Values, rows: Sequence[str]) -> dict[tuple[str, str], Measured]:
    """On how many data sets the weights of Slider are better than equal ones."""

    def is_better(row: str, criterion: str) -> bool:
        gain = values[f"{row}: {criterion}", "Slider"].value - values[f"{row}: {criterion}", "Euclidean"].value
        return CRITERIA[criterion] * gain > 0

    return {
        (f"sets on which Slider is better, of {len(rows)}: {criterion}", "Slider"): Measured(
            sum(is_better(row, criterion) for row in rows)
        )
        for criterion in CRITERIA
    }


def figure2() -> Experiment:
    """Matches among the nearest 400 of 50,000 cases, by how similar a match must be."""
    told = plan("slider-fig2")
    seeds, tolerances = told.settings["seeds"], told.settings["casebase"]["tolerances"]
    cells = {p: [_casebase_cell(matches_found, told.settings, seed, {}, p=p) for seed in seeds] for p in ORDERS}

    def counts(found: Found, p: int, name: str) -> Array:
        """Seeds down, tolerances across."""
        return np.array([found(cell)[name] for cell in cells[p]])

    def measure(found: Found) -> Values:
        values = {}
        for p, order in ORDERS.items():
            for name in (*COLORS, "all there are"):
                for place, tolerance in enumerate(tolerances):
                    values[f"{order}, tolerance {tolerance:g}", name] = mean_of(counts(found, p, name)[:, place])
            ours = counts(found, p, "Slider").mean(axis=0)
            for name in ("equal weights", "equal weights, z-scores"):
                least = float((ours / counts(found, p, name).mean(axis=0)).min())
                values[f"{order}: Slider, times {name}", "least of all tolerances"] = Measured(least)
        return values

    def draw(figure: Figure, found: Found) -> None:
        names = (*COLORS, "all there are")
        draw_matches(figure, tolerances, {o: {n: counts(found, p, n) for n in names} for p, o in ORDERS.items()})

    return Experiment(told, [cell for of_seeds in cells.values() for cell in of_seeds], measure, draw, size=(9, 3.6))


def figure3() -> Experiment:
    """How well each method of weighting ranks, on the same case bases."""
    told = plan("slider-fig3")
    methods = {"equal weights": {}, **told.settings["methods"]}
    cells = {
        (method, columns): [
            _casebase_cell(rank_and_matches, told.settings, seed, given, method=method, columns=columns)
            for seed in told.settings["seeds"]
        ]
        for columns in ("raw columns", "z-scores")
        for method, given in methods.items()
    }

    def measure(found: Found) -> Values:
        values = {}
        for (method, columns), of_seeds in cells.items():
            for criterion in ("rank among 100", "matches found"):
                values[method, f"{criterion}, {columns}"] = mean_of(found(cell)[criterion] for cell in of_seeds)
        for columns in ("raw columns", "z-scores"):
            for criterion, sign in (("rank among 100", -1), ("matches found", 1)):
                scores = {m: [sign * found(cell)[criterion] for cell in cells[m, columns]] for m in methods}
                ours, others = scores.pop("Slider"), np.max(list(scores.values()), axis=0)
                row = f"case bases on which Slider is best, {columns}: {criterion}"
                values[row, f"of {len(ours)}"] = Measured(int(np.sum(ours > others)))
        return values

    def draw(figure: Figure, found: Found) -> None:
        draw_methods(
            figure,
            list(methods),
            {pair: [found(cell)["matches found"] for cell in sets] for pair, sets in cells.items()},
        )

    return Experiment(told, [cell for of_seeds in cells.values() for cell in of_seeds], measure, draw, size=(8, 3.4))


def _casebase_cell(
    work: Callable[..., Result], settings: Mapping[str, Any], seed: int, learning: Mapping[str, Any], **given: Any
) -> Cell:
    given |= {"casebase": settings["casebase"], "learning": settings["learning"] | learning}
    return Cell(work, {"seed": seed, **given}, SECONDS)
