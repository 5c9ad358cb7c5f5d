"""Kernel ridge models with held-out predictions in closed form: refitting without a feature takes milliseconds.

Kernels of few dimensions are written out as features: a linear kernel has a dimension for each column, a quadratic one
also for each pair. Where these are few beside the rows, factors of their small matrix of products suffice, which take
a fraction of the time of a kernel matrix. The routines of LAPACK are those of SciPy, called through `ctypes`, which
gives Python's lock back, so that several threads factor at once; SciPy's own functions hold it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping, Sequence
from ctypes import addressof
from dataclasses import dataclass
from functools import cache
from operator import itemgetter
from typing import Any, TypeVar

import numpy as np
from numba.extending import get_cython_function_address
from scipy.linalg import solve

from whynear.data.rows import RowSplit
from whynear.utils.arrays import Array, Indices
from whynear.utils.threads import run_in_chunks
from whynear.verdict.table import FeatureColumns, RowLosses, Target, best_of

KERNELS = ("linear", "quadratic", "gaussian", "narrow gaussian")
# Times the mean eigenvalue; spectra need small ones, since what tells them apart is a small part of their variance.
RIDGES = 10.0 ** np.array([-8.0, -7.0, -6.0, -5.0, -4.0, -3.0, -2.5, -2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2, 2.5, 3])
LEAST_LEFT = 1e-9  # of a row's own residual
FEW = 0.5  # dimensions for each row, from which on the kernel matrix is as fast
SMALL = 80  # rows of a triangular matrix that LAPACK inverts

Item = TypeVar("Item")
Result = TypeVar("Result")


class KernelModels:
    """Kernel ridge models of a table; those near the best of them are refitted when features are left out.

    Every kernel of ``names`` is fitted, or those of ``ridges`` at their given ridges. ``full`` has the losses of each
    with all features; ``by_loss`` are the kernels, that of least loss first; ``near`` are those within a standard error
    of it, and ``settled`` are these with their ridges.
    """

    def __init__(
        self,
        columns: FeatureColumns,
        target: Target,
        names: Sequence[str] = KERNELS,
        ridges: Mapping[str, float] | None = None,
    ) -> None:
        self.columns, self.target = columns, target
        self.products = columns.values @ columns.values.T
        self.full: dict[str, RowLosses] = {}
        self.ridges: dict[str, float] = {}
        for name in names if ridges is None else ridges:
            ridge = None if ridges is None else ridges[name]
            found = held_out(name, columns.values, lambda: self.products, columns.n_features, target, ridge)
            self.full[name], self.ridges[name] = target.losses(found.predicted), found.ridge
        self.by_loss = sorted(self.full, key=lambda name: float(self.full[name].loss.mean()))
        self.best = self.full[self.by_loss[0]]
        excess = {name: target.mean_and_error(one.loss - self.best.loss) for name, one in self.full.items()}
        self.near = [name for name, (mean, error) in excess.items() if mean <= error + 1e-12]
        self.settled = {name: self.ridges[name] for name in self.near}

    def without(self, features: Sequence[int] | Indices, *, tune: bool = False) -> RowLosses:
        """Return the losses of the best of the kernels near the best, without these features."""
        own, rest = self.columns.of(features), self.columns.of(np.setdiff1d(self.columns.owners, features))
        ridges = {name: None if tune else self.ridges[name] for name in self.near}
        n_features = self.columns.n_features - len(features)
        return self._best_of(rest, lambda: self.products - own @ own.T, n_features, ridges)

    def with_only(self, features: Sequence[int] | Indices, ridges: Mapping[str, float] | None = None) -> RowLosses:
        """Return the losses of the best kernel with these features alone; of those with given ridges only."""
        own = self.columns.of(features)
        return self._best_of(own, lambda: own @ own.T, len(features), ridges or dict.fromkeys(self.full))

    def _best_of(
        self, values: Array, products: Callable[[], Array], n_features: int, ridges: Mapping[str, float | None]
    ) -> RowLosses:
        """Return the losses of the best of kernels, each at its ridge or at the best one."""
        found = [held_out(name, values, products, n_features, self.target, ridge) for name, ridge in ridges.items()]
        return best_of(self.target.losses(one.predicted) for one in found)


def held_out(
    name: str, values: Array, products: Callable[[], Array], n_features: int, target: Target, ridge: float | None
) -> HeldOut:
    """Predict held-out rows by one kernel of some columns, at a ridge or at the best one.

    ``products`` makes the products of the rows, for kernels that cannot be written out as few features.
    """
    alone = target.forward is None and not target.grouped
    features = mapped(name, values, n_features) if alone else None
    if features is not None:
        return tuned_features(features, target.Y) if ridge is None else features_at_ridge(features, target.Y, ridge)
    K = kernel(name, products(), n_features)
    if ridge is None:
        return tuned(K, target.Y, target.groups, target.forward)
    return at_ridge(K, target.Y, target.groups, ridge, target.forward)


def predict(name: str, ridge: float, known: Array, Y: Array, new: Array, n_features: int) -> Array:
    """Learn from the columns and targets of known rows by one kernel, and predict the targets of new rows."""
    features = mapped(name, known, n_features)
    if features is None:
        return predict_by_kernel(name, ridge, known, Y, new, n_features)
    return predict_by_features(features, Y, written_out(name, new, n_features), ridge)


def kernel(name: str, products: Array, n_features: int) -> Array:
    """Return the centred kernel of rows whose products of standardised features are given."""
    own = np.diagonal(products)
    made = _raw(name, products, own, own, n_features)
    means = made.mean(axis=0)
    made -= means
    made -= (means - means.mean())[:, None]
    return made


def _raw(name: str, products: Array, first: Array, second: Array, n_features: int) -> Array:
    d = max(1, n_features)
    if name == "linear":
        return products.copy()
    if name == "quadratic":
        made = products / d
        made += 1.0
        return np.asarray(np.square(made, out=made))
    width = (2.0 if name == "gaussian" else 0.6) * d
    made = products * (2 / width)  # in place from here on: the passes over memory take longer than the exponentials
    made -= (first / width)[:, None]
    made -= second / width
    np.minimum(made, 0.0, out=made)
    return np.asarray(np.exp(made, out=made))


def predict_by_kernel(name: str, ridge: float, known: Array, Y: Array, new: Array, n_features: int) -> Array:
    """Return `predict` by the kernel matrix."""
    own, others = np.square(known).sum(axis=1), np.square(new).sum(axis=1)
    raw = _raw(name, known @ known.T, own, own, n_features)
    means = raw.mean(axis=0)
    K = raw - means - means[:, None] + means.mean()
    weight = ridge * max(float(np.trace(K)) / len(K), 1e-9)
    mean = Y.mean(axis=0)
    dual = solve(K + weight * np.eye(len(K)), Y - mean, assume_a="pos", check_finite=False)
    cross = _raw(name, new @ known.T, others, own, n_features)
    cross = cross - cross.mean(axis=1, keepdims=True) - means + means.mean()
    return np.asarray(mean + cross @ dual)


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Predictions of every row by a model fitted without its group and later rows, and the ridge of the model."""

    predicted: Array
    ridge: float


def tuned(K: Array, Y: Array, groups: Indices, forward: Sequence[RowSplit] | None = None) -> HeldOut:
    """Predict held-out rows at the ridge of least squared error."""
    if forward is not None:
        return _later_rows(K, Y, forward, RIDGES)
    n, mean = len(K), Y.mean(axis=0)
    scale = _with_constant(K)
    values, vectors = eigen(K)
    values = np.maximum(values, 0.0)
    turned, squares, alone = vectors.T @ (Y - mean), np.square(vectors), _all_alone(groups)

    def at_each() -> Iterator[tuple[float, HeldOut]]:
        for ridge in RIDGES:
            lost, constant = ridge * scale / (values + ridge * scale), ridge / (1 + ridge) / n
            residuals = vectors @ (lost[:, None] * turned)
            if alone:
                left = squares @ lost - constant
                predicted = Y - residuals / np.maximum(left, LEAST_LEFT)[:, None]
            else:
                predicted = Y - _by_group(residuals, (vectors * lost) @ vectors.T - constant, groups)
            yield float(np.square(Y - predicted).mean()), HeldOut(predicted, float(ridge))

    return min(at_each(), key=itemgetter(0))[1]


def at_ridge(K: Array, Y: Array, groups: Indices, ridge: float, forward: Sequence[RowSplit] | None = None) -> HeldOut:
    """Predict held-out rows at a given ridge, several times as fast."""
    if forward is not None:
        return _later_rows(K, Y, forward, [ridge])
    n, mean = len(K), Y.mean(axis=0)
    weight, constant = ridge * _with_constant(K), ridge / (1 + ridge) / n
    K[np.diag_indices(n)] += weight
    half = inverse_factor(K)  # the inverse of K is half^T half
    residuals = weight * (half.T @ (half @ (Y - mean)))
    if _all_alone(groups):
        left = weight * np.einsum("ij,ij->j", half, half) - constant
        return HeldOut(Y - residuals / np.maximum(left, LEAST_LEFT)[:, None], ridge)
    return HeldOut(Y - _by_group(residuals, weight * (half.T @ half) - constant, groups), ridge)


def _later_rows(K: Array, Y: Array, forward: Sequence[RowSplit], ridges: Sequence[float] | Array) -> HeldOut:
    """Learn from the rows before each part and predict it, at the ridge of least squared error over all parts.

    The mean of the rows learned from is taken for those that are never held out. Time O(n^3) for all parts together.
    """
    scale = _with_constant(K)
    predicted = np.tile(Y[forward[0][0]].mean(axis=0), (len(ridges), len(K), 1))
    for train, test in forward:
        mean = Y[train].mean(axis=0)
        known, cross, away = K[np.ix_(train, train)], K[np.ix_(test, train)], Y[train] - mean
        if len(ridges) == 1:
            known[np.diag_indices(len(train))] += ridges[0] * scale
            predicted[0, test] = mean + cross @ solve(known, away, assume_a="pos", check_finite=False)
            continue
        values, vectors = eigen(known)
        turned, seen = vectors.T @ away, cross @ vectors
        for place, ridge in enumerate(ridges):
            predicted[place, test] = mean + seen @ (turned / (np.maximum(values, 0.0) + ridge * scale)[:, None])
    rows = np.concatenate([test for _, test in forward])
    best = int(np.square(predicted[:, rows] - Y[rows]).mean(axis=(1, 2)).argmin())
    return HeldOut(predicted[best], float(ridges[best]))


def _with_constant(K: Array) -> float:
    """Return the mean eigenvalue of a centred kernel, and give it to the constant direction, in place.

    Without it that direction has the eigenvalue zero, and at small ridges its rounding errors hide what is left of a
    row's own residual.
    """
    scale = max(float(np.trace(K)) / len(K), 1e-9)  # columns that do not vary make a kernel of zeros
    K += scale / len(K)
    return scale


def _all_alone(groups: Indices) -> bool:
    return int(groups.max(initial=-1)) + 1 == len(groups)


def _by_group(residuals: Array, left: Array, groups: Indices) -> Array:
    """Return the residuals of rows whose whole group is held out, from the parts of residuals that are left."""
    held_out = np.empty_like(residuals)
    for group in range(int(groups.max()) + 1):
        mine = np.flatnonzero(groups == group)
        own = left[np.ix_(mine, mine)]
        own[np.diag_indices(len(mine))] = np.maximum(np.diag(own), LEAST_LEFT)
        held_out[mine] = np.linalg.lstsq(own, residuals[mine], rcond=1e-6)[0]
    return held_out


def mapped(name: str, values: Array, n_features: int) -> Array | None:
    """Return columns whose products are those of a kernel, but for a constant; None where they would be many."""
    n, width = values.shape
    dimensions = {"linear": width, "quadratic": width * (width + 3) / 2}
    return written_out(name, values, n_features) if 0 < dimensions.get(name, 0) <= FEW * n else None


def written_out(name: str, values: Array, n_features: int) -> Array:
    """Return the same for any number of rows."""
    if name == "linear":
        return values
    d = max(1, n_features)
    first, second = np.triu_indices(values.shape[1], 1)
    pairs = values[:, first] * values[:, second]
    return np.hstack([np.sqrt(2 / d) * values, np.square(values) / d, np.sqrt(2) / d * pairs])


def tuned_features(features: Array, Y: Array) -> HeldOut:
    """Return `tuned` for a kernel written out as features, with rows held out one by one."""
    F, away, scale = _centred(features, Y)
    values, vectors = eigen(F.T @ F)
    turned = F @ vectors
    squares, products = np.square(turned), turned.T @ away

    def at_each() -> Iterator[tuple[float, HeldOut]]:
        for ridge in RIDGES:
            weights = 1 / (np.maximum(values, 0.0) + ridge * scale)
            left = _left(squares @ weights)
            off = (away - turned @ (weights[:, None] * products)) / left[:, None]
            yield float(np.square(off).mean()), HeldOut(Y - off, float(ridge))

    return min(at_each(), key=itemgetter(0))[1]


def features_at_ridge(features: Array, Y: Array, ridge: float) -> HeldOut:
    """Return `at_ridge` for a kernel written out as features, with rows held out one by one."""
    F, away, scale = _centred(features, Y)
    turned = F @ _half(F, ridge * scale).T
    left = _left(np.einsum("ij,ij->i", turned, turned))
    return HeldOut(Y - (away - turned @ (turned.T @ away)) / left[:, None], ridge)


def predict_by_features(features: Array, Y: Array, new: Array, ridge: float) -> Array:
    """Return `predict` by a kernel written out as features, for known rows and for new ones."""
    F, away, scale = _centred(features, Y)
    half = _half(F, ridge * scale)
    return np.asarray(Y.mean(axis=0) + (new - features.mean(axis=0)) @ (half.T @ (half @ (F.T @ away))))


def _centred(features: Array, Y: Array) -> tuple[Array, Array, float]:
    """Return centred features and targets, and the mean eigenvalue of the kernel."""
    F = features - features.mean(axis=0)
    return F, Y - Y.mean(axis=0), max(float(np.square(F).sum()) / len(F), 1e-9)


def _half(F: Array, weight: float) -> Array:
    """Return H for which H^T H is the inverse of the products of the features, with a weight on their diagonal."""
    products = F.T @ F
    products[np.diag_indices(len(products))] += weight
    return inverse_factor(products)


def _left(leverage: Array) -> Array:
    """Return what is left of each row's own residual, beside the constant that every model has."""
    return np.maximum(1 - 1 / len(leverage) - leverage, LEAST_LEFT)


def on_threads(work: Callable[[Item], Result], items: Sequence[Item], n_jobs: int | None = None) -> list[Result]:
    """Return the result of some work for each item, done on threads."""
    found: dict[int, Result] = {}

    def some(first: int, last: int) -> None:
        found.update((place, work(items[place])) for place in range(first, last))

    run_in_chunks(some, len(items), 1, n_jobs)
    return [found[place] for place in range(len(items))]


def inverse_factor(K: Array) -> Array:
    """Return the inverse H of the lower Cholesky factor of a positive definite matrix, whose inverse is H^T H.

    The matrix is overwritten. Time O(n^3).
    """
    n, info = ctypes.c_int(len(K)), ctypes.c_int()
    K = np.ascontiguousarray(K)  # symmetric: by columns, as LAPACK reads it, it is the same
    _routine("dpotrf", 5)(b"L", addressof(n), K.ctypes.data, addressof(n), addressof(info))
    if info.value:
        raise ArithmeticError("The kernel is not positive definite.")
    inverse = np.zeros_like(K)
    _invert_upper(K, inverse)
    return inverse.T


def _invert_upper(U: Array, inverse: Array) -> None:
    """Write the inverse of an upper triangular matrix into a matrix of zeros; what is below its diagonal is not read.

    By halves, so that most of the work is products of matrices, which are faster than LAPACK's own routine.
    """
    n = len(U)
    if n <= SMALL:
        rows, size, info = np.triu(U), ctypes.c_int(n), ctypes.c_int()
        _routine("dtrtri", 6)(b"L", b"N", addressof(size), rows.ctypes.data, addressof(size), addressof(info))
        inverse[...] = rows
        return
    half = n // 2
    first, last = inverse[:half, :half], inverse[half:, half:]
    _invert_upper(U[:half, :half], first)
    _invert_upper(U[half:, half:], last)
    inverse[:half, half:] = -(first @ (U[:half, half:] @ last))


def eigen(K: Array) -> tuple[Array, Array]:
    """Return the eigenvalues of a symmetric matrix in ascending order, and its eigenvectors as columns.

    The matrix is overwritten. Time O(n^3).
    """
    K = np.ascontiguousarray(K)
    values, info, n = np.empty(len(K)), ctypes.c_int(), ctypes.c_int(len(K))
    # What "divide and conquer" needs for all vectors, from the documentation of dsyevd.
    work, whole = np.empty(1 + 6 * len(K) + 2 * len(K) ** 2), np.empty(3 + 5 * len(K), dtype=np.intc)
    sizes = ctypes.c_int(len(work)), ctypes.c_int(len(whole))
    _routine("dsyevd", 11)(
        b"V", b"L", addressof(n), K.ctypes.data, addressof(n), values.ctypes.data,
        work.ctypes.data, addressof(sizes[0]), whole.ctypes.data, addressof(sizes[1]), addressof(info),
    )  # fmt: skip
    if info.value:
        raise ArithmeticError("The eigenvalues of the kernel were not found.")
    return values, K.T


@cache
def _routine(name: str, n_arguments: int) -> Any:
    address = get_cython_function_address("scipy.linalg.cython_lapack", name)
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * n_arguments)(address)
