"""Tables with useless columns, and the full loss of LMNN on them."""

import numpy as np

from whynear.learn.lmnn.objective import Margins, impostor_pairs, loss_grad, target_neighbors


def sorted_problem(X, codes, k=3, weights=None, **settings):
    order = np.argsort(codes, kind="stable")
    weights = np.ones(len(X)) if weights is None else weights[order]
    X, codes = X[order], codes[order]
    class_ends = np.cumsum(np.bincount(codes))[codes].astype(np.int32)
    return Margins(X, class_ends, target_neighbors(X, codes, k), weights, **settings)


def noisy(n=300, d=12, seed=0):
    """Two features that separate three classes among many useless ones that vary more."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % 3
    X = 3.0 * rng.standard_normal((n, d))
    X[:, :2] = 0.5 * rng.standard_normal((n, 2)) + np.array([[0, 0], [2, 0], [0, 2]])[codes]
    return X, codes


def full_loss(omega, problem):
    return loss_grad(omega, problem, impostor_pairs(omega, problem))[0]
