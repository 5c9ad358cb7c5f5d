"""Linear regression by the pseudo-inverse, restricted to the directions in which the data vary most."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import validate_data

from whynear.learn.blocks import joined_triangles, summed
from whynear.learn.inputs import checked_weights, forget_table, predict_inputs, range_of_columns
from whynear.learn.mixins import CheckedWhenLoaded, WithMetric
from whynear.learn.registry import Traits
from whynear.metric import LinearMetric
from whynear.metric.projection import directions_of
from whynear.model.files import register
from whynear.utils.arrays import Array, Indices
from whynear.utils.checks import check_parameters, whole
from whynear.utils.columns import (
    check_finite,
    check_magnitudes,
    check_plain,
    column_names,
    default_names,
    names_of_rows,
)

MOST_CASES = 100_000  # kept for explanations

OnBlocks: TypeAlias = Callable[..., list[Any]]


@register
class MinimumNormRegressor(CheckedWhenLoaded, WithMetric, RegressorMixin, BaseEstimator):
    r"""The linear map of least norm that fits best: :math:`\omega = y X^+`, projected on K directions.

    Its ``metric_`` is the one-row map itself, so that null space, intervals and effective dimension apply to regression
    as they do to classification.

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

    traits = Traits(partitions="squares")
    metric_: LinearMetric
    origin_: Array
    target_origin_: float
    input_range_: Array
    cases_: Array
    targets_: Array
    case_places_: Indices
    row_names_: NDArray[Any] | None

    def __init__(self, effective_dim: int | None = None, fit_intercept: bool = True) -> None:
        self.effective_dim = effective_dim
        self.fit_intercept = fit_intercept

    def check_settings(self) -> None:
        """Refuse parameters that cannot be used, by name and value."""
        check_parameters(self, whole, "effective_dim", optional=True)

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
        check_plain(X)
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
        forget_table(self)
        self.input_range_ = range_of_columns(values)
        self.case_places_ = places[:: kept_step(len(places))]
        self.cases_ = all_values[self.case_places_]
        self.targets_ = all_targets[self.case_places_].astype(np.float64)
        self.row_names_ = None if rows is None else rows[self.case_places_]
        block, own = np.column_stack([values, target]), None if (weights == 1).all() else weights
        return self.fit_sums(lambda work, *args: [work(block, own, *args)], names)  # equal weights change no bit

    def fit_sums(self, on_blocks: OnBlocks, names: tuple[str, ...]) -> Self:
        """Find the map by sums over blocks of rows; `fit` calls it with one block.

        ``on_blocks(work, *args)`` lists ``work(rows, weights, *args)`` of every block, where the last column of the
        rows is the target, and weights of None are one each.
        """
        n_rows, total, sums = summed(on_blocks(_weighted_sums))
        means = sums / total
        origin = means if self.fit_intercept else np.zeros_like(means)
        self.origin_, self.target_origin_ = origin[:-1], float(origin[-1])
        factor = joined_triangles(on_blocks(triangle_about, origin))
        rows, target = factor[:, :-1], factor[:, -1]
        if self.fit_intercept:  # the pseudo-inverse, of the directions that count as non-zero
            directions = directions_of(rows, self.origin_, n_rows, total, self.effective_dim)
            scales = np.square(directions.singular_values[: directions.effective_dim])
            omega = directions.kept @ ((rows @ directions.kept).T @ target / scales)
        else:
            omega = np.linalg.pinv(rows, rcond=max(n_rows, rows.shape[1]) * np.finfo(float).eps) @ target
            if self.effective_dim is not None:
                centred = joined_triangles(on_blocks(triangle_about, means))[:, :-1]
                omega = directions_of(centred, means[:-1], n_rows, total, self.effective_dim).project(omega)
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


def kept_step(n_rows: int) -> int:
    """Every which row is kept for explanations."""
    return -(-n_rows // MOST_CASES)


def _weighted_sums(rows: Array, weights: Array | None) -> tuple[int, float, Array]:
    if weights is None:
        return len(rows), float(len(rows)), rows.sum(axis=0)
    return len(rows), float(weights.sum()), weights @ rows


def triangle_about(rows: Array, weights: Array | None, centre: Array) -> Array:
    """A factor R of the weighted rows about a centre; see `triangle`."""
    centred = rows - centre
    return joined_triangles([centred if weights is None else np.sqrt(weights)[:, None] * centred])
