"""Checks of learners and cases for rejection."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d

from whynear.metric.steps import estimators_of
from whynear.utils.row_order import TimeOrder

STREAM_METHODS = ("learn_one", "prequential")


def check_learner(learner: Any) -> None:
    """Refuse what is no classifier with probabilities, and learners of streams."""
    if isinstance(learner, type) or not hasattr(learner, "fit"):
        kind = learner.__name__ if isinstance(learner, type) else type(learner).__name__
        raise TypeError(f"learner must be a classifier such as GMLVQ(), got {kind} instead.")
    last = next(reversed(estimators_of(learner)), learner)
    if any(hasattr(last, name) for name in STREAM_METHODS):
        raise TypeError(
            f"learner={type(last).__name__}() learns from a stream, for which nothing can be promised: the promise "
            "holds for cases of the same distribution as the calibration cases, and under drift that changes. Use a "
            "classifier that is fitted to a table."
        )
    if not hasattr(learner, "predict_proba"):
        raise TypeError(
            f"learner={type(last).__name__}() has no predict_proba. Use a classifier with probabilities, or wrap it in "
            "sklearn.calibration.CalibratedClassifierCV."
        )


def checked_groups(groups: ArrayLike | TimeOrder | None, n_cases: int) -> NDArray[Any] | None:
    """Return the groups as an array; refuse times, under which a promise would not hold."""
    if groups is None:
        return None
    if isinstance(groups, TimeOrder):
        raise ValueError(
            f"groups holds times ({groups.name!r}), and nothing can be promised for later cases: their distribution "
            "may have changed. Give groups, or None."
        )
    found = np.asarray(groups)
    if found.shape != (n_cases,):
        raise ValueError(
            f"groups must hold one value for each of the {n_cases} cases, got shape {found.shape} instead."
        )
    return found


def checked_target(X: Any, y: ArrayLike | None) -> NDArray[Any]:
    """Return the classes of the cases as an array of one dimension."""
    if y is None:
        raise ValueError("RejectOption requires y to be passed, but the target y is None. Give the classes.")
    labels = column_or_1d(y, warn=True)
    check_classification_targets(labels)
    check_consistent_length(X, labels)
    if not len(labels):
        raise ValueError("At least one case is needed, got 0 samples.")
    return labels


def rows_of(X: Any, rows: NDArray[np.intp]) -> Any:
    """Return rows of a table, an array, a sparse array or a list."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return X.tocsr()[rows] if issparse(X) else np.asarray(X)[rows]
