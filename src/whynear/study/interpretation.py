"""What the learned metric says about the features, as far as the data can support it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline

from whynear.interpret import Relevance, effective_dimension, relevance_floor, relevance_intervals
from whynear.interpret.dimension import EffectiveDimension
from whynear.interpret.encoded import by_column
from whynear.metric import DiagonalMetric, LocalMetric, Metric, as_metric
from whynear.study.methods import MINIMUM_NORM, Methods
from whynear.study.progress import Progress
from whynear.tables.problem import kind_of_target

SLACK = 0.03  # copies of a feature that differ by a few per cent count as copies
LEAST_FLOOR = 0.1
MOST_ANCHORS = 100  # beyond, the maps of a local metric are not bounded one by one
ROWS_AN_ANCHOR = 4  # at least, on average, for the same
FEWEST_ROWS = 20  # to choose or to probe anything by
# Learners quick enough to be learned again with permuted copies, and the most entries of a table for that.
PROBED = dict.fromkeys(("grlvq", "gmlvq", "lmnn", MINIMUM_NORM), 200_000) | dict.fromkeys(("lgrlvq", "lgmlvq"), 20_000)


@dataclass(frozen=True)
class Interpretation:
    """Bounds of the features' relevance, and how they were found.

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

    def frame(self) -> pd.DataFrame:
        """Bounds, strength and substitutes of each feature, most relevant first."""
        others = self.relevance.substitutes.of
        frame = self.relevance.frame()
        frame = frame.assign(substitutes=[", ".join(others.get(name, ())) for name in frame["feature"]])
        return frame.sort_values("upper", ascending=False, kind="stable", ignore_index=True)


def interpret(
    name: str,
    model: Pipeline,
    X: pd.DataFrame,
    y: NDArray[Any],
    *,
    sources: Sequence[str] | None,
    effective_dim: int | None,
    methods: Methods,
    report: Progress,
) -> Interpretation:
    """Choose the effective dimension on held-out rows, find what noise reaches, and bound every feature.

    ``sources`` names the column of the table that each column of X was made of, where an encoder made them: these are
    summed.
    """
    metric, averaged = _bounded(as_metric(model), len(X))
    dimension = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        if effective_dim is None and not averaged and _can_be_held_out(X, y):
            report("choose the effective dimension", 0.0)
            dimension = effective_dimension(model, X.to_numpy(), y)  # names of thousands of columns are checked slowly
            effective_dim = fewest_directions(dimension, len(X))
        report("find what noise reaches", 0.4)
        floor = LEAST_FLOOR
        if X.size <= PROBED.get(name, 0) and len(X) >= FEWEST_ROWS:
            probes = relevance_floor(model, X, y, random_state=methods.seed, effective_dim=effective_dim, slack=SLACK)
            floor = max(floor, min(float(probes), 0.9))
    report("bound the relevance of every feature", 0.8)
    relevance = relevance_intervals(metric, X, effective_dim, slack=SLACK, floor=floor, n_jobs=methods.n_jobs)
    if sources is not None:
        relevance = by_column(relevance, sources)
    return Interpretation(relevance, relevance.effective_dim, dimension, averaged)


def fewest_directions(dimension: EffectiveDimension, n_rows: int) -> int:
    """The fewest directions whose error on held-out rows exceeds the least by no more than the standard error of that.

    >>> curve = pd.DataFrame({"effective_dim": [1, 2, 3], "validation_error": [0.5, 0.11, 0.1]})
    >>> fewest_directions(EffectiveDimension(3, curve, "projection", "validation_error"), 100)
    2
    """
    errors = dimension.curve[dimension.criterion].to_numpy()
    # Of shares of rows predicted wrong; of squared errors that are normally distributed.
    variances = errors * (1 - errors) if dimension.criterion == "validation_error" else 2 * np.square(errors)
    least = int(errors.argmin())
    doubt = np.sqrt((variances + variances[least]) / n_rows)
    return int(dimension.curve["effective_dim"].iloc[int(np.flatnonzero(errors <= errors[least] + doubt + 1e-12)[0])])


def _can_be_held_out(X: pd.DataFrame, y: NDArray[Any]) -> bool:
    """Whether every class and every column that varies is likely to be met in each part of the rows."""
    rare = np.array([column.value_counts().iloc[1:].sum() for _, column in X.items()])
    in_twos = kind_of_target(y) == "numbers" or np.unique(y, return_counts=True)[1].min() >= 2
    return len(X) >= FEWEST_ROWS and bool(in_twos) and bool((rare >= 5).any())


def _bounded(metric: Metric, n_rows: int) -> tuple[Metric, bool]:
    """The metric itself; or of very many maps, or of maps with hardly a row each, the mean, each weighing the same."""
    if not isinstance(metric, LocalMetric) or len(metric) <= min(MOST_ANCHORS, n_rows / ROWS_AN_ANCHOR):
        return metric, False
    relevances = metric.as_learned().relevances()
    totals = relevances.sum(axis=1, keepdims=True)
    mean = np.divide(relevances, totals, out=np.zeros_like(relevances), where=totals > 0).mean(axis=0)
    scale = metric.scale
    weights = mean if scale is None else mean / np.square(scale)
    return DiagonalMetric(weights, metric.feature_names, scale), True
