import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose
from sklearn.linear_model import Lasso, Ridge

import whynear as wn
from whynear.interpret import RegularizationPaths

RNG = np.random.default_rng(0)
X = RNG.standard_normal((50, 4))
X = np.column_stack([X, X[:, 0]])
METRIC = wn.LinearMetric([[1.0, 0.0, 2.0, 0.0, 0.0]], list("abcde"))


@pytest.fixture(scope="module")
def paths():
    return wn.regularization_paths(METRIC, X)


def test_the_outcome_is_what_the_map_does_to_the_data(paths):
    centred = X - X.mean(axis=0)
    expected = centred @ METRIC.omega[0]
    assert_allclose(centred @ paths.weights["ridge"][-1], expected, atol=1e-3)
    assert_allclose(centred @ paths.weights["lasso"][-1], expected, atol=0.05)


def test_each_point_of_a_path_is_that_of_scikit_learn(paths):
    centred = X - X.mean(axis=0)
    outcome = centred @ METRIC.omega[0]
    for place in (10, 60):
        lasso = Lasso(alpha=paths.alphas["lasso"][place], fit_intercept=False, tol=1e-8).fit(centred, outcome)
        assert_allclose(paths.weights["lasso"][place], lasso.coef_, atol=1e-5)
        ridge = Ridge(alpha=len(X) * paths.alphas["ridge"][place], fit_intercept=False).fit(centred, outcome)
        assert_allclose(paths.weights["ridge"][place], ridge.coef_, atol=1e-8)


def test_lasso_keeps_one_copy_and_ridge_spreads_over_both(paths):
    lasso, ridge = np.abs(paths.weights["lasso"][-1]), np.abs(paths.weights["ridge"][-1])
    assert min(lasso[0], lasso[4]) < 0.1 * max(lasso[0], lasso[4])
    assert_allclose(ridge[0], ridge[4], rtol=1e-6)


def test_frame_and_plot(paths):
    assert isinstance(paths, RegularizationPaths)
    frame = paths.frame()
    assert set(frame["method"]) == {"lasso", "elastic net", "ridge"}
    assert len(frame) == sum(weights.size for weights in paths.weights.values())
    axes = list(Figure().subplots(1, 3))
    assert paths.plot(axes) is axes
    assert [ax.get_title() for ax in axes] == ["lasso", "elastic net", "ridge"]


def test_a_row_that_is_not_there_and_a_local_metric_are_refused():
    with pytest.raises(ValueError, match="row=1 is not among"):
        wn.regularization_paths(METRIC, X, row=1)
    with pytest.raises(TypeError, match="one map per anchor"):
        wn.regularization_paths(wn.LocalMetric(X[:2], np.ones((2, 5))), X)
