"""All learners and those of scikit-learn, ranked over many data sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.stats import friedmanchisquare, rankdata, studentized_range

from whynear.engine.cells import ResultOf
from whynear.learn.registry import LEARNERS
from whynear.reproduce.accuracy import accuracy_cells, mean_accuracy
from whynear.reproduce.beyond.drawing import draw_ranks
from whynear.reproduce.experiment import Experiment
from whynear.reproduce.outcome import Measured, Values
from whynear.reproduce.plans import load_plan
from whynear.utils.arrays import Array

ALL_LEARNERS = "all"


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
