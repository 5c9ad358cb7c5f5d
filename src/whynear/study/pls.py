"""Partial least squares for one target, with the number of components chosen by cross-validation."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from whynear.utils.arrays import Array
from whynear.utils.row_groups import split_rows
from whynear.utils.row_order import TimeOrder

MOST_COMPONENTS = 20
INNER_FOLDS = 5
ROUNDING = 1e-10  # relative size of a component that is an error of rounding


class CrossValidatedPLS(RegressorMixin, BaseEstimator):
    """PLS with the number of components, at most 20, that predicts held-out training rows best.

    Parameters
    ----------
    random_state : int
        Seed of the folds.

    Attributes
    ----------
    n_components_ : int
        The number of components.
    coef_ : ndarray
        The linear map from the centred columns to the centred target.
    """

    def __init__(self, random_state: int = 0) -> None:
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, groups: ArrayLike | TimeOrder | None = None) -> Self:
        """Choose the number of components with the rows of a group held out together, then fit all rows."""
        values, target = validate_data(self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
        self.n_components_ = _chosen_number(values, target, self.random_state, groups)
        self.origin_, self.target_origin_, maps = _fitted_maps(values, target, self.n_components_)
        self.coef_ = maps[-1]
        return self

    def predict(self, X: ArrayLike) -> Array:
        """Return the predicted target of each row."""
        check_is_fitted(self)
        values = validate_data(self, X, dtype=np.float64, reset=False)
        return self.target_origin_ + (values - self.origin_) @ self.coef_


def maps_by_components(X: Array, y: Array, most: int) -> Array:
    """Return the linear maps of 1, 2, ... components of centred data, one map per row.

    Where the data have fewer components, the last map is repeated.
    """
    rest, unexplained = X.copy(), y.copy()
    least = ROUNDING * np.linalg.norm(X)
    rotations, loadings = np.zeros((2, most, X.shape[1]))
    slopes = np.zeros(most)
    for k in range(most):
        covariance = rest.T @ unexplained
        size = np.linalg.norm(covariance)
        if size <= least * np.linalg.norm(y):
            break
        direction = covariance / size
        scores = rest @ direction
        if np.linalg.norm(scores) <= least:
            break
        loadings[k], slopes[k] = scores @ rest / (scores @ scores), scores @ unexplained / (scores @ scores)
        rotations[k] = direction - (loadings[:k] @ direction) @ rotations[:k]
        rest -= np.outer(scores, loadings[k])
        unexplained -= slopes[k] * scores
    return np.cumsum(slopes[:, None] * rotations, axis=0)


def _chosen_number(X: Array, y: Array, seed: int, groups: ArrayLike | TimeOrder | None) -> int:
    apart = groups if groups is None or isinstance(groups, TimeOrder) else np.asarray(groups)
    splits = split_rows(y, min(INNER_FOLDS, len(y)), seed, stratified=False, groups=apart)
    fewest_rows = min(len(train) for train, _ in splits)
    most = max(1, min(MOST_COMPONENTS, X.shape[1], fewest_rows - 1))
    errors = np.zeros(most)
    for train, test in splits:
        origin, target_origin, maps = _fitted_maps(X[train], y[train], most)
        predicted = target_origin + (X[test] - origin) @ maps.T
        errors += np.square(predicted - y[test, None]).sum(axis=0)
    return int(errors.argmin()) + 1


def _fitted_maps(X: Array, y: Array, most: int) -> tuple[Array, float, Array]:
    """Return the means of columns and target, and the maps of 1, 2, ... components."""
    origin, target_origin = X.mean(axis=0), float(y.mean())
    return origin, target_origin, maps_by_components(X - origin, y - target_origin, most)
