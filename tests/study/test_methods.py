"""The methods that a study compares."""

from time import process_time

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold, LeaveOneOut, cross_val_predict
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

import whynear as wn
from whynear.learn.registry import LEARNERS
from whynear.study import methods as methods_module
from whynear.study.estimate import NCA
from whynear.study.methods import (
    BASELINES,
    MEAN,
    MINIMUM_NORM,
    PLAIN,
    PLS,
    RIDGE,
    RIDGE_PENALTIES,
    Methods,
    _start,
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
