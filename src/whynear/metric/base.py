"""What all metrics share, the compiled distances of local ones, and the cases behind predictions."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NoReturn, Self, get_args

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from whynear.metric.steps import Units
from whynear.utils import html
from whynear.utils.arrays import Array, ByValue, Indices
from whynear.utils.columns import LARGEST_VALUE, SMALLEST_VALUE, check_columns, check_features, check_names
from whynear.utils.compiling import njit


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def diagonal_sq_distance(x: NDArray[Any], y: NDArray[Any], weights: NDArray[Any]) -> float:  # pragma: no cover
    """Return sum_l weights[l] (x[l] - y[l])^2."""
    total = 0.0
    for feature in range(len(x)):
        difference = x[feature] - y[feature]
        total += weights[feature] * difference * difference
    return total


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def full_sq_distance(x: NDArray[Any], y: NDArray[Any], omega: NDArray[Any]) -> float:  # pragma: no cover
    """Return ||omega (x - y)||^2."""
    total = 0.0
    for component in range(omega.shape[0]):
        mapped = 0.0
        for feature in range(len(x)):
            mapped += omega[component, feature] * (x[feature] - y[feature])
        total += mapped * mapped
    return total


@njit(cache=True, nogil=True)
def diagonal_sq_distances(
    X: NDArray[Any], anchors: NDArray[Any], weights: NDArray[Any], out: NDArray[Any]
) -> None:  # pragma: no cover
    """Fill out[n, i] with the squared distance from X[n] to anchor i under its weights. Time O(n m d), no memory."""
    for n in range(X.shape[0]):
        for i in range(anchors.shape[0]):
            out[n, i] = diagonal_sq_distance(X[n], anchors[i], weights[i])


@njit(cache=True, nogil=True)
def full_sq_distances(
    X: NDArray[Any], anchors: NDArray[Any], omegas: NDArray[Any], out: NDArray[Any]
) -> None:  # pragma: no cover
    """Fill out[n, i] with the squared distance from X[n] to anchor i under its map. Time O(n m c d), no memory."""
    for n in range(X.shape[0]):
        for i in range(anchors.shape[0]):
            out[n, i] = full_sq_distance(X[n], anchors[i], omegas[i])


@njit(cache=True, nogil=True)
def listed_diagonal(
    X: NDArray[Any], cases: NDArray[Any], weights: NDArray[Any], indices: NDArray[Any], out: NDArray[Any]
) -> None:  # pragma: no cover
    """Fill out[n, k] with the squared distance from X[n] to case indices[n, k]; a single row of weights is for all."""
    for n in range(X.shape[0]):
        for k in range(indices.shape[1]):
            i = indices[n, k]
            out[n, k] = diagonal_sq_distance(X[n], cases[i], weights[i if weights.shape[0] > 1 else 0])


@njit(cache=True, nogil=True)
def listed_full(
    X: NDArray[Any], cases: NDArray[Any], omegas: NDArray[Any], indices: NDArray[Any], out: NDArray[Any]
) -> None:  # pragma: no cover
    """Fill out[n, k] with the squared distance from X[n] to case indices[n, k]; a single map is for all cases."""
    for n in range(X.shape[0]):
        for k in range(indices.shape[1]):
            i = indices[n, k]
            out[n, k] = full_sq_distance(X[n], cases[i], omegas[i if omegas.shape[0] > 1 else 0])


class Metric(ABC):
    """A frozen distance between cases with named features.

    Attributes
    ----------
    maps : ndarray
        The weights, or the linear map; of a local metric one entry per anchor.
    feature_names : tuple of str
        The columns the distance is stated in; ``x0``, ``x1``, ... without names.
    scale : ndarray of shape (n_features,) or None
        What each column was divided by before the learner, infinite for a column that did not reach it; None for a
        metric learned on the columns without scaling. The distance itself already contains it.
    units : {"per unit", "per standard deviation", "per scaled unit"}
        What a relevance of ``as_learned()`` refers to. Metrics that differ only in this are equal.
    """

    maps: Array
    feature_names: tuple[str, ...]
    scale: Array | None
    units: Units
    _array_names: tuple[str, ...]

    def _settle(
        self,
        fields: Mapping[str, tuple[ArrayLike | None, int]],
        feature_names: Sequence[str] | None,
        scale: ArrayLike | None,
        units: Units | None,
    ) -> None:
        """Set all attributes, once, from arrays and their dimensions: anchors, if there are any, and one of maps."""
        arrays = {name: None if array is None else frozen(array, name, ndim) for name, (array, ndim) in fields.items()}
        (maps,) = (array for name, array in arrays.items() if array is not None and name != "anchors")
        if arrays.get("weights") is not None and (maps < 0).any():
            raise ValueError(
                f"weights must be non-negative (they are the diagonal of Lambda), got {maps.min():.4g} instead."
            )
        d = maps.shape[-1]
        anchors = arrays.get("anchors")
        if anchors is not None and anchors.shape != (len(maps), d):
            raise ValueError(
                f"weights or omegas must fit the {anchors.shape[0]} anchors with {anchors.shape[1]} features, "
                f"got {len(maps)} maps of {d} features instead."
            )
        if units not in (None, *get_args(Units)):
            raise ValueError(f"units must be one of {', '.join(get_args(Units))}, got {units!r} instead.")
        if scale is None:
            units = "per unit"
        else:
            scale = np.asarray(scale, dtype=np.float64)
            if scale.shape != (d,) or not (scale > 0).all():
                raise ValueError(f"scale must hold {d} positive numbers, got {scale} instead.")
            if maps[..., np.isinf(scale)].any():
                raise ValueError("scale is infinite, for a column the learner never saw, where the map is not zero.")
            units = units or ("per unit" if (scale[np.isfinite(scale)] == 1).all() else "per scaled unit")
            scale = read_only(scale)
        vars(self).update(arrays, maps=maps, feature_names=check_names(feature_names, d), scale=scale, units=units)
        vars(self)["_array_names"] = (*arrays, "scale")

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is frozen: make a new value to change {name}.")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is frozen: {name} cannot be removed.")

    @property
    def n_features(self) -> int:
        """Number of features of a case."""
        return len(self.feature_names)

    def sq_distances(self, X: ArrayLike, Y: ArrayLike | None = None) -> Array:
        """Return squared distances from each row of X to each row of Y (to X itself, or to the anchors, without Y).

        The result has ``len(X) * len(Y)`` entries; take X in blocks where that is large (``row_blocks``).
        """
        return self.between(self.table(X), None if Y is None else self.table(Y, "Y"))

    @abstractmethod
    def between(self, X: Array, Y: Array | None = None) -> Array:
        """Return `sq_distances` of arrays that `table` returned, which are not checked again."""

    def contributions(self, x: ArrayLike, y: ArrayLike) -> Array:
        """Return what each feature adds to the squared distance of x and y; the parts sum to it.

        Takes single cases, or two tables compared row by row. Under a full matrix a part can be negative.
        """
        return finite(self._parts(self._differences(x, y)))

    def contributions_at(self, x: Array, cases: Array, indices: NDArray[np.intp]) -> Array:
        """Return the `contributions` to the distances from one case to those numbered ``indices``, a row for each.

        Arguments are not checked, as those of `sq_distances_at`.
        """
        return finite(np.array([self._parts(x - cases[number], number) for number in indices]))

    @abstractmethod
    def _parts(self, differences: Array, anchor: int = 0, /) -> Array:
        """Return what each feature adds to the squared length of differences, under the map of an anchor if local."""

    @abstractmethod
    def relevances(self) -> Array:
        """Return the diagonal of Lambda: one number per feature; for a local metric one such row per anchor."""

    def mean_shares(self, weights: ArrayLike | None = None) -> Array:
        """Return the mean of the relevances of all maps, each scaled to sum to one, because the scale of a map is free.

        Parameters
        ----------
        weights : array-like of shape (n_maps,) or (n_means, n_maps), optional
            The weight of each map, for one mean or several, each of which sums to one. Without it all are equal.

        Returns
        -------
        ndarray of shape (n_features,) or (n_means, n_features)
        """
        return mean_share(np.atleast_2d(self.relevances()), weights)

    @abstractmethod
    def as_learned(self) -> Self:
        """Return the same metric in the coordinates of the learner, for ``learned_coordinates(X)``."""

    def learned_coordinates(self, X: ArrayLike) -> Array:
        """Return X in the coordinates of the learner, except for a shift, which changes no distance."""
        values = self.table(X)
        return values if self.scale is None else values / self.scale

    def __iter__(self) -> Iterator[Metric]:
        """The linear maps one by one, each as a metric with that single map."""
        yield self

    def __len__(self) -> int:
        """Number of linear maps: one, or one per anchor."""
        return 1

    def arrays(self) -> dict[str, Array]:
        """Return the arrays of the value by their names in its constructor."""
        return {name: vars(self)[name] for name in self._array_names if vars(self)[name] is not None}

    @cached_property
    def fingerprint(self) -> str:
        """A sha256 of everything the value holds: equal metrics have equal fingerprints."""
        digest = hashlib.sha256(repr((type(self).__name__, self.feature_names)).encode())
        for name, array in self.arrays().items():
            digest.update(f"{name}{array.shape}".encode())
            digest.update((array + 0.0).tobytes())  # + 0.0 turns -0.0 into 0.0, which equals it
        return digest.hexdigest()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Metric):
            return NotImplemented
        return self is other or self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor, because an array is writeable after it was pickled.
        return rebuild, (type(self), self.feature_names, self.arrays(), self.units)

    def __repr__(self) -> str:
        shown = ", ".join(self.feature_names[:3]) + (", ..." if self.n_features > 3 else "")
        return f"{type(self).__name__}({self._size()} feature{'s' * (self.n_features != 1)}: {shown})"

    def _repr_html_(self) -> str:
        seen = "" if self.scale is None else "Relevance as the learner saw the columns, each divided by its scale. "
        mean = f"Mean of {len(self):,} anchors, each with a sum of one. " if len(self) > 1 else ""
        table = html.largest_shares(self.feature_names, self.as_learned().mean_shares())
        return html.block(html.heading(repr(self)), seen + mean, table)

    @abstractmethod
    def _size(self) -> str:
        """Return the number of maps, components and features, for ``repr``."""

    @cached_property
    def _largest_root(self) -> float:
        """The largest factor of a coordinate before it is squared."""
        return float(np.sqrt(self.relevances().max(initial=0.0)))

    def table(self, X: ArrayLike, what: str = "X") -> Array:
        """Return the rows of X as finite float64 numbers that can be squared; errors name the column.

        Named columns must be those of the metric in their order; ``what`` is the name of X in errors.
        """
        return self.measurable(check_features(X, self.feature_names, what), what)

    def measurable(self, values: Array, what: str = "X") -> Array:
        """Return checked rows whose distances are in the range of float64; refuse others."""
        reach = float(np.abs(values).max(initial=0.0)) * self._largest_root
        if reach > LARGEST_VALUE or 0 < reach < SMALLEST_VALUE:
            fate = "overflow" if reach > 1 else "vanish"
            raise ValueError(
                f"Squared distances {fate}: {what} times its largest weight is {reach:.3g} before squaring. "
                "Scale the columns, for example with StandardScaler."
            )
        return values

    def rows(self, x: ArrayLike, what: str) -> Array:
        """Return one case as a table of one row, a table as `table` does."""
        if np.ndim(x) != 1:
            return self.table(x, what)
        if isinstance(x, pd.Series) and all(isinstance(name, str) for name in x.index):
            check_columns(tuple(x.index), self.feature_names, what)  # a row of a table has the names of its columns
        return self.table(np.asarray(x, dtype=np.float64)[None, :], what)

    def sq_distances_at(self, X: Array, cases: Array, indices: NDArray[np.intp]) -> Array:
        """Return squared distances from row n of X to the cases numbered ``indices[n]``, from their differences.

        The same pair gives the same number in any block, which a matrix product does not guarantee. Arguments are not
        checked: X and the cases (a local metric's anchors) come from ``table``.
        """
        sq, maps = np.empty(indices.shape), self.maps if "anchors" in self._array_names else self.maps[None]
        (listed_diagonal if maps.ndim == 2 else listed_full)(X, cases, maps, indices, sq)
        return finite(sq)

    def _differences(self, x: ArrayLike, y: ArrayLike) -> Array:
        """Return the differences x - y row by row, a single one for two single cases."""
        first, second = self.rows(x, "x"), self.rows(y, "y")
        if len(first) != len(second) and 1 not in (len(first), len(second)):
            raise ValueError(
                f"x and y must have the same number of rows, got {len(first)} and {len(second)} instead; "
                "sq_distances compares all with all."
            )
        difference = first - second
        return difference[0] if np.ndim(x) == np.ndim(y) == 1 else difference


def rebuild(
    kind: Callable[..., Metric],
    feature_names: Sequence[str] | None,
    arrays: Mapping[str, NDArray[Any]],
    units: Units | None = None,
) -> Metric:
    """Return a metric of this class from its ``feature_names``, ``arrays()`` and ``units``."""
    known = {} if units is None else {"units": units}
    return kind(**arrays, feature_names=feature_names, **known)


def mean_share(relevances: Array, weights: ArrayLike | None = None) -> Array:
    """Return the mean of rows of relevances, each scaled to sum to one; a row of zeros stays zero.

    ``weights`` is one weight per row, or several such rows, one for each mean. A weighted mean sums to one, unless all
    rows are zero.

    >>> mean_share(np.array([[1.0, 1.0], [30.0, 10.0]]), [1.0, 1.0])
    array([0.625, 0.375])
    """
    shares = _to_one(relevances)
    if weights is None:
        return shares.sum(axis=0) / max(1, len(shares))
    return _to_one(np.asarray(weights, dtype=np.float64) @ shares)


def _to_one(rows: Array) -> Array:
    total = rows.sum(axis=-1, keepdims=True)
    return rows / np.where(total > 0, total, 1.0)


def frozen(values: ArrayLike, name: str, ndim: int) -> Array:
    """Return a read-only float64 copy: the learner may change its own array later."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != ndim:
        raise ValueError(f"{name} must have {ndim} dimensions, got {array.ndim} instead.")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got {np.count_nonzero(~np.isfinite(array))} NaN or infinite values.")
    return read_only(array)


def read_only(array: Array) -> Array:
    """Return a copy that cannot be made writable again: its memory belongs to immutable bytes."""
    return np.frombuffer(array.tobytes(), dtype=np.float64).reshape(array.shape)


def unscaled(values: Array, scale: Array) -> Array:
    """Return maps (weights, with the squared scale) in the coordinates of the learner; zero in columns it lacks."""
    seen = np.isfinite(scale)
    return np.where(seen, values * np.where(seen, scale, 0.0), 0.0)


def finite(sq_distances: Array) -> Array:
    """Return the distances; raise ValueError if one is not finite."""
    if not np.isfinite(sq_distances).all():
        raise ValueError("Squared distances overflow. Scale the columns, for example with StandardScaler.")
    return sq_distances


@dataclass(frozen=True, eq=False)
class Evidence(ByValue):
    """For each of n predictions the m prototypes or training cases behind it, nearest first.

    A class of voting learners has the votes of its cases. A kernel learner adds `shares`, which have a sign: the score
    of a class, or a predicted number, is ``base`` plus the shares of all cases.

    Attributes
    ----------
    cases : ndarray of shape (n_cases, n_features)
        All prototypes or training cases, in the coordinates of the learner.
    labels : ndarray of shape (n_cases,)
        Their classes, or their measured values.
    indices : ndarray of shape (n, m)
        Which of them are behind each prediction.
    sq_distances : ndarray of shape (n, m)
        Their squared distances under the learner's metric.
    votes : ndarray of shape (n, m)
        What each adds to the support of its class, or to a predicted number; negative only among shares.
    classes : ndarray of shape (n_classes,)
        The classes, sorted; empty for numbers.
    row_names : ndarray of shape (n_cases,) or None
        The names of the training rows; None where they are not known, and for prototypes.
    prototypes : bool
        Whether prototypes vote, which are no rows of a table.
    shares : ndarray of shape (n, m, n_outputs) or None
        What each adds to the score of each class, or to the single predicted number; None where cases vote.
    base : ndarray of shape (n_outputs,) or None
        The scores, or the number, without any case; zero if None.
    """

    cases: Array
    labels: NDArray[Any]
    indices: Indices
    sq_distances: Array
    votes: Array
    classes: NDArray[Any]
    row_names: NDArray[Any] | None = None
    prototypes: bool = False
    shares: Array | None = None
    base: Array | None = None

    @property
    def kind(self) -> Literal["row", "case", "prototype"]:
        """What is behind predictions: rows that have names, training cases without a name, or prototypes."""
        if self.prototypes:
            return "prototype"
        return "case" if self.row_names is None else "row"

    def names(self, numbers: Indices) -> NDArray[Any]:
        """Return the names of those with these places; without names they are numbered from 1."""
        return numbers + 1 if self.row_names is None else self.row_names[numbers]

    def support(self) -> Array:
        """Return the votes, or ``base`` and the shares, summed by class: of shape (n, n_classes), or (n, 1) of numbers.

        A predicted class is that of largest support.
        """
        if self.shares is not None:
            return self.shares.sum(axis=1) + (0.0 if self.base is None else self.base)
        if self.indices.size < len(self.labels):  # look up the classes of the fewer: of the votes, or of all cases
            codes = np.searchsorted(self.classes, self.labels[self.indices])
        else:
            codes = np.searchsorted(self.classes, self.labels)[self.indices]
        return votes_by_class(codes, self.votes, len(self.classes))


def votes_by_class(codes: Indices, votes: Array, n_classes: int) -> Array:
    """Return the votes of each row summed by class, of shape (n, n_classes); ``codes`` has the class of each vote."""
    totals = np.zeros((len(codes), n_classes))
    np.add.at(totals, (np.arange(len(codes))[:, None], codes), votes)
    return totals
