"""What the learned metric shows: intervals of relevance and their tolerance, class profiles, and maps of the cases."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from whynear.data.encoder import holds_text
from whynear.data.problem import Problem, kind_of_target
from whynear.data.rows import Separation, groups_by_class
from whynear.embed import Plane, by_blocks, embed, place_after, place_before
from whynear.explain import class_profiles
from whynear.explain.value_explanation import LinearParts, is_linear_map
from whynear.interpret import Relevance, RelevanceTolerance, relevance_intervals, relevance_tolerance
from whynear.interpret.intervals import by_column
from whynear.interpret.null_space import rank_of
from whynear.interpret.relevance import weights_as_bounds
from whynear.interpret.validation import LEAST
from whynear.metric import DiagonalMetric, LocalMetric, Metric, MinkowskiMetric, MonotoneMetric
from whynear.model.as_metric import as_metric
from whynear.model.pipeline import FittedPipeline
from whynear.study.folds import sampled_rows
from whynear.study.methods import settled
from whynear.study.settings import COMPARED_ROWS
from whynear.utils.arrays import Array
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
    bounded : bool
        Whether the metric is one of which intervals are known, a quadratic form of the columns; else the bounds of a
        feature are both its weight.
    """

    relevance: Relevance
    effective_dim: int
    tolerance: RelevanceTolerance | None
    averaged: bool
    bounded: bool = True

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
    n_jobs: int | None,
    report: Report,
    groups: Separation | None = None,
    weights: pd.Series | None = None,
) -> Interpretation:
    """Choose the tolerance on held-out rows, and bound the relevance of every feature.

    With ``effective_dim`` maps agree on that number of directions instead. Where an encoder made the columns of X,
    ``sources`` names the column of the table that each was made from; their relevance is summed.
    """
    metric, averaged = _bounded(as_metric(model), len(X))
    if isinstance(metric, MinkowskiMetric | MonotoneMetric):
        weights_alone = weights_as_bounds(metric)
        found = weights_alone if sources is None else by_column(weights_alone, sources)
        return Interpretation(found, found.effective_dim, None, averaged, bounded=False)
    curve, tolerance = None, 0.0 if effective_dim is not None else LEAST
    if effective_dim is None and not averaged and X.shape[1] <= MOST_COLUMNS and _can_be_held_out(X, y, groups):
        report("choose the tolerance of the intervals", 0.0)
        curve = _tolerance(model, X, y, groups, weights)
        tolerance = LEAST if curve is None else curve.best
    report("bound the relevance of every feature", 0.5)
    many = X.shape[1] > MOST_COLUMNS
    relevance = relevance_intervals(
        metric, X, effective_dim, slack=SLACK, tolerance=tolerance, screen=many, n_jobs=n_jobs
    )
    if sources is not None:
        relevance = by_column(relevance, sources)
    kept = getattr(model.learner, "effective_dim", None)
    return Interpretation(relevance, kept or relevance.effective_dim, curve, averaged)


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
            settled(model.model), X.to_numpy(), y, candidates=TOLERANCES, groups=groups, sample_weight=weights
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


MOST_FEATURES = 60
N_LEVELS = 5


@dataclass(frozen=True, eq=False)
class FeatureLevels:
    """The level of every case in one feature."""

    feature: str
    place: int  # its position among the features, from 0
    of_cases: NDArray[np.int8]  # from 0, the lowest fifth of the cases, to 4, the highest; -1 where a value is missing


def levels_of(X: pd.DataFrame, relevance: Relevance) -> tuple[FeatureLevels, ...]:
    """Return the levels of the features with the largest upper bounds, in that order."""
    order = np.argsort(-relevance.upper, kind="stable")[:MOST_FEATURES]
    names = [relevance.feature_names[j] for j in order]
    return tuple(FeatureLevels(name, int(j), _levels(X[name])) for j, name in zip(order, names, strict=True))


def _levels(column: pd.Series) -> NDArray[np.int8]:
    """Return the level of each value; categories count in the order of their names."""
    values = (
        pd.Series(pd.factorize(column, sort=True)[0]).where(column.notna().to_numpy()) if holds_text(column) else column
    )
    ranks = values.rank(method="average", pct=True).to_numpy()
    known = np.minimum(N_LEVELS - 1, np.nan_to_num(ranks * N_LEVELS)).astype(np.int8)
    return np.where(np.isnan(ranks), np.int8(-1), known)


def maps_of(used: Problem, model: Any, seed: int) -> dict[str, Array]:
    """Return the cases as points on a plane before learning and after.

    After learning they are placed by the learned metric. That of a linear map places them on a line, by their
    predictions; the second coordinate is the principal direction of their contributions among cases predicted alike.
    """
    linear = is_linear_map(FittedPipeline.of(model).learner)
    after = place_numbers(model, used.X, used.X) if linear else embed(model, used.X, random_state=seed)
    return {"before": embed(model, used.X, method="pca"), "after": after}


def place_numbers(model: Any, X: pd.DataFrame, rows: pd.DataFrame) -> Array:
    """Return rows on the map of X that a linear map makes."""
    fitted = FittedPipeline.of(model)
    parts = LinearParts(fitted)

    def contributions(table: pd.DataFrame) -> Array:
        return parts.contributions(np.asarray(fitted.seen(fitted.matched(table)), dtype=np.float64))

    plane = Plane.of(_alike(contributions(X)))

    def placed(table: pd.DataFrame) -> Array:
        added = contributions(table)
        return np.column_stack([fitted.learner.target_origin_ + added.sum(axis=1), plane.at(_alike(added))[:, 0]])

    return by_blocks(placed, rows)


def _alike(contributions: Array) -> Array:
    """Return contributions without the direction of their sum."""
    return contributions - contributions.mean(axis=1, keepdims=True)


MOST_OTHERS = 1_000_000  # rows that are placed


@dataclass(frozen=True, eq=False)
class PlacedRows:
    """Rows of a large table beside the cases of a study, for which nothing is predicted: they were not held out."""

    names: pd.Index  # of the rows
    true: NDArray[Any]  # their classes, or their measured values
    maps: dict[str, Array]  # where they lie before and after learning, on the maps of the cases
    n_all: int  # how many there are; those that are placed are at most a million, drawn at random

    def some(self, most: int) -> PlacedRows:
        """Return at most so many of them, in even steps."""
        if len(self.names) <= most:
            return self
        rows = np.linspace(0, len(self.names) - 1, most).round().astype(np.intp)
        maps = {name: points[rows] for name, points in self.maps.items()}
        return PlacedRows(self.names[rows], self.true[rows], maps, self.n_all)


def placed_rows_of(
    problem: Problem, shown: Problem, maps: dict[str, Array], model: Any, seed: int
) -> PlacedRows | None:
    """Place the rows that were not compared on the maps of the cases; None where all were."""
    if len(problem.X) <= COMPARED_ROWS:
        return None
    left = np.ones(len(problem.X), dtype=bool)
    left[sampled_rows(problem, COMPARED_ROWS, seed)] = False
    rows = np.flatnonzero(left)
    n_all = len(rows)
    if n_all > MOST_OTHERS:
        rows = np.sort(np.random.default_rng(seed).choice(rows, MOST_OTHERS, replace=False))
    further = problem.X.iloc[rows]
    after = (
        place_numbers(model, shown.X, further)
        if is_linear_map(FittedPipeline.of(model).learner)
        else place_after(model, shown.X, maps["after"], further)
    )
    placed = {"before": place_before(model, shown.X, further), "after": after}
    return PlacedRows(further.index, problem.y[rows], placed, n_all)
