"""Kernels of few dimensions, written out as features: refitting takes a fraction of the time of a kernel matrix.

A linear kernel has a dimension for each column, a quadratic one also for each pair. Where these are few beside the
rows, held-out predictions need factors of their small matrix of products only. They are those of `kernel_ridge` for
rows held out one by one.
"""

from __future__ import annotations

import numpy as np

from whynear.utils.arrays import Array
from whynear.verdict.kernel_ridge import LEAST_LEFT, RIDGES, HeldOut
from whynear.verdict.lapack import eigen, inverse_factor

FEW = 0.5  # dimensions for each row, from which on the kernel matrix is as fast


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


def tuned(features: Array, Y: Array) -> HeldOut:
    """Predict held-out rows at the ridge of least squared error."""
    F, away, scale = _centred(features, Y)
    values, vectors = eigen(F.T @ F)
    turned = F @ vectors
    squares, products = np.square(turned), turned.T @ away
    best: tuple[float, HeldOut] | None = None
    for ridge in RIDGES:
        weights = 1 / (np.maximum(values, 0.0) + ridge * scale)
        left = _left(squares @ weights)
        off = (away - turned @ (weights[:, None] * products)) / left[:, None]
        error = float(np.square(off).mean())
        if best is None or error < best[0]:
            best = error, HeldOut(Y - off, float(ridge))
    assert best is not None
    return best[1]


def at_ridge(features: Array, Y: Array, ridge: float) -> HeldOut:
    """Predict held-out rows at a given ridge."""
    F, away, scale = _centred(features, Y)
    turned = F @ _half(F, ridge * scale).T
    left = _left(np.einsum("ij,ij->i", turned, turned))
    return HeldOut(Y - (away - turned @ (turned.T @ away)) / left[:, None], ridge)


def predict(features: Array, Y: Array, new: Array, ridge: float) -> Array:
    """Learn from the features and targets of known rows, and predict the targets of new rows."""
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
