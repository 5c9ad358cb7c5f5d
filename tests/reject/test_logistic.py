import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from whynear.reject.certainty import fit_logistic


def cases(n=120, m=4, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    Z = np.column_stack([np.ones(n), rng.normal(size=(n, m - 1))])
    codes = rng.integers(n_classes, size=n)
    odds = Z @ np.linspace(1, -1, m) + codes
    return Z, rng.random(n) < 1 / (1 + np.exp(-odds)), codes


def slow(Z, right, penalties, codes, n_classes, class_penalty):
    """All coefficients at once, with a column for each class."""
    Z = np.column_stack([Z, np.eye(n_classes)[codes]])
    penalties = np.concatenate([penalties, np.full(n_classes, class_penalty)])
    n_right = right.sum()
    targets = np.where(right, (n_right + 1) / (n_right + 2), 1 / ((~right).sum() + 2))

    def loss(w):
        shares = 1 / (1 + np.exp(-Z @ w))
        cross = targets * np.log(shares) + (1 - targets) * np.log(1 - shares)
        return -cross.sum() + (penalties * w**2).sum() / 2

    found = minimize(loss, np.zeros(Z.shape[1]), tol=1e-12).x
    return found[:-n_classes], found[-n_classes:]


@pytest.mark.parametrize("seed", range(3))
def test_it_minimises_the_loss(seed):
    Z, right, codes = cases(seed=seed)
    given = Z, right, np.array([1e-3, 1.0, 2.0, 5.0]), codes, 4, 5.0  # one class has no case
    for found, expected in zip(fit_logistic(*given), slow(*given), strict=True):
        assert_allclose(found, expected, atol=1e-4)


def test_a_large_penalty_holds_coefficients_at_zero():
    Z, right, codes = cases()
    w, b = fit_logistic(Z, right, np.array([1e-6, 1e9, 1.0, 1.0]), codes, 3, 1e9)
    assert abs(w[1]) < 1e-6 < abs(w[3])
    assert np.abs(b).max() < 1e-6


@pytest.mark.parametrize("right", [np.ones(50, dtype=bool), np.zeros(50, dtype=bool), np.arange(50) > 24])
def test_separable_cases_give_finite_coefficients(right):
    Z = np.column_stack([np.ones(50), np.arange(50.0) * 1e3])
    w, b = fit_logistic(Z, right, np.array([1e-6, 1e-6]), np.zeros(50, dtype=int), 1, 5.0)
    assert np.isfinite(w).all()
    shares = 1 / (1 + np.exp(-(Z @ w + b[0])))
    assert ((shares > 0.5) == right).mean() > 0.9
