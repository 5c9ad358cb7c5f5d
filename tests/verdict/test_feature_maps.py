import numpy as np
import pytest
from numpy.testing import assert_allclose

from whynear.verdict import kernel_ridge
from whynear.verdict.feature_maps import at_ridge, mapped, predict, tuned, written_out
from whynear.verdict.kernel_ridge import KERNELS, RIDGES, kernel

ALONE = np.arange(60)


def table(width=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, width))
    return X, np.column_stack([X[:, 0] + rng.normal(0, 0.5, 60), X[:, 1] * X[:, 2]])


def twins(width=6, seed=1):
    """Columns of which two are the same, one is nearly another, and one has a value in a single row."""
    X, Y = table(width, seed)
    X[:, 1], X[:, 2], X[:, 3] = X[:, 0], X[:, 4] + 1e-7 * X[:, 2], np.eye(60)[7]
    return X, Y


@pytest.mark.parametrize("name", ["linear", "quadratic"])
def test_products_of_the_features_are_the_kernel(name):
    X, _ = table()
    F = mapped(name, X, 3)
    F = F - F.mean(axis=0)
    assert_allclose(F @ F.T, kernel(name, X @ X.T, 3), atol=1e-12)


@pytest.mark.parametrize("made", [table, twins])
@pytest.mark.parametrize("ridge", RIDGES)
@pytest.mark.parametrize("name", ["linear", "quadratic"])
def test_held_out_predictions_are_those_of_the_kernel_matrix(name, ridge, made):
    X, Y = made()
    expected = kernel_ridge.at_ridge(kernel(name, X @ X.T, 4), Y, ALONE, ridge).predicted
    assert_allclose(at_ridge(written_out(name, X, 4), Y, ridge).predicted, expected, atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("made", [table, twins])
@pytest.mark.parametrize("name", ["linear", "quadratic"])
def test_the_same_ridge_is_chosen_with_the_same_predictions(name, made):
    X, Y = made()
    expected = kernel_ridge.tuned(kernel(name, X @ X.T, 4), Y, ALONE)
    found = tuned(written_out(name, X, 4), Y)
    assert found.ridge == expected.ridge
    assert_allclose(found.predicted, expected.predicted, atol=1e-7)


@pytest.mark.parametrize("ridge", RIDGES[::4])
@pytest.mark.parametrize("name", ["linear", "quadratic"])
def test_new_rows_are_predicted_as_by_the_kernel_matrix(name, ridge):
    X, Y = table()
    new = np.random.default_rng(5).standard_normal((7, 4))
    expected = kernel_ridge.predict(name, ridge, X, Y, new, 4)
    found = predict(written_out(name, X, 4), Y, written_out(name, new, 4), ridge)
    assert_allclose(found, expected, atol=1e-6)


def test_kernels_of_many_dimensions_are_not_written_out():
    X, _ = table(width=6)
    assert [mapped(name, X, 6) is not None for name in KERNELS] == [True, True, False, False]
    X, _ = table(width=7)
    assert mapped("quadratic", X, 7) is None
    assert mapped("linear", X[:, :0], 0) is None
    assert mapped("linear", np.ones((60, 31)), 31) is None
