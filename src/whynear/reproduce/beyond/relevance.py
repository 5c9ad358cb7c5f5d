"""Which methods find the strong, weak and irrelevant features of generated data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from whynear.engine.cells import Cell, ResultOf
from whynear.reproduce.beyond.drawing import draw_scores
from whynear.reproduce.beyond.relevance_cells import agreement, scores
from whynear.reproduce.experiment import Experiment
from whynear.reproduce.outcome import Measured, Values, mean_of
from whynear.reproduce.plans import load_plan

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
