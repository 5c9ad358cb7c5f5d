"""Göpfert, Wersing and Hammer: locally adaptive nearest neighbours."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from whynear.embedding import plot_embedding
from whynear.explain import plot_class_profiles
from whynear.reproduce.accuracy import accuracy_cells, mean_accuracy
from whynear.reproduce.cells import Cell, Found
from whynear.reproduce.data import Protocol
from whynear.reproduce.experiment import Experiment
from whynear.reproduce.lann.cells import embedded_cases, embedding, profiles
from whynear.reproduce.outcome import Measured, Values, outcome
from whynear.reproduce.plans import Plan, plan


def table1(protocol: Protocol) -> Experiment:
    """Accuracies of four learners, on a fifth of the cases or on nine tenths."""
    told = plan(f"lann-table1-{protocol}")
    cells = {
        (dataset, learner): accuracy_cells(dataset, learner, protocol, told.settings["learners"])
        for dataset in told.settings["datasets"]
        for learner in told.settings["learners"]
    }

    def measure(found: Found) -> Values:
        values = {pair: mean_accuracy(folds, found) for pair, folds in cells.items()}
        return values | _gains(told, values)

    return Experiment(told, [cell for folds in cells.values() for cell in folds], measure)


def _gains(told: Plan, values: dict[tuple[str, str], Measured]) -> dict[tuple[str, str], Measured]:
    """What LANN gains over kNN, on how many sets it reaches what is published, and how far kNN is from that."""
    names = told.settings["datasets"]
    gains = [values[name, "LANN"].value - values[name, "kNN"].value for name in names]
    judged = [line for line in outcome(told, values, 0.0).lines if line.holds is not None]
    of_knn = {p.row: p.value for p in plan("lann-table1-fifth").published if p.column == "kNN" and p.value is not None}
    gained = {
        ("mean gain over kNN", "LANN"): Measured(float(np.mean(gains))),
        ("least gain over kNN", "LANN"): Measured(min(gains)),
        ("mean distance from the published", "kNN"): Measured(
            float(np.mean([abs(values[name, "kNN"].value - of_knn[name]) for name in names]))
        ),
    }
    near = {("sets at most 0.01 below the published", "LANN"): Measured(sum(line.holds is True for line in judged))}
    return gained | (near if judged else {})


def figure1() -> Experiment:
    """Relevances of the features of breast cancer, averaged over the cases of each class."""
    told = plan("lann-fig1")
    cell = Cell(profiles, dict(told.settings), 3)

    def measure(found: Found) -> Values:
        names = "share of the relevance that differs", "chance of as much, were the classes shuffled"
        apart = found(cell)["apart"], found(cell)["chance"]
        return {(name, "between the classes"): Measured(value) for name, value in zip(names, apart, strict=True)}

    def draw(figure: Figure, found: Found) -> None:
        table = pd.DataFrame(found(cell)["profiles"], index=found(cell)["features"])
        plot_class_profiles(table, figure.add_subplot())

    return Experiment(told, [cell], measure, draw, size=(7.4, 9))


def embeddings(name: str) -> Experiment:
    """Maps of a data set under five metrics, scored by the classes of the nearest points."""
    told = plan(name)
    dataset, methods = told.settings["dataset"], told.settings["methods"]
    cells = {
        method: Cell(embedding, {"dataset": dataset, "method": method, "settings": settings}, 10)
        for method, settings in methods.items()
    }

    def measure(found: Found) -> Values:
        scores = {method: found(cell)["score"] for method, cell in cells.items()}
        lead = scores["LANN"] - max(scores["GMLVQ"], scores["LMNN"])
        values = {(method, "accuracy on the map"): Measured(score) for method, score in scores.items()}
        return values | {("LANN less the better of GMLVQ and LMNN", "accuracy on the map"): Measured(lead)}

    def draw(figure: Figure, found: Found) -> None:
        _, labels = embedded_cases(dataset)
        panels = figure.subplots(2, 3).ravel()
        for ax, (method, cell) in zip(panels, cells.items(), strict=False):
            for points in plot_embedding(found(cell)["points"], labels, ax).collections:
                points.set_rasterized(True)
            ax.set_title(f"{method}  {found(cell)['score']:.3f}", fontsize="medium")
            legend = ax.get_legend()
            handles = legend.legend_handles
            legend.remove()
        panels[-1].axis("off")
        panels[-1].legend(handles=handles, loc="center", frameon=False)

    return Experiment(told, list(cells.values()), measure, draw, size=(9, 6))
