"""The first line of every ``fit`` and ``predict``: tables and targets checked, faults named."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d, validate_data

from whynear.metric.inputs import check_finite, check_magnitudes, column_names, default_names


class Labelled(NamedTuple):
    """A checked training set: the classes are coded as their places in ``classes``."""

    X: NDArray[np.float64]
    codes: NDArray[np.intp]
    classes: NDArray[Any]
    feature_names: tuple[str, ...]


def fit_inputs(learner: BaseEstimator, X: ArrayLike, y: ArrayLike) -> Labelled:
    """Check a training set and set ``n_features_in_`` and ``feature_names_in_`` of the learner.

    Refused by name are NaN and infinities, values whose squares leave the range of float64, missing targets, and a
    target with a single class.
    """
    if y is None:
        raise ValueError(f"{type(learner).__name__} requires y to be passed, but the target y is None.")
    values = validate_data(learner, X, dtype=np.float64, ensure_all_finite=False, ensure_min_samples=2)
    names = column_names(X) or default_names(values.shape[1])
    check_finite(values, names)
    check_magnitudes(values, names, by_column=True)
    labels = _labels(y)
    check_consistent_length(values, labels)
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"y holds the single class {classes[0]!r}, and {type(learner).__name__} needs at least two. "
            "Add rows of another class or choose another target."
        )
    return Labelled(values, codes.astype(np.intp), classes, names)


def predict_inputs(learner: BaseEstimator, X: ArrayLike) -> NDArray[np.float64]:
    """Check cases to be predicted against what the learner was fitted on."""
    check_is_fitted(learner)
    values: NDArray[np.float64] = validate_data(learner, X, dtype=np.float64, ensure_all_finite=False, reset=False)
    names = column_names(X) or default_names(values.shape[1])
    check_finite(values, names)
    check_magnitudes(values, names)
    return values


def _labels(y: ArrayLike) -> NDArray[Any]:
    labels = column_or_1d(y, warn=True)
    missing = np.flatnonzero(pd.isna(labels))
    if len(missing):
        rows = ", ".join(map(str, missing[:10])) + (", ..." if len(missing) > 10 else "")
        raise ValueError(
            f"y contains NaN or None: {len(missing)} targets are missing, in rows {rows} (counting from 0). "
            "Drop these rows."
        )
    check_classification_targets(labels)
    return labels
