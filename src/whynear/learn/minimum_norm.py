"""Linear regression by the pseudo-inverse, restricted to the directions in which the data vary most."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import validate_data

from whynear.learn.inputs import checked_weights, forget_table, predict_inputs, range_of_columns
from whynear.learn.mixins import WithMetric
from whynear.metric import LinearMetric, register
from whynear.metric.projection import principal_directions
from whynear.utils.columns import check_finite, check_magnitudes, column_names, default_names
from whynear.utils.row_names import names_of_rows

MOST_CASES = 100_000  # kept for explanations


@register
class MinimumNormRegressor(WithMetric, RegressorMixin, BaseEstimator):
    r"""The linear map of least norm that fits best: :math:`\omega = y X^+`, projected on K directions.

    Its ``metric_`` is the one-row map itself, so that null space, intervals and effective dimension serve regression as
    they serve classification.

    Parameters
    ----------
    effective_dim : int, default=None
        Number of directions of the centred data kept (see `regularize`); all for None.
    fit_intercept : bool, default=True
        Whether X and y are centred first. Without it the pseudo-inverse is that of X without centring.

    Attributes
    ----------
    metric_ : LinearMetric
        The map, of shape (1, n_features).
    coef_ : ndarray of shape (n_features,)
        Its row.
    intercept_ : float
        The prediction at zero.
    origin_, target_origin_ : ndarray of shape (n_features,), float
        The means of X and y, zero without intercept.
    input_range_ : ndarray of shape (2, n_features)
        The smallest and the largest training value of each feature.
    cases_, targets_ : ndarray of shape (n_cases, n_features), ndarray of shape (n_cases,)
        The training rows and their targets, which `explain` shows as neighbours; of more than 100,000, as many in even
        steps. A saved model contains them.
    case_places_ : ndarray of shape (n_cases,)
        Their positions in X, from 0.
    row_names_ : ndarray of shape (n_cases,) or None
        Their names; None where neither X nor y has any.

    References
    ----------
    Strickert, Hammer, Villmann, Biehl: Regularization and improved interpretation of linear data mappings and adaptive
    distance measures, 2013.

    Examples
    --------
    >>> model = MinimumNormRegressor().fit([[0, 0], [1, 1], [2, 2]], [0, 2, 4])
    >>> model.coef_.round(6).tolist()
    [1.0, 1.0]
    """

    def __init__(self, effective_dim: int | None = None, fit_intercept: bool = True) -> None:
        self.effective_dim = effective_dim
        self.fit_intercept = fit_intercept

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the map; time O(n d min(n, d)), memory O(n d).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The training cases.
        y : array-like of shape (n_samples,)
            Their targets.
        sample_weight : array-like of shape (n_samples,), optional
            How much each case counts: one of weight two counts as two copies of it, one of weight zero is left out.
        """
        values, target = validate_data(
            self, X, y, dtype=np.float64, y_numeric=True, ensure_all_finite=False, ensure_min_samples=2
        )
        names = column_names(X) or default_names(values.shape[1])
        check_finite(values, names)
        check_magnitudes(values, names, by_column=True)
        check_finite(target[:, None], ["y"], "y")
        weights = checked_weights(sample_weight, len(values), X)
        places = np.flatnonzero(weights > 0)
        all_values, all_targets, rows = values, target, names_of_rows(X, y)
        values, target, weights = values[places], target[places], weights[places]
        if len(values) < 2:
            raise ValueError("sample_weight leaves 1 row, and at least two are needed. Give other rows a weight too.")
        weighted = None if (weights == 1).all() else weights  # equal weights change no bit
        forget_table(self)
        self.input_range_ = range_of_columns(values)
        self.case_places_ = places[:: -(-len(places) // MOST_CASES)]
        self.cases_ = all_values[self.case_places_]
        self.targets_ = all_targets[self.case_places_].astype(np.float64)
        self.row_names_ = None if rows is None else rows[self.case_places_]
        self.origin_ = np.average(values, 0, weighted) if self.fit_intercept else np.zeros(values.shape[1])
        self.target_origin_ = float(np.average(target, weights=weighted)) if self.fit_intercept else 0.0
        directions = principal_directions(values, self.effective_dim, weighted)
        if self.fit_intercept:  # the pseudo-inverse, of the directions that count as non-zero
            along = (values - self.origin_) @ directions.kept
            scales = np.square(directions.singular_values[: directions.effective_dim])
            away = target - self.target_origin_
            omega = directions.kept @ (along.T @ (away if weighted is None else weights * away) / scales)
        else:
            roots = np.sqrt(weights)
            omega = np.linalg.pinv(roots[:, None] * values, rcond=max(values.shape) * np.finfo(float).eps)
            omega = omega @ (roots * target)
            omega = omega if self.effective_dim is None else directions.project(omega)
        self.metric_ = LinearMetric(omega[None, :], names)
        return self

    def with_metric(self, metric: Any) -> Self:
        """Return a copy that predicts by another map of one row; see `WithMetric`."""
        twin = super().with_metric(metric)
        if not isinstance(twin.metric_, LinearMetric) or len(twin.metric_.omega) != 1:
            raise ValueError(f"metric must be a linear map of one row for regression, got {twin.metric_!r} instead.")
        return twin

    @property
    def coef_(self) -> NDArray[np.float64]:
        """The row of the map."""
        return self.metric_.omega[0]

    @property
    def intercept_(self) -> float:
        """The prediction at zero."""
        return self.target_origin_ - float(self.origin_ @ self.coef_)

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Predict the target."""
        return (predict_inputs(self, X) - self.origin_) @ self.coef_ + self.target_origin_
