"""Who finds the strong, the weak and the irrelevant features of data whose truth is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from whynear.reproduce.beyond.drawing import draw_scores
from whynear.reproduce.beyond.relevance_cells import agreement, scores
from whynear.reproduce.cells import Cell, Found
from whynear.reproduce.experiment import Experiment
from whynear.reproduce.outcome import Measured, Values, mean_of
from whynear.reproduce.plans import plan

SCORES = (
    "told exactly",
    "strong or weak told exactly",
    "strong found",
    "weak found",
    "irrelevant left out",
    "relevant or not",
    "same features",
    "same order",
)
OURS = {"intervals", "intervals, floor 0.1"}
SECONDS = {"permutation": 0.7, "Boruta": 2.3}


def finding() -> Experiment:
    """Every method on every kind of data: what it finds, and whether it finds the same on other rows."""
    told = plan("beyond-relevance")
    kinds, methods = told.settings["kinds"], told.settings["methods"]
    cells = {
        (kind, method): _cells({"method": method, "made": made, "settings": settings}, told.settings)
        for kind, made in kinds.items()
        for method, settings in methods.items()
    }

    def by_score(found: Found) -> dict[tuple[str, str, str], list[float]]:
        """The values on all data sets, for each kind, score and method, in the order in which they are shown."""
        return {
            (kind, score, method): values
            for kind in kinds
            for score in SCORES
            for method in methods
            if (values := [result[score] for cell in cells[kind, method] if score in (result := found(cell))])
        }

    def measure(found: Found) -> Values:
        return {
            (f"{kind}: {score}", method): mean_of(values) for (kind, score, method), values in by_score(found).items()
        }

    def draw(figure: Figure, found: Found) -> None:
        marks = {key: Measured(float(np.mean(values)), _doubt(values)) for key, values in by_score(found).items()}
        draw_scores(figure, list(kinds), told.settings["panels"], list(methods), marks, OURS)

    return Experiment(
        told, [cell for of_method in cells.values() for cell in of_method], measure, draw, size=(7.4, 9.2)
    )


def _cells(given: dict[str, Any], settings: Mapping[str, Any]) -> list[Cell]:
    """One for each data set, and one for the halves of each of the first few."""
    seconds, n_halves = SECONDS.get(given["method"], 0.3), settings["halves"]["number"]
    once = [Cell(scores, {**given, "seed": seed}, seconds) for seed in range(settings["seeds"])]
    repeated = [
        Cell(agreement, {**given, "seed": seed, "n_halves": n_halves}, n_halves * seconds)
        for seed in range(settings["halves"]["seeds"])
    ]
    return once + repeated


def _doubt(values: Sequence[float]) -> float:
    """Two standard errors of the mean."""
    return float(2 * np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0
