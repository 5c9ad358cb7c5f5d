"""Kernel ridge regression with held-out predictions in closed form: refitting without a feature in milliseconds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve

from whynear.utils.arrays import Array, Indices
from whynear.utils.row_order import RowSplit
from whynear.verdict.lapack import eigen, inverse_factor

KERNELS = ("linear", "quadratic", "gaussian", "narrow gaussian")
# Times the mean eigenvalue; spectra need small ones, since what tells them apart is a small part of their variance.
RIDGES = 10.0 ** np.array([-8.0, -7.0, -6.0, -5.0, -4.0, -3.0, -2.5, -2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2, 2.5, 3])
LEAST_LEFT = 1e-9  # of a row's own residual


def kernel(name: str, products: Array, n_features: int) -> Array:
    """Return the centred kernel of rows whose products of standardised features are given."""
    own = np.diagonal(products)
    made = _raw(name, products, own, own, n_features)
    means = made.mean(axis=0)
    made -= means
    made -= (means - means.mean())[:, None]
    return made


def _raw(name: str, products: Array, first: Array, second: Array, n_features: int) -> Array:
    """Return the kernel of two sets of rows with their products and their own squared lengths."""
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


def predict(name: str, ridge: float, known: Array, Y: Array, new: Array, n_features: int) -> Array:
    """Learn from the columns and targets of known rows, and predict the targets of new rows."""
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
    """Predictions of every row by a model that saw neither its group nor later rows, and the ridge of the model."""

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
    turned, squares = vectors.T @ (Y - mean), np.square(vectors)
    best: tuple[float, HeldOut] | None = None
    for ridge in RIDGES:
        lost, constant = ridge * scale / (values + ridge * scale), ridge / (1 + ridge) / n
        residuals = vectors @ (lost[:, None] * turned)
        if _all_alone(groups):
            left = squares @ lost - constant
            predicted = Y - residuals / np.maximum(left, LEAST_LEFT)[:, None]
        else:
            predicted = Y - _by_group(residuals, (vectors * lost) @ vectors.T - constant, groups)
        error = float(np.square(Y - predicted).mean())
        if best is None or error < best[0]:
            best = error, HeldOut(predicted, float(ridge))
    assert best is not None
    return best[1]


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
