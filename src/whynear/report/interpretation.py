"""What the learned metric says about the features, as far as the data can support it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline

from whynear.interpret import Relevance, effective_dimension, relevance_floor, relevance_intervals
from whynear.interpret.dimension import EffectiveDimension
from whynear.metric import DiagonalMetric, LocalMetric, Metric, as_metric

SLACK = 0.03  # copies of a feature that differ by a few per cent count as copies
LEAST_FLOOR = 0.1
MOST_ANCHORS = 100  # beyond, the maps of a local metric are not bounded one by one
FEWEST_ROWS = 20  # to choose or to probe anything by
PROBED = ("grlvq", "gmlvq", "lmnn")  # quick enough to be learned again with permuted copies
MOST_PROBED = 200_000  # entries of the table

Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class Interpretation:
    """Bounds of the features' relevance, and how they were come by.

    Attributes
    ----------
    relevance : Relevance
        The intervals.
    effective_dim : int
        Number of directions of the data on which maps were held equal.
    dimension : EffectiveDimension or None
        The curve it was chosen by; None where it was given or the metric has one map per training case.
    averaged : bool
        Whether the intervals are those of the mean of the cases' own metrics.
    """

    relevance: Relevance
    effective_dim: int
    dimension: EffectiveDimension | None
    averaged: bool


def interpret(
    name: str,
    model: Pipeline,
    X: pd.DataFrame,
    y: NDArray[Any],
    *,
    effective_dim: int | None,
    seed: int,
    report: Progress,
) -> Interpretation:
    """Choose the effective dimension on held-out rows, find what noise reaches, and bound every feature."""
    metric, averaged = _bounded(as_metric(model))
    dimension = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        if effective_dim is None and not averaged and _can_be_held_out(X, y):
            report("choose the effective dimension", 0.0)
            dimension = effective_dimension(model, X, y)
            effective_dim = within_one_error(dimension.curve, len(X))
        report("find what noise reaches", 0.4)
        floor = LEAST_FLOOR
        if name in PROBED and X.size <= MOST_PROBED and len(X) >= FEWEST_ROWS:
            probes = relevance_floor(model, X, y, random_state=seed, effective_dim=effective_dim, slack=SLACK)
            floor = max(floor, min(float(probes), 0.9))
    report("bound the relevance of every feature", 0.8)
    relevance = relevance_intervals(metric, X, effective_dim, slack=SLACK, floor=floor)
    return Interpretation(relevance, relevance.effective_dim, dimension, averaged)


def within_one_error(curve: pd.DataFrame, n_rows: int) -> int:
    """The fewest directions whose error on held-out rows exceeds the least by no more than the standard error of that.

    >>> within_one_error(pd.DataFrame({"effective_dim": [1, 2, 3], "validation_error": [0.5, 0.11, 0.1]}), 100)
    2
    """
    errors = curve["validation_error"].to_numpy()
    least = errors.min()
    doubt = np.sqrt((errors * (1 - errors) + least * (1 - least)) / n_rows)
    return int(curve["effective_dim"].iloc[int(np.flatnonzero(errors <= least + doubt + 1e-12)[0])])


def _can_be_held_out(X: pd.DataFrame, y: NDArray[Any]) -> bool:
    """Whether every class and every column that varies is likely to be met in each part of the rows."""
    rare = np.array([column.value_counts().iloc[1:].sum() for _, column in X.items()])
    return len(X) >= FEWEST_ROWS and np.unique(y, return_counts=True)[1].min() >= 2 and bool((rare >= 5).any())


def _bounded(metric: Metric) -> tuple[Metric, bool]:
    """The metric itself, or of very many maps the mean, each weighing the same."""
    if not isinstance(metric, LocalMetric) or len(metric) <= MOST_ANCHORS:
        return metric, False
    relevances = metric.as_learned().relevances()
    totals = relevances.sum(axis=1, keepdims=True)
    mean = np.divide(relevances, totals, out=np.zeros_like(relevances), where=totals > 0).mean(axis=0)
    scale = metric.scale
    weights = mean if scale is None else mean / np.square(scale)
    return DiagonalMetric(weights, metric.feature_names, scale), True
