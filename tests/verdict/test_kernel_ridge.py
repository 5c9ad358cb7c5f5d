"""Kernel ridge models: their kernels, their factors and their held-out predictions."""

import threading
import time
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.linalg import eigh
from scipy.linalg.lapack import dpotrf, dtrtri
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import polynomial_kernel

from tests.helpers.verdicts import classes, of_kind, two_of_four, with_categories_and_gaps
from whynear.data.rows import TimeOrder, forward_splits
from whynear.utils.threads import one_blas_thread
from whynear.verdict.kernel_ridge import (
    KERNELS,
    RIDGES,
    SMALL,
    KernelModels,
    at_ridge,
    eigen,
    features_at_ridge,
    inverse_factor,
    kernel,
    mapped,
    predict_by_features,
    predict_by_kernel,
    tuned,
    tuned_features,
    written_out,
)
from whynear.verdict.rules import beats_guessing
from whynear.verdict.table import feature_columns

ALONE, PAIRS = np.arange(30), np.arange(30) // 2


def table(n=30, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.column_stack([X[:, 0] + rng.normal(0, 0.5, n), X[:, 1] * X[:, 2]])


def usual(name, X, Z):
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
        K, ones = usual(name, X[train], X[train]), np.ones((train.sum(), 1))
        system = np.block([[K + weight * np.eye(len(K)), ones], [ones.T, np.zeros((1, 1))]])
        solved = np.linalg.solve(system, np.vstack([Y[train], np.zeros((1, Y.shape[1]))]))
        held_out[test] = usual(name, X[test], X[train]) @ solved[:-1] + solved[-1]
    return held_out


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_are_the_usual_ones_centred(name):
    X, _ = table()
    assert_allclose(kernel(name, X @ X.T, 4), centred(usual(name, X, X)), atol=1e-12)


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
    assert_allclose(predict_by_kernel("linear", 0.1, X, Y, new, 4), Ridge(alpha).fit(X, Y).predict(new), atol=1e-9)


@pytest.mark.parametrize("name", KERNELS)
def test_every_kernel_predicts_new_rows_as_kernel_ridge_regression_does(name):
    X, Y = table()
    new = table(7, seed=1)[0]
    K, cross = usual(name, X, X), usual(name, new, X)
    alpha = np.trace(centred(K)) / 30
    model = KernelRidge(alpha=alpha, kernel="precomputed").fit(centred(K), Y - Y.mean(axis=0))
    inner = cross - cross.mean(axis=1, keepdims=True) - K.mean(axis=0) + K.mean()
    assert_allclose(predict_by_kernel(name, 1.0, X, Y, new, 4), model.predict(inner) + Y.mean(axis=0), atol=1e-9)


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


def twins(width=6, seed=1):
    """Columns of which two are the same, one is nearly another, and one has a value in a single row."""
    X, Y = table(60, width, seed)
    X[:, 1], X[:, 2], X[:, 3] = X[:, 0], X[:, 4] + 1e-7 * X[:, 2], np.eye(60)[7]
    return X, Y


@pytest.mark.parametrize("name", ["linear", "quadratic"])
def test_products_of_the_features_are_the_kernel(name):
    X, _ = table(60)
    F = mapped(name, X, 3)
    F = F - F.mean(axis=0)
    assert_allclose(F @ F.T, kernel(name, X @ X.T, 3), atol=1e-12)


@pytest.mark.parametrize("made", [partial(table, 60), twins], ids=["table", "twins"])
@pytest.mark.parametrize("ridge", RIDGES)
@pytest.mark.parametrize("name", ["linear", "quadratic"])
def test_held_out_predictions_are_those_of_the_kernel_matrix(name, ridge, made):
    X, Y = made()
    expected = at_ridge(kernel(name, X @ X.T, 4), Y, np.arange(60), ridge).predicted
    assert_allclose(features_at_ridge(written_out(name, X, 4), Y, ridge).predicted, expected, atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("made", [partial(table, 60), twins], ids=["table", "twins"])
@pytest.mark.parametrize("name", ["linear", "quadratic"])
def test_the_same_ridge_is_chosen_with_the_same_predictions(name, made):
    X, Y = made()
    expected = tuned(kernel(name, X @ X.T, 4), Y, np.arange(60))
    found = tuned_features(written_out(name, X, 4), Y)
    assert found.ridge == expected.ridge
    assert_allclose(found.predicted, expected.predicted, atol=1e-7)


@pytest.mark.parametrize("ridge", RIDGES[::4])
@pytest.mark.parametrize("name", ["linear", "quadratic"])
def test_new_rows_are_predicted_as_by_the_kernel_matrix(name, ridge):
    X, Y = table(60)
    new = np.random.default_rng(5).standard_normal((7, 4))
    expected = predict_by_kernel(name, ridge, X, Y, new, 4)
    found = predict_by_features(written_out(name, X, 4), Y, written_out(name, new, 4), ridge)
    assert_allclose(found, expected, atol=1e-6)


def test_kernels_of_many_dimensions_are_not_written_out():
    X, _ = table(60, 6)
    assert [mapped(name, X, 6) is not None for name in KERNELS] == [True, True, False, False]
    X, _ = table(60, 7)
    assert mapped("quadratic", X, 7) is None
    assert mapped("linear", X[:, :0], 0) is None
    assert mapped("linear", np.ones((60, 31)), 31) is None


def positive(n, seed=0):
    A = np.random.default_rng(seed).standard_normal((n, n))
    return A @ A.T + np.eye(n)


@given(st.integers(1, 40) | st.integers(SMALL - 1, 3 * SMALL), st.integers(0, 100))
def test_the_inverse_factor_makes_the_inverse(n, seed):
    K = positive(n, seed)
    half = inverse_factor(K.copy())
    assert_allclose(half.T @ half, np.linalg.inv(K), atol=1e-9)
    assert (half == np.tril(half)).all()


@given(st.integers(1, 40), st.integers(0, 100))
def test_eigenvectors_make_the_matrix(n, seed):
    K = positive(n, seed)
    values, vectors = eigen(K.copy())
    assert (np.diff(values) >= 0).all()
    assert_allclose((vectors * values) @ vectors.T, K, atol=1e-9)
    assert_allclose(vectors.T @ vectors, np.eye(n), atol=1e-12)


def test_the_routines_are_those_of_scipy():
    K = positive(60)
    factor, _ = dpotrf(K, lower=1, clean=1)
    assert (inverse_factor(K.copy()) == dtrtri(factor, lower=1)[0]).all()
    assert (eigen(K.copy())[0] == eigh(K, driver="evd")[0]).all()


def test_a_matrix_that_is_not_positive_definite_is_refused():
    with pytest.raises(ArithmeticError, match="not positive definite"):
        inverse_factor(-np.eye(3))


@pytest.mark.parametrize("work", [inverse_factor, eigen])
def test_python_runs_meanwhile(work):
    K, begun, done = positive(900), threading.Event(), threading.Event()

    def factor():
        begun.set()
        work(K)
        done.set()

    with one_blas_thread():
        thread = threading.Thread(target=factor)
        thread.start()
        begun.wait()
        longest, last = 0.0, time.perf_counter()
        start = last
        while not done.is_set():
            time.sleep(0.0005)
            longest, last = max(longest, time.perf_counter() - last), time.perf_counter()
        thread.join()
    assert longest < 0.8 * (last - start)  # with Python's lock held it is one long wait


@pytest.mark.parametrize("kind", ["relevance linear", "ring"])
def test_without_a_feature_the_models_are_those_of_the_table_without_it(kind):
    columns, target, _ = of_kind(kind)
    models = KernelModels(columns, target)
    for j in (0, columns.n_features - 1):
        rest = columns.only(np.delete(np.arange(columns.n_features), j))
        assert_allclose(
            models.without([j]).loss, KernelModels(rest, target, ridges=models.settled).best.loss, atol=1e-9
        )


def test_with_only_some_features_the_models_are_those_of_a_table_of_them():
    X, y = two_of_four()
    models = KernelModels(feature_columns(X), classes(y))
    alone = KernelModels(feature_columns(X[["one", "noise_1"]]), classes(y))
    assert_allclose(models.with_only([0, 3]).loss, alone.best.loss, atol=1e-9)


def test_a_category_is_left_out_as_a_whole():
    X, y = with_categories_and_gaps()
    models = KernelModels(feature_columns(X), classes(y))
    rest = KernelModels(feature_columns(X.drop(columns="colour")), classes(y), ridges=models.settled)
    assert_allclose(models.without([0]).loss, rest.best.loss, atol=1e-9)


def test_without_any_feature_the_models_guess():
    X, y = two_of_four()
    target = classes(y)
    found = KernelModels(feature_columns(X), target).without(range(4), tune=True)
    assert not beats_guessing(found, target)
    assert_allclose(found.loss, target.guessed().loss, atol=0.02)


def test_the_best_kernel_has_the_least_loss_and_is_near_itself():
    columns, target, _ = of_kind("ring")
    models = KernelModels(columns, target)
    losses = {name: models.full[name].loss.mean() for name in KERNELS}
    assert models.by_loss[0] == min(losses, key=losses.get) != "linear"
    assert models.by_loss[0] in models.near
    assert "linear" not in models.near


def test_a_model_of_random_labels_does_not_beat_guessing():
    X, _ = two_of_four()
    for seed in range(10):
        target = classes(np.random.default_rng(seed).permutation(np.arange(120) % 2))
        assert not beats_guessing(KernelModels(feature_columns(X), target).best, target)
