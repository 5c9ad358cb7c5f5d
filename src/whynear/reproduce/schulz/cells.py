"""What Schulz, Mokbel, Biehl and Hammer measure: errors over the effective dimension, and relevance bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold, train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from whynear.datasets import make_xor
from whynear.interpret import effective_dimension, regularization_paths, relevance_intervals
from whynear.learn.registry import LEARNERS
from whynear.metric import LinearMetric
from whynear.reproduce.cells import Result
from whynear.reproduce.data import Split, cases, spectra
from whynear.utils.arrays import Array

XOR_NOISE = 0.02  # by which the three copies of a coordinate differ


def split_of(dataset: str) -> Split:
    """Cases to learn from and to test on: published roles, or a split of ours where there are none.

    ``xor3`` is the fourth draw of the xor data, ``xor3@0.1`` the same with copies that differ by more noise.
    """
    if dataset in ("wine_spectra", "tecator"):
        return spectra(dataset)
    if dataset.startswith("xor"):
        draw, _, noise = dataset.removeprefix("xor").partition("@")
        data = make_xor(400, noise=float(noise or XOR_NOISE), random_state=int(draw or 0))
        X, y = data.X.to_numpy(), data.y
    else:
        X, y = cases(dataset)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, stratify=y, random_state=0)
    return Split(X, y, X_test, y_test)


def twins(X: Array) -> NDArray[np.intp]:
    """A number for each row; identical rows share it."""
    return np.unique(X, axis=0, return_inverse=True)[1].ravel()


def learned(data: Split, learner: str, settings: Mapping[str, Any]) -> Pipeline:
    """The learner on z-scores."""
    chain = make_pipeline(StandardScaler(), LEARNERS[learner.lower()](random_state=0, **settings))
    return chain.fit(data.X, data.y)


def errors(dataset: str, learner: str, settings: Mapping[str, Any]) -> Result:
    """Errors of the metric as it was learned, and how many pairs of identical rows the split has torn apart."""
    data = split_of(dataset)
    model = learned(data, learner, settings)
    groups = twins(np.vstack([data.X, data.X_test]))
    torn = np.intersect1d(groups[: len(data.X)], groups[len(data.X) :])
    return {
        "train": 1 - model.score(data.X, data.y),
        "test": 1 - model.score(data.X_test, data.y_test),
        "torn": len(torn),
    }


def error_curve(
    dataset: str,
    learner: str,
    settings: Mapping[str, Any],
    dimensions: list[int],
    fold: int | None = None,
    n_folds: int = 10,
) -> Result:
    """Mean errors of the 2 d extreme maps over the effective dimension (section 5.1).

    They are judged on the test cases as in the paper, or without them on a fold of the cases learned from, which never
    holds one of two identical rows alone.
    """
    data = split_of(dataset)
    if fold is not None:
        folds = StratifiedGroupKFold(n_folds, shuffle=True, random_state=0).split(data.X, data.y, twins(data.X))
        train, held_out = list(folds)[fold]
        data = Split(data.X[train], data.y[train], data.X[held_out], data.y[held_out])
    model = learned(data, learner, settings)
    found = effective_dimension(
        model, data.X, data.y, data.X_test, data.y_test, candidates=dimensions, scheme="extremes"
    )
    return {"train": found.curve["train_error"].to_numpy(), "test": found.curve["validation_error"].to_numpy()}


def bounds(dataset: str, learner: str, settings: Mapping[str, Any], dimension: int) -> Result:
    """Relevance bounds of each row of the map, the map itself, and the mean of all extreme maps."""
    data = split_of(dataset)
    model = learned(data, learner, settings)
    found = relevance_intervals(model, data.X, dimension, extremes=True)
    average = model[-1].with_metric(found.mean_map().as_learned())
    scaled = data.scaled()
    return {
        "original": largest_rows(model[-1].metric_),
        "rows": [{"lower": row.lower, "upper": row.upper} for row in found.rows],
        "lower": found.lower,
        "upper": found.upper,
        "strength": list(found.strength),
        "average": np.abs(average.metric_.omega),
        "average_train": 1 - average.score(scaled.X, data.y),
        "average_test": 1 - average.score(scaled.X_test, data.y_test),
    }


def largest_rows(metric: LinearMetric, most: int = 3) -> Array:
    """Eigenvectors of Lambda times the root of their eigenvalue, in absolute value, largest first."""
    _, scales, directions = np.linalg.svd(metric.omega, full_matrices=False)
    return np.abs(scales[:, None] * directions)[:most]


def paths(dataset: str, learner: str, settings: Mapping[str, Any]) -> Result:
    """What lasso, elastic net and ridge make of the row of the map that matters most."""
    data = split_of(dataset)
    found = regularization_paths(learned(data, learner, settings), data.X)
    return {"features": found.feature_names, "alphas": found.alphas, "weights": found.weights}
