"""Validation of a learner under other metrics: the rows held out, and the predictions for them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from whynear.interpret.prediction import PredictBoth, predictions
from whynear.metric.fit_weights import weights_for
from whynear.metric.pipeline import FittedPipeline
from whynear.utils.columns import check_dense
from whynear.utils.row_groups import split_rows
from whynear.utils.row_order import TimeOrder, groups_in

FOLDS = 5


class Split(NamedTuple):
    """Training and validation rows, the learner fitted on the training rows, and the groups of validation rows."""

    X: Any
    y: NDArray[Any]
    X_val: Any
    y_val: NDArray[Any]
    model: Any
    groups_val: NDArray[Any] | None = None

    def predictor(self) -> PredictBoth:
        """Return a function from a metric of the model to its predictions for training and validation rows."""
        taken = FittedPipeline.of(self.model)
        if hasattr(taken.learner, "with_metric"):
            predict = predictions(self.model, self.X, self.y, self.X_val)
            return lambda metric: predict(taken.as_seen(metric))
        # Then the rows vote, in the columns of the metric.
        return predictions(self.model, taken.numbers(self.X), self.y, taken.numbers(self.X_val))

    def rows(self) -> Any:
        """Return the training rows in the columns of the metric, where the learner takes no other metric."""
        taken = FittedPipeline.of(self.model)
        return self.X if hasattr(taken.learner, "with_metric") else taken.numbers(self.X)


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
    groups = _checked_groups(groups, len(y), X_val)
    if X_val is not None:
        try:
            check_is_fitted(learner)
            model = learner
        except NotFittedError:
            model = clone(learner).fit(X, y, **weights_for(learner, sample_weight))
        yield Split(X, y, X_val, np.asarray(y_val), model)
        return
    regression = is_regressor(learner)
    folds = FOLDS if regression else max(2, min(FOLDS, _largest_class(y)))
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
        yield Split(X_train, y[train], X_test, y[test], model, held_out)


def _checked_groups(groups: Any, n_rows: int, X_val: Any) -> NDArray[Any] | TimeOrder | None:
    if groups is None:
        return None
    if X_val is not None:
        raise ValueError("groups belong to a cross-validation: give them, or X_val and y_val.")
    if len(held := groups if isinstance(groups, TimeOrder) else np.asarray(groups)) != n_rows:
        raise ValueError(f"groups must have as many rows as y, got {len(held)} and {n_rows} instead.")
    return held


def _largest_class(y: NDArray[Any]) -> int:
    return int(np.unique(y, return_counts=True)[1].max())
