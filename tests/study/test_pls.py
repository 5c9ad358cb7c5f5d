"""Partial least squares, compared with scikit-learn."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.cross_decomposition import PLSRegression
from sklearn.model_selection import GroupKFold, KFold, cross_val_predict

from whynear.study.methods import INNER_FOLDS, MOST_COMPONENTS, CrossValidatedPLS, maps_by_components


def centred(n_rows, n_columns):
    rng = np.random.default_rng(0)
    values = rng.standard_normal((n_rows, n_columns)) @ rng.standard_normal((n_columns, n_columns))
    y = values[:, :3].sum(axis=1) + rng.standard_normal(n_rows)
    return values - values.mean(axis=0), y - y.mean()


@pytest.mark.parametrize("shape", [(60, 8), (20, 200)])
def test_the_map_of_each_number_of_components_is_that_of_scikit_learn(shape):
    X, y = centred(*shape)
    for number, found in enumerate(maps_by_components(X, y, 8), start=1):
        assert_allclose(found, PLSRegression(number, scale=False).fit(X, y).coef_[0], rtol=1e-6, atol=1e-9)


def test_all_components_give_the_least_squares():
    X, y = centred(60, 8)
    assert_allclose(maps_by_components(X, y, 8)[-1], np.linalg.lstsq(X, y)[0])


def test_a_map_is_repeated_where_the_data_have_fewer_components():
    X, y = centred(30, 2)
    maps = maps_by_components(np.hstack([X, X, X]), y, 6)
    assert_allclose(maps[2:], np.broadcast_to(maps[1], (4, 6)))
    assert not maps_by_components(X, np.zeros(30), 2).any()
    assert not maps_by_components(np.zeros((30, 2)), y, 2).any()


def test_the_number_of_components_is_the_best_on_held_out_training_rows():
    X, y = centred(80, 12)
    folds = KFold(INNER_FOLDS, shuffle=True, random_state=3)
    errors = [
        np.square(cross_val_predict(PLSRegression(number, scale=False), X, y, cv=folds) - y).sum()
        for number in range(1, 13)
    ]
    model = CrossValidatedPLS(random_state=3).fit(X + 5, y + 7)
    assert model.n_components_ == np.argmin(errors) + 1
    assert_allclose(
        model.predict(X + 5), PLSRegression(model.n_components_, scale=False).fit(X, y).predict(X) + 7, rtol=1e-6
    )


@pytest.mark.parametrize("n_rows", [2, 3, 5])
def test_few_rows_and_constant_targets_are_predicted_without_warnings(n_rows):
    X = np.random.default_rng(0).standard_normal((n_rows, 30))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isfinite(CrossValidatedPLS().fit(X, X[:, 0]).predict(X)).all()
        assert_allclose(CrossValidatedPLS().fit(X, np.full(n_rows, 4.0)).predict(X), 4)


def test_at_most_twenty_components_are_used():
    X = np.random.default_rng(0).standard_normal((300, 40)) * np.logspace(0, -3, 40)
    model = CrossValidatedPLS().fit(X, X @ np.logspace(0, 3, 40))
    assert model.n_components_ == MOST_COMPONENTS == 20


def test_the_number_of_components_is_chosen_with_groups_together():
    X, y = centred(80, 12)
    groups = np.arange(80) // 8
    folds = GroupKFold(INNER_FOLDS, shuffle=True, random_state=3)
    errors = [
        np.square(cross_val_predict(PLSRegression(number, scale=False), X, y, cv=folds, groups=groups) - y).sum()
        for number in range(1, 13)
    ]
    assert CrossValidatedPLS(random_state=3).fit(X, y, groups).n_components_ == np.argmin(errors) + 1
