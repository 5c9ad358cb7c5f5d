"""The methods that a study compares."""

import warnings
from time import process_time

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.cross_decomposition import PLSRegression
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold, KFold, LeaveOneOut, cross_val_predict
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

import whynear as wn
from whynear.learn.registry import LEARNERS, MINIMUM_NORM
from whynear.study import methods as methods_module
from whynear.study.methods import (
    BASELINES,
    MEAN,
    MOST_COMPONENTS,
    NCA,
    PLAIN,
    PLS,
    RIDGE,
    RIDGE_PENALTIES,
    TUNING_FOLDS,
    CrossValidatedPLS,
    Methods,
    _start,
    maps_by_components,
    n_varying,
)

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.standard_normal((40, 3)), columns=["a", "b", "c"]).assign(constant=1.0)
CLASSES = np.where(X["a"] > 0, "u", "v")
NUMBERS = 3 * X["a"].to_numpy() + X["b"].to_numpy()


@pytest.mark.parametrize("name", ["grlvq", "gmlvq", *BASELINES])
def test_a_method_takes_the_columns_of_the_table_constant_ones_too(name):
    model = Methods(0).fitted(name, X, CLASSES)
    assert model.score(X, CLASSES) > 0.8
    assert n_varying(X) == 3


@pytest.mark.parametrize(
    ("name", "least"), [(MINIMUM_NORM, 0.99), (RIDGE, 0.99), (PLS, 0.99), (PLAIN, 0.9), (MEAN, 0.0)]
)
def test_numbers_are_predicted_by_regressors(name, least):
    assert Methods(0).fitted(name, X, NUMBERS).score(X, NUMBERS) >= least


@pytest.mark.slow
@pytest.mark.parametrize("n_columns", [3, 60])
def test_the_penalty_of_ridge_regression_is_the_best_when_one_row_is_left_out(n_columns):
    rng = np.random.default_rng(1)
    wide = pd.DataFrame(rng.standard_normal((40, n_columns)))
    y = wide[0].to_numpy() + rng.standard_normal(40)
    standardised = StandardScaler().fit_transform(wide)
    errors = [
        np.square(cross_val_predict(Ridge(penalty), standardised, y, cv=LeaveOneOut()) - y).sum()
        for penalty in RIDGE_PENALTIES
    ]
    assert Methods(0).fitted(RIDGE, wide, y)[-1].alpha_ == RIDGE_PENALTIES[np.argmin(errors)]


@pytest.mark.parametrize("name", [RIDGE, PLS])
def test_rivals_of_the_linear_map_are_fast_for_thousands_of_columns(name):
    wide = pd.DataFrame(np.random.default_rng(0).standard_normal((70, 7_000)))
    start = process_time()
    model = Methods(0).fitted(name, wide, wide[0].to_numpy())
    assert process_time() - start < 10
    assert model.score(wide, wide[0]) > 0.5


def test_the_seed_and_the_threads_reach_the_learner():
    learner = Methods(7, n_jobs=2).fitted("lann", X, CLASSES)[-1]
    assert (learner.random_state, learner.n_jobs) == (7, 2)
    assert set(LEARNERS) >= {"grlvq", "lann"}


def test_an_encoder_comes_first_and_is_fitted_to_the_same_rows():
    table = X.assign(colour=np.where(CLASSES == "u", "red", "blue"))
    table.loc[3, "a"] = np.nan
    encoder = wn.TableEncoder("onehot", "median")
    model = Methods(0, encoder).fitted("grlvq", table, CLASSES)
    assert isinstance(model, Pipeline)
    assert model[0].fill_values_["a"] == table["a"].median()
    assert not hasattr(encoder, "fill_values_")
    assert (model.predict(table) == CLASSES).all()


def test_what_does_not_vary_is_predicted_without_it():
    same = X[["constant"]]
    assert isinstance(Methods(0).fitted("gmlvq", same, CLASSES), DummyClassifier)
    assert isinstance(Methods(0).fitted(MINIMUM_NORM, same, NUMBERS), DummyRegressor)


def test_nca_is_fitted_to_a_sample_of_many_rows(monkeypatch):
    monkeypatch.setattr(methods_module, "NCA_ROWS", 20)
    model = Methods(0).fitted(NCA, X, CLASSES)
    assert model.pipeline[-1].n_samples_fit_ == 20
    assert len(model.predict(X)) == 40


def test_nca_does_not_start_at_discriminants_that_the_rows_lack():
    y = np.repeat(["u", "v", "w"], 2)
    good = pd.DataFrame(RNG.standard_normal((6, 3)))
    assert _start(good, y, 3) == "auto"  # no fewer than the classes: scikit-learn starts elsewhere
    assert _start(pd.DataFrame(np.tile(RNG.standard_normal((2, 3)), (3, 1))), y, 2) == "pca"


def test_the_penalty_of_ridge_regression_is_chosen_with_groups_together():
    rng = np.random.default_rng(1)
    wide = pd.DataFrame(rng.standard_normal((40, 60)))
    y, groups = wide[0].to_numpy() + rng.standard_normal(40), pd.Series(np.arange(40) // 4)
    standardised, folds = StandardScaler().fit_transform(wide), GroupKFold(5, shuffle=True, random_state=0)
    errors = [
        np.square(cross_val_predict(Ridge(penalty), standardised, y, cv=folds, groups=groups) - y).sum()
        for penalty in RIDGE_PENALTIES
    ]
    assert Methods(0).fitted(RIDGE, wide, y, groups)[-1].alpha_ == RIDGE_PENALTIES[np.argmin(errors)]


@pytest.mark.parametrize(("name", "y"), [("lann", CLASSES), (PLS, NUMBERS)])
def test_what_chooses_on_held_out_rows_is_given_the_groups(name, y, monkeypatch):
    kind, seen = type(Methods(0).fitted(name, X, y)[-1]), []
    fit = kind.fit

    def watched(self, X, y, groups=None):
        seen.append(groups)
        return fit(self, X, y, groups)

    monkeypatch.setattr(kind, "fit", watched)
    groups = pd.Series(np.arange(40) // 4)
    Methods(0).fitted(name, X, y, groups)
    assert seen[0].tolist() == groups.tolist()
    Methods(0).fitted(name, X, y, groups * 0)
    assert seen[1] is None  # rows of a single group are split as rows


# Partial least squares, compared with scikit-learn.


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
    folds = KFold(TUNING_FOLDS, shuffle=True, random_state=3)
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
    folds = GroupKFold(TUNING_FOLDS, shuffle=True, random_state=3)
    errors = [
        np.square(cross_val_predict(PLSRegression(number, scale=False), X, y, cv=folds, groups=groups) - y).sum()
        for number in range(1, 13)
    ]
    assert CrossValidatedPLS(random_state=3).fit(X, y, groups).n_components_ == np.argmin(errors) + 1
