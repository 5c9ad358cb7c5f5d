"""The relevance of the features under the learned metric: intervals and their tolerance."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from whynear.data.problem import kind_of_target
from whynear.data.rows import Separation, groups_by_class
from whynear.explain import class_profiles
from whynear.interpret import (
    EffectiveDimension,
    Relevance,
    RelevanceTolerance,
    relevance_intervals,
    relevance_tolerance,
)
from whynear.interpret.intervals import by_column
from whynear.interpret.null_space import rank_of
from whynear.interpret.tolerance import LEAST
from whynear.metric import DiagonalMetric, LocalMetric, Metric
from whynear.model.as_metric import as_metric
from whynear.model.pipeline import FittedPipeline
from whynear.study.methods import Methods
from whynear.utils.progress import Report
from whynear.verdict.rules import AGREED

SLACK = 0.03  # features that differ by a few per cent count as copies of each other
MOST_ANCHORS = 100  # of a local metric whose maps are bounded one by one
ROWS_PER_ANCHOR = 4  # at least, on average, for the same
FEWEST_ROWS = 20  # to choose the tolerance
MOST_COLUMNS = 500  # with which several tolerances are tried
TOLERANCES = (0.05, 0.1, 0.2, 0.3)


@dataclass(frozen=True)
class Interpretation:
    """Bounds of the relevance of each feature, and the choices they depend on.

    Attributes
    ----------
    relevance : Relevance
        The intervals, of the model that predicts.
    effective_dim : int
        Number of directions of the data that the model uses, or on which maps must agree.
    tolerance : RelevanceTolerance or None
        The curve from which the tolerance was chosen; None where directions were given instead, where the metric has
        one map per training case, or where the table is too large to try several.
    averaged : bool
        Whether the intervals are those of the mean of many local metrics.
    """

    relevance: Relevance
    effective_dim: int
    tolerance: RelevanceTolerance | None
    averaged: bool

    @property
    def choice(self) -> str:
        """How sure the choice of the tolerance is, in a sentence; empty where none was chosen."""
        if self.tolerance is None:
            return ""
        chosen = self.tolerance.resampled
        often = f"{chosen.count(self.tolerance.best)} of {len(chosen)} resamples of the held-out cases choose the same"
        if self.tolerance.stability >= AGREED:
            return f"{often}."
        return f"{often}, so it is undecided: they choose {min(chosen):.0%} to {max(chosen):.0%}."

    def frame(self) -> pd.DataFrame:
        """Return the bounds of each feature, largest first."""
        frame = self.relevance.frame()[["feature", "lower", "upper"]]
        return frame.sort_values("upper", ascending=False, kind="stable", ignore_index=True)


def interpret(
    model: FittedPipeline,
    X: pd.DataFrame,
    y: NDArray[Any],
    *,
    sources: Sequence[str] | None,
    effective_dim: int | None,
    methods: Methods,
    report: Report,
    groups: Separation | None = None,
    weights: pd.Series | None = None,
) -> Interpretation:
    """Choose the tolerance on held-out rows, and bound the relevance of every feature.

    With ``effective_dim`` maps agree on that number of directions instead. Where an encoder made the columns of X,
    ``sources`` names the column of the table that each was made from; their relevance is summed.
    """
    metric, averaged = _bounded(as_metric(model), len(X))
    curve, tolerance = None, 0.0 if effective_dim is not None else LEAST
    if effective_dim is None and not averaged and X.shape[1] <= MOST_COLUMNS and _can_be_held_out(X, y, groups):
        report("choose the tolerance of the intervals", 0.0)
        curve = _tolerance(model, X, y, groups, weights)
        tolerance = LEAST if curve is None else curve.best
    report("bound the relevance of every feature", 0.5)
    many = X.shape[1] > MOST_COLUMNS
    relevance = relevance_intervals(
        metric, X, effective_dim, slack=SLACK, tolerance=tolerance, screen=many, n_jobs=methods.n_jobs
    )
    if sources is not None:
        relevance = by_column(relevance, sources)
    kept = getattr(model.learner, "effective_dim", None)
    return Interpretation(relevance, kept or relevance.effective_dim, curve, averaged)


def fewest_directions(dimension: EffectiveDimension, n_rows: int) -> int:
    """Return the fewest directions whose held-out error exceeds the least by at most the standard error of the excess.

    >>> curve = pd.DataFrame({"effective_dim": [1, 2, 3], "validation_error": [0.5, 0.11, 0.1]})
    >>> fewest_directions(EffectiveDimension(3, curve, "projection", "validation_error"), 100)
    2
    """
    errors = dimension.curve[dimension.criterion].to_numpy()
    # The first for shares of rows predicted wrong, the second for squares of normally distributed errors.
    variances = errors * (1 - errors) if dimension.criterion == "validation_error" else 2 * np.square(errors)
    least = int(errors.argmin())
    standard_error = np.sqrt((variances + variances[least]) / n_rows)
    fewest = np.flatnonzero(errors <= errors[least] + standard_error + 1e-12)[0]
    return int(dimension.curve["effective_dim"].iloc[int(fewest)])


def _tolerance(
    model: FittedPipeline, X: pd.DataFrame, y: NDArray[Any], groups: Separation | None, weights: pd.Series | None
) -> RelevanceTolerance | None:
    """Choose the tolerance; None where the rows of a fold vary in fewer directions than the model keeps."""
    kept = getattr(model.learner, "effective_dim", None) or 1
    if rank_of(model, X.iloc[: max(2, len(X) // 2)]) < kept:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return relevance_tolerance(
            model.model, X.to_numpy(), y, candidates=TOLERANCES, groups=groups, sample_weight=weights
        )


def _can_be_held_out(X: pd.DataFrame, y: NDArray[Any], groups: Separation | None = None) -> bool:
    """Return whether a part of the rows is likely to contain every class and a column that varies."""
    rare = np.array([column.value_counts().iloc[1:].sum() for _, column in X.items()])
    counts = groups_by_class(y, groups) if isinstance(groups, pd.Series) else np.unique(y, return_counts=True)[1]
    in_twos = kind_of_target(y) == "numbers" or counts.min() >= 2
    return len(X) >= FEWEST_ROWS and bool(in_twos) and bool((rare >= 5).any())


def _bounded(metric: Metric, n_rows: int) -> tuple[Metric, bool]:
    """Return the metric, or the mean of its maps if there are many of them or few rows for each; and which it is."""
    if not isinstance(metric, LocalMetric) or len(metric) <= min(MOST_ANCHORS, n_rows / ROWS_PER_ANCHOR):
        return metric, False
    mean, scale = metric.as_learned().mean_shares(), metric.scale
    weights = mean if scale is None else mean / np.square(scale)
    return DiagonalMetric(weights, metric.feature_names, scale, metric.units), True


def profiles_of(fitted: FittedPipeline, target: str) -> pd.DataFrame:
    """Return the mean relevance of each column in each class; of a numeric target, the share of each in the map."""
    if hasattr(fitted.learner, "classes_"):
        return class_profiles(fitted)
    shares = fitted.sums(as_metric(fitted).as_learned().mean_shares())
    return pd.DataFrame({target: shares}, pd.Index(fitted.columns, name="feature")).rename_axis("class", axis=1)
