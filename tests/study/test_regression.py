import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import r2_score

from whynear.study.methods import MINIMUM_NORM, PLS, RIDGE, Methods
from whynear.study.regression import compare_regressors, relevance_profile, root_mean_squared_error, with_directions

X = pd.DataFrame(np.random.default_rng(0).standard_normal((60, 3)), columns=["a", "b", "noise"])
Y = (3 * X["a"] + X["b"]).to_numpy()


def test_the_linear_map_is_compared_with_simple_methods():
    comparison = compare_regressors(X, Y, Methods(0), n_folds=3, effective_dim=None, report=lambda *_: None)
    assert list(comparison.accuracy) == [MINIMUM_NORM, "plain kNN", "ridge", "PLS", "mean"]
    assert comparison.n_learners == 1
    assert comparison.expected > 0.99
    assert comparison.predictions.index.tolist() == X.index.tolist()
    assert root_mean_squared_error(comparison.predictions) < 0.1
    assert comparison.expected == pytest.approx(r2_score(Y, comparison.predictions["predicted"]))
    assert comparison.score_of("mean").value == pytest.approx(r2_score(Y, comparison.by_method["mean"]))
    assert comparison.probabilities is None


def test_rivals_are_fitted_to_the_training_rows_of_the_same_folds():
    noisy = Y + np.random.default_rng(1).standard_normal(60)
    comparison = compare_regressors(X, noisy, Methods(0), n_folds=3, effective_dim=None, report=lambda *_: None)
    fold = comparison.predictions["fold"]
    for number in (1, 2, 3):
        test = fold == number
        for name in (RIDGE, PLS):
            model = Methods(0).fitted(name, X[~test], noisy[~test])
            assert_allclose(model.predict(X[test]), comparison.by_method.loc[test, name])
            assert comparison.accuracy[name][number - 1] == pytest.approx(model.score(X[test], noisy[test]))


def test_the_directions_asked_for_are_used():
    model = with_directions(Methods(0).fitted(MINIMUM_NORM, X, Y), X, Y, 2)
    assert model[-1].effective_dim == 2


def test_the_profile_of_a_target_of_numbers_sums_to_one():
    profile = relevance_profile(Methods(0).fitted(MINIMUM_NORM, X, Y), "y")
    assert profile["y"].sum() == pytest.approx(1)
    assert profile["y"].idxmax() == "a"


def test_all_directions_are_kept_where_a_column_hardly_varies():
    rare = pd.DataFrame({"a": [0.0] * 27 + [1.0, 2.0, 3.0]})
    model = with_directions(Methods(0).fitted(MINIMUM_NORM, rare, Y[:30]), rare, Y[:30], None)
    assert model[-1].effective_dim is None
