"""Kernel ridge regression with held-out predictions in closed form: refitting without a feature in milliseconds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh, solve
from scipy.linalg.lapack import dpotrf, dpotri

from whynear.utils.arrays import Array, Indices

KERNELS = ("linear", "quadratic", "gaussian", "narrow gaussian")
RIDGES = 10.0 ** np.arange(-2.5, 3.1, 0.5)  # times the mean eigenvalue
LEAST_LEFT = 1e-3  # of a row's own residual


def kernel(name: str, products: Array, n_features: int) -> Array:
    """Return the centred kernel of rows whose products of standardised features are given."""
    made = _raw(name, products, np.diag(products), np.diag(products), n_features)
    means = made.mean(axis=0)
    return made - means - means[:, None] + means.mean()


def _raw(name: str, products: Array, first: Array, second: Array, n_features: int) -> Array:
    """Return the kernel of two sets of rows with their products and their own squared lengths."""
    d = max(1, n_features)
    if name == "linear":
        return products
    if name == "quadratic":
        return np.asarray(np.square(1 + products / d))
    apart = np.maximum(first[:, None] + second[None, :] - 2 * products, 0.0)
    return np.asarray(np.exp(-apart / ((2.0 if name == "gaussian" else 0.6) * d)))


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
    """Predictions of every row by a model that did not see its group, and the ridge of the model."""

    predicted: Array
    ridge: float


def tuned(K: Array, Y: Array, groups: Indices) -> HeldOut:
    """Predict held-out rows at the ridge of least squared error."""
    n, mean = len(K), Y.mean(axis=0)
    values, vectors = eigh(K, check_finite=False, driver="evd", overwrite_a=True)
    values = np.maximum(values, 0.0)
    scale = max(float(values.mean()), 1e-9)  # columns that do not vary make a kernel of zeros
    turned, squares = vectors.T @ (Y - mean), np.square(vectors)
    best: tuple[float, HeldOut] | None = None
    for ridge in RIDGES:
        kept = values / (values + ridge * scale)
        residuals = (Y - mean) - vectors @ (kept[:, None] * turned)
        if _all_alone(groups):
            left = 1 - squares @ kept - 1 / n
            predicted = Y - residuals / np.maximum(left, LEAST_LEFT)[:, None]
        else:
            predicted = Y - _by_group(residuals, (vectors * kept) @ vectors.T + 1 / n, groups)
        error = float(np.square(Y - predicted).mean())
        if best is None or error < best[0]:
            best = error, HeldOut(predicted, float(ridge))
    assert best is not None
    return best[1]


def at_ridge(K: Array, Y: Array, groups: Indices, ridge: float) -> HeldOut:
    """Predict held-out rows at a given ridge, several times as fast."""
    n, mean = len(K), Y.mean(axis=0)
    weight = ridge * max(float(np.trace(K)) / n, 1e-9)  # columns that do not vary make a kernel of zeros
    K[np.diag_indices(n)] += weight
    factor, failed = dpotrf(K, lower=1, overwrite_a=1)
    if failed:
        raise ArithmeticError("The kernel is not positive definite.")
    inverse, _ = dpotri(factor, lower=1, overwrite_c=1)
    inverse = np.tril(inverse) + np.tril(inverse, -1).T
    residuals = weight * (inverse @ (Y - mean))
    if _all_alone(groups):
        left = weight * np.diag(inverse) - 1 / n
        return HeldOut(Y - residuals / np.maximum(left, LEAST_LEFT)[:, None], ridge)
    return HeldOut(Y - _by_group(residuals, np.eye(n) - weight * inverse + 1 / n, groups), ridge)


def _all_alone(groups: Indices) -> bool:
    return int(groups.max(initial=-1)) + 1 == len(groups)


def _by_group(residuals: Array, hat: Array, groups: Indices) -> Array:
    """Return the residuals of rows whose whole group is held out."""
    held_out = np.empty_like(residuals)
    for group in range(int(groups.max()) + 1):
        mine = np.flatnonzero(groups == group)
        left = np.eye(len(mine)) - hat[np.ix_(mine, mine)]
        left[np.diag_indices(len(mine))] = np.maximum(np.diag(left), LEAST_LEFT)
        held_out[mine] = np.linalg.lstsq(left, residuals[mine], rcond=1e-6)[0]
    return held_out
