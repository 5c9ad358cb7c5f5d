"""Errors against the effective dimension, and relevance bounds, as by Schulz, Mokbel, Biehl and Hammer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold, train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from papers.computations import Cell, Result, ResultOf
from papers.plans import load_plan
from papers.splits import Split, load_arrays, spectra
from whynear.datasets import make_xor
from whynear.interpret import effective_dimension, regularization_paths, relevance_intervals
from whynear.learn.registry import LEARNERS
from whynear.metric import LinearMetric
from whynear.utils.arrays import Array

XOR_NOISE = 0.02  # standard deviation of the noise in the three copies of a coordinate
ERROR_TOLERANCE = 0.01  # errors this close to the lowest are taken as equal to it


def split_of(dataset: str) -> Split:
    """Training and test rows: the published split of spectra, and a random split of the other data.

    ``xor3`` is the xor data with seed 3, ``xor3@0.1`` has copies with a noise of 0.1.
    """
    if dataset in ("wine_spectra", "tecator"):
        return spectra(dataset)
    if dataset.startswith("xor"):
        seed, _, noise = dataset.removeprefix("xor").partition("@")
        data = make_xor(400, noise=float(noise or XOR_NOISE), random_state=int(seed or 0))
        X, y = data.X.to_numpy(), data.y
    else:
        X, y = load_arrays(dataset)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, stratify=y, random_state=0)
    return Split(X, y, X_test, y_test)


def identical_rows(X: Array) -> NDArray[np.intp]:
    """A number for each row; identical rows share it."""
    return np.unique(X, axis=0, return_inverse=True)[1].ravel()


def learned(data: Split, learner: str, settings: Mapping[str, Any]) -> Pipeline:
    """A pipeline of z-scores and the learner, fitted to the training rows."""
    pipeline = make_pipeline(StandardScaler(), LEARNERS[learner.lower()](random_state=0, **settings))
    return pipeline.fit(data.X, data.y)


def errors(dataset: str, learner: str, settings: Mapping[str, Any]) -> Result:
    """Errors of the learned metric, and the number of identical rows that are in both training and test set."""
    data = split_of(dataset)
    model = learned(data, learner, settings)
    groups = identical_rows(np.vstack([data.X, data.X_test]))
    split_pairs = np.intersect1d(groups[: len(data.X)], groups[len(data.X) :])
    return {
        "train": 1 - model.score(data.X, data.y),
        "test": 1 - model.score(data.X_test, data.y_test),
        "split_pairs": len(split_pairs),
    }


def error_curve(
    dataset: str,
    learner: str,
    settings: Mapping[str, Any],
    dimensions: list[int],
    fold: int | None = None,
    n_folds: int = 10,
) -> Result:
    """Mean errors of the 2 d extreme maps against the effective dimension (section 5.1).

    The errors are those on the test rows, as in the paper, or on a fold of the training rows. Identical rows are always
    in the same fold.
    """
    data = split_of(dataset)
    if fold is not None:
        folds = StratifiedGroupKFold(n_folds, shuffle=True, random_state=0).split(
            data.X, data.y, identical_rows(data.X)
        )
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
    """Lasso, elastic net and ridge solutions for the most important row of the map."""
    data = split_of(dataset)
    found = regularization_paths(learned(data, learner, settings), data.X)
    return {"features": found.feature_names, "alphas": found.alphas, "weights": found.weights}


@dataclass(frozen=True)
class Case:
    """A data set with a learner, and its cells."""

    dataset: str
    learner: str
    settings: Mapping[str, Any]
    dimensions: list[int]
    published: int | None = None
    n_folds: int = 0
    seconds: float = 5.0

    @cached_property
    def _arguments(self) -> dict[str, Any]:
        return {"dataset": self.dataset, "learner": self.learner, "settings": dict(self.settings)}

    @cached_property
    def errors(self) -> Cell:
        """The errors of the learned metric, without regularization."""
        return Cell(errors, self._arguments, 2)

    @cached_property
    def curve(self) -> Cell:
        """Errors against the effective dimension, on the test rows."""
        return Cell(error_curve, {**self._arguments, "dimensions": self.dimensions}, self.seconds)

    @cached_property
    def folds(self) -> list[Cell]:
        """Errors against the effective dimension, on each fold of the training rows."""
        numbered = ({"fold": number, "n_folds": self.n_folds} for number in range(self.n_folds))
        return [
            Cell(error_curve, {**self._arguments, "dimensions": self.dimensions, **fold}, self.seconds)
            for fold in numbered
        ]

    def bounds_at(self, dimension: int) -> Cell:
        """Relevance bounds at an effective dimension."""
        return Cell(bounds, {**self._arguments, "dimension": dimension}, 3)

    @cached_property
    def bounds(self) -> list[Cell]:
        """Relevance bounds at each effective dimension, after the curve that selects one of them."""
        return [self.curve, *(self.bounds_at(dimension) for dimension in self.dimensions)]

    def chosen(self, result_of: ResultOf) -> Result:
        """The bounds at the effective dimension chosen as in the paper."""
        return result_of(self.bounds_at(self.by_test(result_of)))

    @property
    def paths(self) -> Cell:
        """Lasso, elastic net and ridge solutions for the map."""
        return Cell(paths, self._arguments, 2)

    def by_test(self, result_of: ResultOf) -> int:
        """The effective dimension chosen by the test error, as in the paper."""
        return self._smallest(np.array(result_of(self.curve)["test"]))

    def by_folds(self, result_of: ResultOf) -> int:
        """The effective dimension chosen by cross-validation of the training rows."""
        return self._smallest(np.mean([result_of(cell)["test"] for cell in self.folds], axis=0))

    def _smallest(self, curve: Array) -> int:
        """The smallest dimension with an error near the lowest."""
        return self.dimensions[int(np.flatnonzero(curve <= curve.min() + ERROR_TOLERANCE)[0])]

    def test_error(self, result_of: ResultOf, dimension: int) -> float:
        """The mean error of the extreme maps on the test rows."""
        return float(result_of(self.curve)["test"][self.dimensions.index(dimension)])


def cases() -> dict[str, Case]:
    """All cases by their names in the table."""
    return {name: Case(**fields) for name, fields in load_plan("schulz-table1").settings["cases"].items()}
