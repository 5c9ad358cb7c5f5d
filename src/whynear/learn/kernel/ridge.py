r"""Kernel ridge regression with a free constant, and its exact leave-one-out predictions.

With rows of weights w the model :math:`f(x) = c + \sum_i \alpha_i K(x, x_i)` has the least
:math:`\sum_i w_i (y_i - f(x_i))^2 + \lambda \alpha^T K \alpha`. So :math:`(K + \lambda W^{-1}) \alpha = y - c` with
:math:`\sum_i \alpha_i = 0`, and the residual of a row that is left out is :math:`\alpha_i / (C^{-1})_{ii}`, where C is
the matrix of this system.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import get_lapack_funcs

from whynear.data.rows import RowSplit
from whynear.learn.kernel.matrices import Floats, mirrored
from whynear.utils.arrays import Indices
from whynear.utils.threads import one_blas_thread


@dataclass(frozen=True, eq=False)
class Ridge:
    """A fitted model: its coefficients (n, c), its constants (c,), and the predictions of held-out rows (n, c).

    ``sums`` and ``diagonal`` are the sums of the rows of the inverse of K and the ridge, and its diagonal.
    """

    alpha: Floats
    constant: Floats
    held_out: Floats
    sums: Floats
    diagonal: Floats

    def predict(self, K: Floats) -> Floats:
        """Return the predictions of rows by their kernel with the training rows."""
        return K @ self.alpha + self.constant


def fit_ridge(K: Floats, Y: Floats, ridge: float, weights: Floats, groups: Indices | None = None) -> Ridge | None:
    """Fit a model to the kernel K of rows, which is not changed; None if K and the ridge have no Cholesky factor.

    Time O(n^3): n^3 / 3 multiplications for the factor and 2 n^3 / 3 for the diagonal of the inverse. With ``groups``,
    all rows of a group are left out together.
    """
    with one_blas_thread(K.size):
        return _fitted(K, Y, ridge, weights, groups)


def _fitted(K: Floats, Y: Floats, ridge: float, weights: Floats, groups: Indices | None) -> Ridge | None:
    n, k = Y.shape
    system = np.array(K.T, order="F")  # the same, as K is symmetric; its upper triangle is the lower one of C order
    system[np.diag_indices(n)] += np.asarray(ridge / weights, K.dtype)
    factored, solved_by, inverted = get_lapack_funcs(("potrf", "potrs", "potri"), (system,))
    factor, failed = factored(system, lower=0, overwrite_a=1, clean=0)
    if failed:
        return None
    solved, _ = solved_by(factor, np.column_stack([Y, np.ones(n, K.dtype)]), lower=0)
    values, sums = solved[:, :k], solved[:, k]
    total = sums.sum()
    constant = values.sum(axis=0) / total
    alpha = values - sums[:, None] * constant
    inverse, _ = inverted(factor, lower=0, overwrite_c=1)
    diagonal = np.diagonal(inverse).copy()
    if groups is None:
        off = alpha / (diagonal - np.square(sums) / total)[:, None]
    else:
        mirrored(inverse.T)
        off = np.empty_like(alpha)
        for group in np.unique(groups):
            mine = np.flatnonzero(groups == group)
            own = inverse[np.ix_(mine, mine)] - np.outer(sums[mine], sums[mine]) / total
            off[mine] = np.linalg.solve(own, alpha[mine])
    return Ridge(alpha, constant, Y - off, sums, diagonal)


def mean_squares(off: Floats, weights: NDArray[np.float64]) -> float:
    """Return the weighted mean of squares summed over the outputs.

    >>> mean_squares(np.array([[1.0, 1.0], [0.0, 2.0]]), np.array([3.0, 1.0]))
    2.5
    """
    return float(weights @ np.square(off).sum(axis=1, dtype=np.float64) / weights.sum())


def fit_forward(K: Floats, Y: Floats, ridge: float, weights: Floats, forward: Sequence[RowSplit]) -> Ridge | None:
    """Fit a model to all rows; its held-out predictions are those of later rows by models of all rows before them.

    The rows that are never held out have the mean of the rows that the first part is learned from.
    """
    model = fit_ridge(K, Y, ridge, weights)
    first = forward[0][0]
    held_out = np.tile(np.average(Y[first], axis=0, weights=weights[first]).astype(Y.dtype), (len(Y), 1))
    for train, test in forward:
        before = fit_ridge(K[np.ix_(train, train)], Y[train], ridge, weights[train])
        if model is None or before is None:
            return None
        held_out[test] = before.predict(K[np.ix_(test, train)])
    return None if model is None else replace(model, held_out=held_out)
