"""Göpfert, Wersing and Hammer: locally adaptive nearest neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from whynear.apply import embed, embedding_score, plot_embedding
from whynear.datasets import load, make_licorice
from whynear.explain import class_profiles, plot_class_profiles
from whynear.learn import LANN
from whynear.metric import DiagonalMetric
from whynear.metric.inputs import Array
from whynear.reproduce.accuracy import accuracy_cells, classifier, mean_accuracy
from whynear.reproduce.cells import Cell, Found, Result
from whynear.reproduce.data import Protocol
from whynear.reproduce.experiment import Experiment
from whynear.reproduce.outcome import Measured, Values
from whynear.reproduce.plans import Plan, plan

NEAR = 0.01  # below the published value
SHUFFLES = 999


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
    """What LANN gains over kNN, and on how many sets it reaches what is published."""
    names = told.settings["datasets"]
    gains = [values[name, "LANN"].value - values[name, "kNN"].value for name in names]
    published = {p.row: p.value for p in told.published if p.column == "LANN" and p.value is not None}
    near = sum(values[name, "LANN"].value >= published.get(name, np.inf) - NEAR for name in names)
    gained = {
        ("mean gain over kNN", "LANN"): Measured(float(np.mean(gains))),
        ("least gain over kNN", "LANN"): Measured(min(gains)),
    }
    return gained | ({("sets at the published value", "LANN"): Measured(near)} if published else {})


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


def profiles(dataset: str, learning: dict[str, Any]) -> Result:
    """Class-wise relevances of LANN, learned from all cases, and whether the classes differ by chance."""
    data = load(dataset)
    X = StandardScaler().fit_transform(data.X)
    model = LANN(random_state=0, **learning).fit(X, data.y)
    shares = model.metric_.relevances()
    shares = shares / shares.sum(axis=1, keepdims=True)
    rng = np.random.default_rng(0)
    apart = _apart(shares, data.y)
    shuffled = [_apart(shares, rng.permutation(data.y)) for _ in range(SHUFFLES)]
    table = class_profiles(model)
    return {
        "features": data.feature_names,
        "profiles": {data.target_names[code]: table[code].tolist() for code in table},
        "apart": apart,
        "chance": (1 + sum(other >= apart for other in shuffled)) / (1 + SHUFFLES),
    }


def _apart(shares: Array, y: NDArray[np.int64]) -> float:
    """What would have to move from feature to feature to make the mean shares of two classes equal."""
    return float(np.abs(shares[y == 0].mean(axis=0) - shares[y == 1].mean(axis=0)).sum() / 2)


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


def embedding(dataset: str, method: str, settings: dict[str, Any]) -> Result:
    """Positions on a plane, and how many of the cases their five nearest others there predict right."""
    X, labels = embedded_cases(dataset)
    if method == "Euclidean":
        points = embed(DiagonalMetric(np.ones(X.shape[1])), X, method="euclidean", random_state=0)
    else:
        points = embed(classifier(method, settings).fit(X, labels), X, random_state=0)
    return {"points": np.round(points, 4), "score": embedding_score(points, labels)}


def embedded_cases(dataset: str) -> tuple[Array, NDArray[np.str_]]:
    """Z-scored columns, and the names of the classes."""
    data = make_licorice(random_state=0) if dataset == "licorice" else load(dataset)
    columns = data.get("columns", data.feature_names)
    return StandardScaler().fit_transform(data.X[columns].to_numpy(dtype=float)), np.array(data.target_names)[data.y]
