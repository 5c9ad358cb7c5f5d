"""Predicting with another metric, whatever the learner is."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.pipeline import Pipeline

from whynear.metric import Metric, NeighborSearch

Predict = Callable[[ArrayLike, bool], NDArray[Any]]
N_NEIGHBORS = 5


def predictor(learner: Any, metric: Metric, X: ArrayLike, y: ArrayLike) -> Predict:
    """How a fitted learner predicts under another metric: a function of cases, and of whether they are those of X.

    Learners with ``with_metric`` predict by themselves, also at the end of a Pipeline. For all others the nearest rows
    of X under the metric vote, weighted by their inverse distance; a row of X never votes for itself.
    """
    last = learner.steps[-1][1] if isinstance(learner, Pipeline) else learner
    if not hasattr(last, "with_metric"):
        return _Vote(metric, X, y, getattr(last, "n_neighbors", N_NEIGHBORS))
    swapped = last.with_metric(metric)
    if isinstance(learner, Pipeline):
        name = learner.steps[-1][0]
        learner = copy.copy(learner)
        learner.steps = [*learner.steps[:-1], (name, swapped)]
        swapped = learner
    return lambda cases, _same: swapped.predict(cases)


class _Vote:
    """The vote of the nearest rows, each by its inverse squared distance; rows at distance zero outvote all others."""

    def __init__(self, metric: Metric, X: ArrayLike, y: ArrayLike, k: int) -> None:
        self.search = NeighborSearch(metric, X)
        self.classes, self.codes = np.unique(np.asarray(y), return_inverse=True)
        self.k = k

    def __call__(self, cases: ArrayLike, same: bool) -> NDArray[Any]:
        n = len(np.asarray(cases))
        k = min(self.k, len(self.codes) - same)
        sq, indices = self.search.nearest(cases, k, exclude=np.arange(n) if same else None)
        zero = sq == 0
        weights = np.where(zero.any(axis=1, keepdims=True), zero, 1.0 / np.where(zero, 1.0, sq))
        votes = np.zeros((n, len(self.classes)))
        np.add.at(votes, (np.arange(n)[:, None], self.codes[indices]), weights)
        return self.classes[votes.argmax(axis=1)]
