import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import polynomial_kernel

from whynear.utils.row_order import TimeOrder, forward_splits
from whynear.verdict.kernel_ridge import KERNELS, RIDGES, at_ridge, kernel, predict, tuned

ALONE, PAIRS = np.arange(30), np.arange(30) // 2


def table(n=30, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.column_stack([X[:, 0] + rng.normal(0, 0.5, n), X[:, 1] * X[:, 2]])


def written_out(name, X, Z):
    d = X.shape[1]
    if name == "linear":
        return X @ Z.T
    if name == "quadratic":
        return polynomial_kernel(X, Z, degree=2, gamma=1 / d, coef0=1)
    return RBF(np.sqrt((1.0 if name == "gaussian" else 0.3) * d))(X, Z)


def centred(K):
    C = np.eye(len(K)) - 1 / len(K)
    return C @ K @ C


def refitted(name, X, Y, groups, weight):
    """Held-out predictions by as many fits with an intercept as there are groups, each a dense system."""
    held_out = np.empty_like(Y)
    for group in np.unique(groups):
        train, test = groups != group, groups == group
        K, ones = written_out(name, X[train], X[train]), np.ones((train.sum(), 1))
        system = np.block([[K + weight * np.eye(len(K)), ones], [ones.T, np.zeros((1, 1))]])
        solved = np.linalg.solve(system, np.vstack([Y[train], np.zeros((1, Y.shape[1]))]))
        held_out[test] = written_out(name, X[test], X[train]) @ solved[:-1] + solved[-1]
    return held_out


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_are_the_usual_ones_centred(name):
    X, _ = table()
    assert_allclose(kernel(name, X @ X.T, 4), centred(written_out(name, X, X)), atol=1e-12)


@pytest.mark.parametrize("groups", [ALONE, PAIRS], ids=["rows", "groups"])
@pytest.mark.parametrize("ridge", RIDGES[::3])
@pytest.mark.parametrize("name", KERNELS)
def test_held_out_predictions_are_those_of_refitting_without_each_group(name, ridge, groups):
    X, Y = table()
    K = kernel(name, X @ X.T, 4)
    expected = refitted(name, X, Y, groups, ridge * np.trace(K) / 30)
    assert_allclose(at_ridge(K.copy(), Y, groups, ridge).predicted, expected, atol=1e-6)


@pytest.mark.parametrize("groups", [ALONE, PAIRS], ids=["rows", "groups"])
def test_with_the_linear_kernel_they_are_those_of_ridge_regression(groups):
    X, Y = table()
    K = kernel("linear", X @ X.T, 4)
    found = tuned(K.copy(), Y, groups)
    alpha = found.ridge * np.trace(K) / 30
    for group in np.unique(groups):
        test = groups == group
        expected = Ridge(alpha).fit(X[~test], Y[~test]).predict(X[test])
        assert_allclose(found.predicted[test], expected, atol=1e-8)


@pytest.mark.parametrize("groups", [ALONE, PAIRS], ids=["rows", "groups"])
@pytest.mark.parametrize("name", KERNELS)
def test_the_ridge_of_least_held_out_error_is_chosen(name, groups):
    X, Y = table()
    K = kernel(name, X @ X.T, 4)
    found = tuned(K.copy(), Y, groups)
    each = [at_ridge(K.copy(), Y, groups, ridge).predicted for ridge in RIDGES]
    best = int(np.argmin([np.square(Y - predicted).mean() for predicted in each]))
    assert found.ridge == pytest.approx(RIDGES[best])
    assert_allclose(found.predicted, each[best], atol=1e-8)


def test_with_more_columns_than_rows_held_out_predictions_stay_those_of_refitting():
    X, Y = table(d=60)
    K = kernel("linear", X @ X.T, 60)
    expected = refitted("linear", X, Y, ALONE, RIDGES[0] * np.trace(K) / 30)
    assert_allclose(at_ridge(K.copy(), Y, ALONE, RIDGES[0]).predicted, expected, atol=1e-6)


def test_without_any_column_the_mean_of_the_other_rows_is_predicted():
    _, Y = table()
    others = (Y.sum(axis=0) - Y) / 29
    for name in KERNELS:
        K = kernel(name, np.zeros((30, 30)), 0)
        assert_allclose(tuned(K.copy(), Y, ALONE).predicted, others, atol=1e-12)
        assert_allclose(at_ridge(K.copy(), Y, ALONE, 1.0).predicted, others, atol=1e-12)


def test_the_linear_kernel_predicts_new_rows_as_ridge_regression_does():
    X, Y = table()
    X = X + 3.0  # not centred
    new = table(7, seed=1)[0]
    alpha = 0.1 * np.trace(centred(X @ X.T)) / 30
    assert_allclose(predict("linear", 0.1, X, Y, new, 4), Ridge(alpha).fit(X, Y).predict(new), atol=1e-9)


@pytest.mark.parametrize("name", KERNELS)
def test_every_kernel_predicts_new_rows_as_kernel_ridge_regression_does(name):
    X, Y = table()
    new = table(7, seed=1)[0]
    K, cross = written_out(name, X, X), written_out(name, new, X)
    alpha = np.trace(centred(K)) / 30
    model = KernelRidge(alpha=alpha, kernel="precomputed").fit(centred(K), Y - Y.mean(axis=0))
    inner = cross - cross.mean(axis=1, keepdims=True) - K.mean(axis=0) + K.mean()
    assert_allclose(predict(name, 1.0, X, Y, new, 4), model.predict(inner) + Y.mean(axis=0), atol=1e-9)


def test_what_a_small_part_of_the_variance_says_is_learned():
    """As in spectra: all columns move together, and their small differences decide."""
    rng = np.random.default_rng(0)
    hidden = rng.standard_normal((60, 3))
    X = hidden[:, :1] + 0.01 * hidden @ rng.standard_normal((3, 40)) + 1e-5 * rng.standard_normal((60, 40))
    Y = hidden[:, 1:2]
    found = tuned(kernel("linear", X @ X.T, 40), Y, np.arange(60))
    assert 1 - np.square(found.predicted - Y).mean() / Y.var() > 0.99


@pytest.mark.parametrize("name", KERNELS)
def test_later_rows_are_predicted_from_earlier_ones_as_by_refitting(name):
    X, Y = table()
    forward = forward_splits(TimeOrder(np.arange(30) // 2), 4)
    K = kernel(name, X @ X.T, X.shape[1])
    scale = np.trace(K) / 30
    found = {}
    for ridge in RIDGES:
        found[ridge] = at_ridge(K.copy(), Y, np.arange(30), ridge, forward).predicted
        for train, test in forward:
            mean = Y[train].mean(axis=0)
            known, cross = (K[np.ix_(rows, train)] + scale / 30 for rows in (train, test))
            dual = np.linalg.solve(known + ridge * scale * np.eye(len(train)), Y[train] - mean)
            assert_allclose(found[ridge][test], mean + cross @ dual, atol=1e-4 if ridge < 1e-5 else 1e-7)
    rows = np.concatenate([test for _, test in forward])
    best = tuned(K.copy(), Y, np.arange(30), forward)
    errors = {ridge: np.square(predicted[rows] - Y[rows]).mean() for ridge, predicted in found.items()}
    assert best.ridge == min(errors, key=errors.get)
    assert_allclose(best.predicted[rows], found[best.ridge][rows], atol=1e-4)


def test_what_comes_later_changes_no_prediction_of_earlier_rows():
    X, Y = table()
    forward = forward_splits(TimeOrder(np.arange(30)), 4)
    K, changed = kernel("linear", X @ X.T, X.shape[1]), Y.copy()
    changed[20:] += 5.0
    first, second = (at_ridge(K.copy(), targets, np.arange(30), 0.1, forward).predicted for targets in (Y, changed))
    early = [rows for _, test in forward for rows in test if rows < 20]
    assert_allclose(first[early], second[early])
    assert np.abs(first[24:] - second[24:]).max() > 0.1
