"""The null space of data, regularization, and the rows that state equivalence on the data."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from whynear.metric import DiagonalMetric, LinearMetric, LocalMetric, Metric
from whynear.metric.projection import Directions, principal_directions, turned_up
from whynear.metric.steps import Mixing, Step, Units, linear_steps
from whynear.model.as_metric import metric_and_rows
from whynear.model.files import register
from whynear.model.pipeline import FittedPipeline
from whynear.search import NeighborSearch
from whynear.utils.arrays import Array


def regularize(
    metric: Metric | BaseEstimator, X: ArrayLike, effective_dim: int | None = None, prototypes: ArrayLike | None = None
) -> LinearMetric | LocalMetric:
    r"""Remove from a metric the part that acts where the data do not vary.

    Replaces :math:`\Omega` by :math:`\Omega \Psi_K` (eqs. 6 and 8), where :math:`\Psi_K` projects on the K directions
    in which the data vary most. With all of them every distance on the data stays, and the result is the one smallest
    :math:`\Lambda` for which it does; fewer smooth.

    Parameters
    ----------
    metric : metric, fitted learner or Pipeline
        The metric; it is projected in the coordinates of the learner. A local metric is projected map by map, each on
        the rows of X whose nearest anchor it is (on all rows where it serves fewer than two).
    X : array-like of shape (n_samples, n_features)
        The data, in the columns of the metric.
    effective_dim : int, optional
        K; the numerical rank of the data without it.
    prototypes : array-like of shape (n_prototypes, n_features), optional
        Further points that count into the covariance, so that distances to them stay too. A local metric takes its
        own anchor into each map's data when this is given.

    Returns
    -------
    LinearMetric or LocalMetric
        In the columns of the given metric.

    Examples
    --------
    >>> regularize(LinearMetric([[1.0, 0.0]]), [[0, 0], [1, 1], [2, 2]]).omega  # two equal columns
    array([[0.5, 0.5]])
    """
    given, X, _ = quadratic_and_rows(metric, X)
    if isinstance(given, LocalMetric):
        return _regularize_local(given, X, effective_dim, prototypes is not None)
    learned, directions = seen_by_learner(given, X, effective_dim, prototypes)
    return restated(_projected(learned, directions), given.feature_names, given.scale, given.units)


def regularized_at(
    metric: Metric | BaseEstimator, X: ArrayLike, dimensions: Sequence[int]
) -> Iterator[LinearMetric | LocalMetric]:
    """Yield the metric regularized at several numbers of directions; the directions of the data are found once."""
    given, X, _ = quadratic_and_rows(metric, X)
    if isinstance(given, LocalMetric):
        yield from (regularize(given, X, K) for K in dimensions)
        return
    learned, directions = seen_by_learner(given, X)
    for K in dimensions:
        omega = _projected(learned, replace(directions, effective_dim=K))
        yield restated(omega, given.feature_names, given.scale, given.units)


@dataclass(frozen=True)
class NullSpace:
    """The effect of projecting a metric on the kept directions.

    Attributes
    ----------
    rank : int
        Number of directions in which the data vary, by the tolerance below.
    effective_dim : int
        Number of directions kept.
    loss : float
        Squared Frobenius norm of the change of the mapped data (eq. 9): zero at full rank.
    removed_norm : float
        Share of the squared norm of the map that is removed.
    tolerance : float
        Singular values of the centred data up to this one count as zero.
    """

    rank: int
    effective_dim: int
    loss: float
    removed_norm: float
    tolerance: float


def null_space(metric: Metric | BaseEstimator, X: ArrayLike, effective_dim: int | None = None) -> NullSpace:
    """Report how much of a metric lies where the data do not vary, and what leaving it out would change.

    Parameters
    ----------
    metric : LinearMetric, DiagonalMetric, fitted learner or Pipeline
        The metric; take the maps of a local one by one, ``null_space(metric[i], X_served)``.
    X : array-like of shape (n_samples, n_features)
        The data.
    effective_dim : int, optional
        How many directions to keep; the numerical rank of the data without it.

    Returns
    -------
    NullSpace

    Examples
    --------
    >>> found = null_space(LinearMetric([[1.0, 0.0]]), [[0, 0], [1, 1], [2, 2]])  # two equal columns
    >>> found.rank, round(found.removed_norm, 2)
    (1, 0.5)
    """
    given, X, _ = quadratic_and_rows(metric, X)
    if isinstance(given, LocalMetric):
        raise TypeError("A local metric has one null space per map: call null_space(metric[i], X_served) for each.")
    learned, directions = seen_by_learner(given, X, effective_dim)
    total = float(learned.relevances().sum())
    along = np.square(times(learned, directions.vectors)).sum(axis=0)
    lost = np.square(directions.singular_values[directions.effective_dim :]) @ along[directions.effective_dim :]
    kept = float(along[: directions.effective_dim].sum())
    return NullSpace(
        rank=directions.rank,
        effective_dim=directions.effective_dim,
        loss=float(lost),
        removed_norm=max(0.0, 1 - kept / total) if total > 0 else 0.0,
        tolerance=directions.tolerance,
    )


@register
class NullSpaceProjector(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Project data on the directions in which they vary most, in their own columns (eq. 10).

    A map learned behind it is regularized by construction. On centred data this is the reconstruction from the first
    principal components.

    Parameters
    ----------
    effective_dim : int, default=None
        Number of directions kept; the numerical rank of the training data for None.

    Attributes
    ----------
    vectors_ : ndarray of shape (n_features, K)
        The directions kept.
    rank_ : int
        Number of directions in which the training data vary.
    mean_ : ndarray of shape (n_features,)
        The mean of the training data, which the projection leaves in place.

    Examples
    --------
    >>> X = np.array([[0.0, 0.1], [1.0, 0.9], [2.0, 2.1], [3.0, 2.9]])
    >>> NullSpaceProjector(effective_dim=1).fit_transform(X).round(1)  # on the line along which both columns rise
    array([[0. , 0.1],
           [0.9, 1. ],
           [2.1, 2. ],
           [3. , 2.9]])
    """

    mean_: Array
    vectors_: Array
    rank_: int

    def __init__(self, effective_dim: int | None = None) -> None:
        self.effective_dim = effective_dim

    def fit(self, X: ArrayLike, y: Any = None) -> Self:  # noqa: ARG002 - a Pipeline passes y to every step
        """Find the directions of X."""
        values = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        return self.fit_directions(values.mean(axis=0), principal_directions(values, self.effective_dim))

    def fit_directions(self, mean: Array, directions: Directions) -> Self:
        """Take the mean and the directions of a table; `fit` finds them."""
        self.mean_, self.vectors_, self.rank_ = mean, turned_up(directions.kept), directions.rank
        return self

    def transform(self, X: ArrayLike) -> Array:
        """Project X."""
        check_is_fitted(self)
        values = validate_data(self, X, dtype=np.float64, reset=False)
        return self.mean_ + ((values - self.mean_) @ self.vectors_) @ self.vectors_.T


@linear_steps.register
def _projector_steps(step: NullSpaceProjector) -> list[Step]:
    return [Mixing(step.vectors_.T), Mixing(step.vectors_)]


def served_rows(metric: LocalMetric, X: ArrayLike) -> NDArray[np.intp]:
    """Return for each row of X the number of its nearest anchor, under the anchors' own maps."""
    return NeighborSearch(metric).nearest(X, k=1)[1][:, 0]


def quadratic_and_rows(
    metric: Any, X: Any
) -> tuple[LinearMetric | DiagonalMetric | LocalMetric, Any, FittedPipeline | None]:
    """Return what `metric_and_rows` returns; refuse metrics that are no quadratic form with linear maps."""
    value, rows, model = metric_and_rows(metric, X)
    if not isinstance(value, LinearMetric | DiagonalMetric | LocalMetric):
        raise TypeError(
            f"{type(value).__name__} has no linear map; a quadratic form (x - y)^T Lambda (x - y) is needed."
        )
    return value, rows, model


def rank_of(metric: Metric | BaseEstimator, X: ArrayLike) -> int:
    """Return the number of directions in which the data vary, in the coordinates of the learner."""
    given, rows, _ = quadratic_and_rows(metric, X)
    return seen_by_learner(given[0] if isinstance(given, LocalMetric) else given, rows)[1].rank


def seen_by_learner(
    metric: LinearMetric | DiagonalMetric,
    X: ArrayLike,
    effective_dim: int | None = None,
    prototypes: ArrayLike | None = None,
) -> tuple[LinearMetric | DiagonalMetric, Directions]:
    """Return the metric and the directions of the data, both in the coordinates of the learner."""
    rows = metric.learned_coordinates(X)
    if prototypes is not None:
        rows = np.vstack([rows, metric.learned_coordinates(prototypes)])
    if len(rows) < 2:
        raise ValueError(f"X must have at least 2 rows to vary, got {len(rows)} instead.")
    return metric.as_learned(), principal_directions(rows, effective_dim)


def times(metric: LinearMetric | DiagonalMetric, vectors: Array) -> Array:
    """The map of the metric times column vectors, up to a rotation that keeps all products of columns."""
    if isinstance(metric, LinearMetric):
        return metric.omega @ vectors
    return np.asarray(np.linalg.qr(np.sqrt(metric.weights)[:, None] * vectors, mode="r"))


def restated(omega: Array, feature_names: Sequence[str], scale: Array | None, units: Units) -> LinearMetric:
    """A map in the coordinates of a learner, stated in the columns before they were divided by the scale."""
    return LinearMetric(omega if scale is None else omega * (1.0 / scale), feature_names, scale, units)


def restated_locally(metric: LocalMetric, maps: Sequence[Array]) -> LocalMetric:
    """A local metric with other maps in the coordinates of its learner; rows of zeros are added to the shorter ones."""
    width = max(1, *(len(omega) for omega in maps))
    omegas = np.stack([np.pad(omega, [(0, width - len(omega)), (0, 0)]) for omega in maps])
    omegas = omegas if metric.scale is None else omegas * (1.0 / metric.scale)
    return LocalMetric(metric.anchors, None, omegas, metric.feature_names, metric.scale, metric.units)


def _projected(metric: LinearMetric | DiagonalMetric, directions: Directions) -> Array:
    return times(metric, directions.kept) @ directions.kept.T


def _regularize_local(metric: LocalMetric, X: ArrayLike, effective_dim: int | None, with_anchors: bool) -> LocalMetric:
    learned, rows, served = metric.as_learned(), metric.learned_coordinates(X), served_rows(metric, X)
    everything = principal_directions(rows)
    maps = []
    for i, one in enumerate(learned):
        assert isinstance(one, LinearMetric | DiagonalMetric)
        mine = rows[served == i]
        if with_anchors:
            mine = np.vstack([mine, learned.anchors[i]])
        directions = everything if len(mine) < 2 else principal_directions(mine)
        if effective_dim is not None and effective_dim < directions.rank:
            directions = replace(directions, effective_dim=effective_dim)
        maps.append(_projected(one, directions))
    alone = np.count_nonzero(np.bincount(served, minlength=len(metric)) < 2)
    if alone:
        warnings.warn(
            f"{alone} of {len(metric)} maps serve fewer than two rows; they were projected on the directions of all.",
            stacklevel=3,
        )
    return restated_locally(metric, maps)


MOST_MAPS = 100
NEGLIGIBLE = 1e-6  # of the largest row's norm
EPS = float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class RowProblem:
    """One row to bound: the columns that vary, the directions, the row in them, and its weight in the sum.

    ``t`` is by how much another map may differ from the row in each direction.
    """

    U: Array
    b: Array
    t: Array
    live: NDArray[np.intp]
    map: Array
    share: float
    anchor: int | None


Part = tuple[LinearMetric | DiagonalMetric, Directions, float, int | None]


def maps_with_directions(
    given: LinearMetric | DiagonalMetric | LocalMetric, X: ArrayLike, effective_dim: int | None
) -> Iterator[Part]:
    """Yield each map with the directions of the rows it serves, their share of the data, and its anchor."""
    if not isinstance(given, LocalMetric):
        yield *seen_by_learner(given, X, effective_dim), 1.0, None
        return
    if len(given) > MOST_MAPS:
        raise ValueError(
            f"The metric has {len(given)} maps, one per anchor. Bound one of them on the cases around its anchor: "
            "relevance_intervals(metric[i], X_near)."
        )
    learned, rows, served = given.as_learned(), given.learned_coordinates(X), served_rows(given, X)
    for anchor in range(len(given)):
        mine = rows[served == anchor]
        if len(mine) >= 2:
            one = learned[anchor]
            directions = principal_directions(mine)
            if effective_dim is not None and effective_dim < directions.rank:
                directions = principal_directions(mine, effective_dim)
            yield one, directions, len(mine) / len(rows), anchor


def row_problems(
    parts: Sequence[Part], rows: str, tolerance: float = 0.0, budget: float = 1.0
) -> tuple[list[RowProblem], tuple[str, ...]]:
    """Return the rows to bound, and the names of those left out: negligible, or zero within the tolerance.

    Directions in which no map of at most ``budget`` times the norm of the row can leave the tolerance are left out.
    """
    problems: list[RowProblem] = []
    skipped: list[str] = []
    for metric, directions, share, anchor in parts:
        U = directions.kept
        if not U.shape[1]:  # data that do not vary
            continue
        if rows == "map" and isinstance(metric, DiagonalMetric):
            mapped = np.sqrt(metric.weights)[:, None] * U
        else:
            mapped = times(metric, U)
        if rows == "eigen":
            left, scales, right = np.linalg.svd(mapped, full_matrices=False)
            # The sign of an eigenvector is arbitrary: it gets that of the row of the map it is most like.
            signs = np.sign(left[np.abs(left).argmax(axis=0), np.arange(left.shape[1])])
            mapped = (signs * scales)[:, None] * right
        norms = np.linalg.norm(mapped, axis=1)
        rounding = len(U) * EPS * np.sqrt(metric.relevances().sum())  # what a map in the null space leaves
        kept = norms > max(NEGLIGIBLE * norms.max(initial=0.0), rounding)
        scales = directions.singular_values[: U.shape[1]]
        t = tolerance * float(np.linalg.norm(mapped * scales)) / scales
        kept &= (np.abs(mapped) > t).any(axis=1)
        whose = "" if anchor is None else f"anchor {anchor}, "
        skipped += [f"{whose}row {row}" for row in np.flatnonzero(~kept)]
        lengths = np.linalg.norm(U, axis=1)
        live = np.flatnonzero(lengths > 1e-10 * lengths.max(initial=0.0))
        for b in mapped[kept]:
            row = U @ b
            reach = budget * float(np.abs(row).sum()) * np.abs(U).max(axis=0)
            binding = (t == 0) | (t < np.abs(b) + reach)
            own = np.ascontiguousarray(U[live][:, binding])
            problems.append(RowProblem(own, b[binding], t[binding], live, row, share, anchor))
    return problems, tuple(skipped)
