"""Predictions of any learner with another metric."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from whynear.metric import Metric
from whynear.metric.pipeline import FittedPipeline
from whynear.search import NeighborSearch
from whynear.search.voting import Votes, vote_weights

PredictBoth = Callable[[Metric], tuple[NDArray[Any], NDArray[Any]]]
N_NEIGHBORS = 5


def predictions(learner: Any, X: ArrayLike, y: ArrayLike, X_val: ArrayLike) -> PredictBoth:
    """Return a function from a metric to the learner's predictions for its training and its validation cases.

    Learners with ``with_metric`` predict with that metric, also at the end of a Pipeline, whose other steps are applied
    once for all metrics. For all other learners the nearest rows of X under the metric vote, weighted by their
    inverse distance; a row of X never votes for itself.
    """
    fitted = FittedPipeline.of(learner)
    last = fitted.learner
    if not hasattr(last, "with_metric"):
        k = getattr(last, "n_neighbors", N_NEIGHBORS)
        return lambda metric: _Vote(metric, X, y, k).of_both(X, X_val)
    seen = [fitted.seen(fitted.table(cases)) for cases in (X, X_val)]
    both = pd.concat(seen) if isinstance(seen[0], pd.DataFrame) else np.concatenate([np.asarray(part) for part in seen])
    n_train = len(both) - len(np.asarray(seen[1]))

    def predict(metric: Metric) -> tuple[NDArray[Any], NDArray[Any]]:
        found = last.with_metric(metric).predict(both)
        return found[:n_train], found[n_train:]

    return predict


class _Vote:
    """The vote of the nearest rows, each by its inverse squared distance; rows at distance zero vote alone."""

    def __init__(self, metric: Metric, X: ArrayLike, y: ArrayLike, k: int) -> None:
        self.search = NeighborSearch(metric, X)
        self.classes, self.codes = np.unique(np.asarray(y), return_inverse=True)
        self.k = k

    def of_both(self, X: ArrayLike, X_val: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
        return self._of(X, True), self._of(X_val, False)

    def _of(self, cases: ArrayLike, same: bool) -> NDArray[Any]:
        k = min(self.k, len(self.codes) - same)
        sq, indices = self.search.nearest(cases, k, exclude=np.arange(len(self.codes)) if same else None)
        votes = Votes(sq, indices, vote_weights(sq)).by_class(self.codes, len(self.classes))
        return self.classes[votes.argmax(axis=1)]
