"""Predictions of held-out rows with changed metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from whynear.data.rows import TimeOrder, groups_in, split_rows
from whynear.metric import Metric
from whynear.model.pipeline import FittedPipeline, weights_for
from whynear.search import NeighborSearch
from whynear.search.voting import Votes, vote_weights
from whynear.utils.axes import tidy
from whynear.utils.columns import check_dense

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PredictBoth = Callable[[Metric], tuple[NDArray[Any], NDArray[Any]]]
CRITERIA = {
    "validation_error": "classification error",
    "mse": "mean squared error",
    "correlation": "correlation of prediction and target",
}
FOLDS = 5
N_NEIGHBORS = 5


class Split(NamedTuple):
    """Training and validation rows, the learner fitted on the training rows, and the groups of validation rows."""

    X: Any
    y: NDArray[Any]
    X_val: Any
    y_val: NDArray[Any]
    model: FittedPipeline
    groups_val: NDArray[Any] | None = None

    def predictor(self) -> PredictBoth:
        """Return a function from a metric of the model to its predictions for training and validation rows.

        Learners with ``with_metric`` predict with that metric, also at the end of a Pipeline, whose other steps are
        applied once for all metrics. For all other learners the nearest training rows, in the columns of the metric,
        vote, weighted by their inverse distance; no row votes for itself.
        """
        last = self.model.learner
        if not self.takes_metrics:
            X, X_val, k = self.rows(), self.model.numbers(self.X_val), getattr(last, "n_neighbors", N_NEIGHBORS)
            return partial(_voted, X, X_val, np.asarray(self.y), k)
        seen = [self.model.seen(self.model.table(cases)) for cases in (self.X, self.X_val)]
        frames = isinstance(seen[0], pd.DataFrame)
        both = pd.concat(seen) if frames else np.concatenate([np.asarray(part) for part in seen])
        n_train = len(both) - len(np.asarray(seen[1]))

        def predict(metric: Metric) -> tuple[NDArray[Any], NDArray[Any]]:
            found = last.with_metric(self.model.as_seen(metric)).predict(both)
            return found[:n_train], found[n_train:]

        return predict

    def rows(self) -> Any:
        """Return the training rows in the columns of the metric, where the learner takes no other metric."""
        return self.X if self.takes_metrics else self.model.numbers(self.X)

    @property
    def takes_metrics(self) -> bool:
        """Whether the learner can predict with another metric."""
        return hasattr(self.model.learner, "with_metric")


def _voted(
    X: ArrayLike, X_val: ArrayLike, y: NDArray[Any], k: int, metric: Metric
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return votes of the nearest rows, each by its inverse squared distance; rows at distance zero vote alone."""
    search = NeighborSearch(metric, X)
    classes, codes = np.unique(y, return_inverse=True)

    def predict(cases: ArrayLike, exclude: NDArray[np.intp] | None) -> NDArray[Any]:
        sq, indices = search.nearest(cases, min(k, len(codes) - (exclude is not None)), exclude=exclude)
        return classes[Votes(sq, indices, vote_weights(sq)).by_class(codes, len(classes)).argmax(axis=1)]

    return predict(X, np.arange(len(codes))), predict(X_val, None)


def mark_choice(ax: Axes, best: float, text: str, across: str, criterion: str) -> Axes:
    """Mark the choice in a curve of validation results, and label its axes."""
    ax.axvline(best, color="0.35", linestyle=":", linewidth=1)
    ax.annotate(text, (best, 0.03), xycoords=("data", "axes fraction"), color="0.35", fontsize="small")
    ax.set_xlabel(across)
    ax.set_ylabel(CRITERIA[criterion])
    tidy(ax, "y")
    ax.legend(frameon=False, fontsize="small")
    return ax


def splits(
    learner: BaseEstimator,
    X: Any,
    y: Any,
    X_val: Any = None,
    y_val: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
) -> Iterator[Split]:
    """Yield the given training and validation rows, or the folds of a cross-validation without validation rows.

    Rows of one group are in one fold; in a `TimeOrder` the rows learned from are the earlier ones. A fold that leaves a
    single class to learn from is left out. ``sample_weight`` counts when the learner is fitted.
    """
    if (X_val is None) != (y_val is None):
        raise ValueError("X_val and y_val belong together: give both or neither.")
    check_dense(X)
    y = np.asarray(y)
    if groups is not None:
        if X_val is not None:
            raise ValueError("groups belong to a cross-validation: give them, or X_val and y_val.")
        groups = groups if isinstance(groups, TimeOrder) else np.asarray(groups)
        if len(groups) != len(y):
            raise ValueError(f"groups must have as many rows as y, got {len(groups)} and {len(y)} instead.")
    if X_val is not None:
        try:
            check_is_fitted(learner)
            model = learner
        except NotFittedError:
            model = clone(learner).fit(X, y, **weights_for(learner, sample_weight))
        fitted = FittedPipeline.of(model)
        if hasattr(fitted.learner, "with_metric"):
            X, X_val = fitted.table(X), fitted.table(X_val)
        yield Split(X, y, X_val, np.asarray(y_val), fitted)
        return
    regression = is_regressor(learner)
    folds = FOLDS if regression else max(2, min(FOLDS, int(np.unique(y, return_counts=True)[1].max())))
    for train, test in split_rows(y, folds, 0, stratified=not regression, groups=groups):
        weights = None if sample_weight is None else np.asarray(sample_weight)[train]
        if weights is not None:
            train, weights = train[weights > 0], weights[weights > 0]
        if (groups is not None or weights is not None) and not regression and len(np.unique(y[train])) < 2:
            continue
        X_train, X_test = (
            X.iloc[part] if isinstance(X, pd.DataFrame) else np.asarray(X)[part] for part in (train, test)
        )
        held_out = None if groups_in(groups) is None else groups[test]
        model = clone(learner).fit(X_train, y[train], **weights_for(learner, weights))
        yield Split(X_train, y[train], X_test, y[test], FittedPipeline.of(model), held_out)
