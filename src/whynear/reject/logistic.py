"""Logistic regression with an intercept for each class, and penalties."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from whynear.utils.arrays import Array, Indices

MOST_STEPS = 100
MOST_HALVINGS = 30
TOLERANCE = 1e-9


def fit_logistic(
    Z: Array, right: NDArray[np.bool_], penalties: Array, codes: Indices, n_classes: int, class_penalty: float
) -> tuple[Array, Array]:
    r"""Return the coefficients w and intercepts b that minimise the penalised log loss of the odds o = Z w + b_code.

    .. math:: \sum_i \log(1 + e^{o_i}) - t_i o_i + \tfrac12 \sum_j p_j w_j^2 + \tfrac12 q \sum_c b_c^2

    The targets t are smoothed as in Platt's method, (n+ + 1) / (n+ + 2) and 1 / (n- + 2), so that w is finite where all
    cases are right. Newton's method with halved steps; the intercepts, whose curvature is diagonal, are eliminated.
    Time O(n m^2 + C m^2) for a step, m coefficients and C classes.
    """
    n_right = np.count_nonzero(right)
    targets = np.where(right, (n_right + 1) / (n_right + 2), 1 / (len(right) - n_right + 2))

    def loss(w: Array, b: Array) -> float:
        odds = Z @ w + b[codes]
        penalty = penalties @ np.square(w) + class_penalty * np.square(b).sum()
        return float(np.logaddexp(0.0, odds).sum() - targets @ odds + penalty / 2)

    w, b = np.zeros(Z.shape[1]), np.zeros(n_classes)
    value = loss(w, b)
    for _ in range(MOST_STEPS):
        of_w, of_b = _newton_step(w, b, Z, targets, penalties, codes, class_penalty)
        for halving in range(MOST_HALVINGS):
            moved = w - of_w / 2**halving, b - of_b / 2**halving
            moved_value = loss(*moved)
            if moved_value <= value:
                break
        else:
            break
        done = value - moved_value <= TOLERANCE * (1 + abs(value))
        (w, b), value = moved, moved_value
        if done:
            break
    return w, b


def _newton_step(
    w: Array, b: Array, Z: Array, targets: Array, penalties: Array, codes: Indices, class_penalty: float
) -> tuple[Array, Array]:
    """Return the steps of w and b: for the curvature ((A, B), (B', D)), D diagonal, by the complement A - B D^-1 B'."""
    shares = expit(Z @ w + b[codes])
    curved = shares * (1 - shares)
    by_w = Z.T @ (shares - targets) + penalties * w
    by_b = np.bincount(codes, shares - targets, len(b)) + class_penalty * b
    A = (Z * curved[:, None]).T @ Z + np.diag(penalties)
    B = np.array([np.bincount(codes, curved * column, len(b)) for column in Z.T])
    D = np.bincount(codes, curved, len(b)) + class_penalty
    of_w = np.linalg.solve(A - (B / D) @ B.T, by_w - (B / D) @ by_b)
    return of_w, (by_b - B.T @ of_w) / D
