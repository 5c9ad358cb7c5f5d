import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import whynear as wn
from tests.helpers.gasoline import gasoline
from whynear.data.spectra import recipe_name, spectral_axis
from whynear.learn.registry import MINIMUM_NORM
from whynear.model.pipeline import FittedPipeline
from whynear.spectra import StandardNormalVariate
from whynear.study import bands as preprocessing
from whynear.study.bands import Preprocessing
from whynear.study.comparison import compare
from whynear.study.methods import PLS, RIDGE, Methods


def parts(table, target="octane"):
    X = table.drop(columns=target)
    return X, table[target].to_numpy(), spectral_axis(X, "t.csv", None)[0]


@pytest.fixture(scope="module")
def scattered():
    """The target is the share of a peak in the whole, and each row is multiplied by a factor of its own."""
    X = gasoline(80, scatter=1.0).drop(columns="octane")
    made = StandardNormalVariate().fit_transform(X)
    return X.assign(octane=made[:, 50] + 0.01 * np.random.default_rng(0).standard_normal(80))


def test_strong_scatter_is_corrected(scattered):
    found = Preprocessing(parts(scattered)[2], 0).choice(*parts(scattered)[:2])
    assert found.chosen == "SNV"
    assert found.scores["SNV"] > found.scores["none"] + 0.1
    assert found.to_dict()["scores"]["SNV"] == pytest.approx(found.scores["SNV"])


def test_scores_are_those_of_ridge_regression_on_rows_left_out():
    X, y, axis = parts(gasoline(30))
    found = Preprocessing(axis, 0).choice(X, y)
    ridge = make_pipeline(StandardScaler(), RidgeCV(np.logspace(-6, 6, 60)))
    predicted = cross_val_predict(ridge, X, y, cv=len(X))
    oracle = 1 - np.square(predicted - y).mean() / y.var()
    assert found.scores["none"] == pytest.approx(oracle, abs=0.05)


@pytest.mark.parametrize("seed", range(5))
def test_the_simplest_is_chosen_where_nothing_helps(seed):
    """The target is the absorbance itself, with an error of measurement."""
    X, _, axis = parts(gasoline(seed=seed))
    y = X["1212nm"].to_numpy() + 0.05 * np.random.default_rng(seed).standard_normal(60)
    assert Preprocessing(axis, 0).choice(X, y).chosen == "none"


def test_classes_are_taken_too():
    X, y, axis = parts(gasoline(80, two_classes=True), "grade")
    found = Preprocessing(axis, 0).choice(X, y)
    assert 0.7 < found.scores[found.chosen] <= 1.0
    assert Preprocessing(axis, 0).choice(X.iloc[:5], np.repeat("low", 5)).chosen == "none"


def test_groups_are_held_out_together():
    """Rows of a group are nearly the same, and the target is that of the group: only whole groups show it is noise."""
    X, _, axis = parts(gasoline(12))
    rng = np.random.default_rng(0)
    groups = pd.Series(np.repeat(np.arange(12), 6))
    X = X.iloc[groups].reset_index(drop=True) + 0.001 * rng.standard_normal((72, X.shape[1]))
    y = rng.standard_normal(12)[groups]
    assert Preprocessing(axis, 0).choice(X, y).scores["none"] > 0.9
    assert Preprocessing(axis, 0).choice(X, y, groups).scores["none"] < 0.3


def test_many_rows_are_sampled(monkeypatch):
    X, y, axis = parts(gasoline(80))
    monkeypatch.setattr(preprocessing, "MOST_ROWS", 40)
    few = Preprocessing(axis, 0).choice(X, y)
    monkeypatch.undo()
    assert not few.scores.equals(Preprocessing(axis, 0).choice(X, y).scores)


@pytest.mark.slow
def test_the_choice_of_a_fold_knows_nothing_of_held_out_rows(scattered):
    """Other held-out values change neither the preprocessing nor the model of a fold."""
    X, y, axis = parts(scattered)

    def first_model(values):
        methods = Methods(0, preprocessing=Preprocessing(axis, 0))
        return compare(X, values, (MINIMUM_NORM,), methods, n_folds=2, report=lambda *_: None)

    before = first_model(y)
    held_out = (before.predictions["fold"] == 1).to_numpy()
    after = first_model(np.where(held_out, y[::-1] * 7.0, y))
    np.testing.assert_array_equal(before.models[0].predict(X), after.models[0].predict(X))


def test_all_methods_of_a_fold_share_the_preprocessing(scattered):
    X, y, axis = parts(scattered)
    methods = Methods(0, preprocessing=Preprocessing(axis, 0))
    for name in (MINIMUM_NORM, RIDGE, PLS):
        model = methods.fitted(name, X, y)
        assert recipe_name(FittedPipeline.of(model).encoder.preprocessing) == "SNV"
        assert model.predict(X.head(3)).shape == (3,)


@pytest.mark.slow
def test_scores_of_a_study_of_noise_stay_those_of_chance():
    """Seven ways of preprocessing were tried, and no held-out score shows it."""
    X = gasoline(60, two_classes=True).drop(columns="grade")
    found = wn.study(X, np.random.default_rng(1).standard_normal(60), splitting=wn.Splitting(folds=5))
    assert found.comparison.expected < 0.1
