"""The table and figures of Göpfert, Wersing and Hammer: locally adaptive nearest neighbours."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from papers.accuracy import accuracy_cells, mean_accuracy
from papers.computations import Cell, ResultOf
from papers.outcome import Experiment, Measured, Values, outcome
from papers.plans import Plan, load_plan
from papers.profiles_and_embeddings import embedding, profiles, scaled_rows
from papers.splits import Protocol
from whynear.embed import plot_embedding
from whynear.explain import plot_class_profiles


def table1(protocol: Protocol) -> Experiment:
    """Accuracies of four learners, fitted to a fifth of the rows or to nine tenths."""
    plan = load_plan(f"lann-table1-{protocol}")
    cells = {
        (dataset, learner): accuracy_cells(dataset, learner, protocol, plan.settings["learners"])
        for dataset in plan.settings["datasets"]
        for learner in plan.settings["learners"]
    }

    def measure(result_of: ResultOf) -> Values:
        values = {pair: mean_accuracy(folds, result_of) for pair, folds in cells.items()}
        return values | _gains(plan, values)

    return Experiment(plan, [cell for folds in cells.values() for cell in folds], measure)


def _gains(plan: Plan, values: dict[tuple[str, str], Measured]) -> dict[tuple[str, str], Measured]:
    """The gains of LANN over kNN, the data sets where LANN meets its criterion, and how far kNN is from the paper."""
    names = plan.settings["datasets"]
    gains = [values[name, "LANN"].value - values[name, "kNN"].value for name in names]
    criteria = [line for line in outcome(plan, values, 0.0).lines if line.met is not None]
    of_knn = {
        p.row: p.value for p in load_plan("lann-table1-fifth").published if p.column == "kNN" and p.value is not None
    }
    gained = {
        ("mean gain over kNN", "LANN"): Measured(float(np.mean(gains))),
        ("smallest gain over kNN", "LANN"): Measured(min(gains)),
        ("mean distance from the published", "kNN"): Measured(
            float(np.mean([abs(values[name, "kNN"].value - of_knn[name]) for name in names]))
        ),
    }
    near = {
        ("data sets at most 0.01 below the published", "LANN"): Measured(sum(line.met is True for line in criteria))
    }
    return gained | (near if criteria else {})


def figure1() -> Experiment:
    """Relevances of the features of breast cancer, averaged over the rows of each class."""
    plan = load_plan("lann-fig1")
    cell = Cell(profiles, dict(plan.settings), 3)

    def measure(result_of: ResultOf) -> Values:
        names = "share of the relevance that differs", "p-value with permuted classes"
        values = result_of(cell)["difference"], result_of(cell)["p_value"]
        return {(name, "between the classes"): Measured(value) for name, value in zip(names, values, strict=True)}

    def draw(figure: Figure, result_of: ResultOf) -> None:
        table = pd.DataFrame(result_of(cell)["profiles"], index=result_of(cell)["features"])
        plot_class_profiles(table, figure.add_subplot())

    return Experiment(plan, [cell], measure, draw, size=(7.4, 9))


def embeddings(name: str) -> Experiment:
    """Embeddings of a data set under five metrics, and the accuracy of nearest neighbours on them."""
    plan = load_plan(name)
    dataset, methods = plan.settings["dataset"], plan.settings["methods"]
    cells = {
        method: Cell(embedding, {"dataset": dataset, "method": method, "settings": settings}, 10)
        for method, settings in methods.items()
    }

    def measure(result_of: ResultOf) -> Values:
        scores = {method: result_of(cell)["score"] for method, cell in cells.items()}
        lead = scores["LANN"] - max(scores["GMLVQ"], scores["LMNN"])
        values = {(method, "accuracy on the map"): Measured(score) for method, score in scores.items()}
        return values | {("LANN minus the better of GMLVQ and LMNN", "accuracy on the map"): Measured(lead)}

    def draw(figure: Figure, result_of: ResultOf) -> None:
        _, labels = scaled_rows(dataset)
        panels = figure.subplots(2, 3).ravel()
        for ax, (method, cell) in zip(panels, cells.items(), strict=False):
            for points in plot_embedding(result_of(cell)["points"], labels, ax).collections:
                points.set_rasterized(True)
            ax.set_title(f"{method}  {result_of(cell)['score']:.3f}", fontsize="medium")
            legend = ax.get_legend()
            handles = legend.legend_handles
            legend.remove()
        panels[-1].axis("off")
        panels[-1].legend(handles=handles, loc="center", frameon=False)

    return Experiment(plan, list(cells.values()), measure, draw, size=(9, 6))
