import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.model_selection import cross_val_predict

import whynear as wn
from tests.helpers.verdicts import classes, measured, two_of_four, with_categories_and_gaps
from whynear.verdict import sufficient_sets
from whynear.verdict.feature_columns import feature_columns
from whynear.verdict.outside_models import clearly_better, outside_models


def stripes(n=500, seed=0):
    """Sixteen stripes along a column decide the class, which trees see and kernels do not; another hints at it."""
    rng = np.random.default_rng(seed)
    place = rng.random(n)
    y = (np.floor(16 * place) % 2).astype(int)
    return pd.DataFrame({"stripes": place, "hint": y + 0.8 * rng.standard_normal(n), "noise": rng.random(n)}), y


def test_they_answer_as_in_a_cross_validation_of_standardised_columns():
    X, y = two_of_four()
    forest, linear = outside_models(feature_columns(X), classes(y), 3)
    assert (forest.name, linear.name) == ("a random forest", "logistic regression")
    folds = classes(y).folds(3)
    for left_out in ([], [1, 2]):
        values = np.delete(feature_columns(X).values, left_out, axis=1)
        predicted = cross_val_predict(RandomForestClassifier(random_state=0), values, y, cv=folds)
        calibrated = forest.without(left_out).score
        assert np.mean(calibrated == (predicted == y)) > 0.97  # calibrated probabilities may tip a few of them
    assert linear.without().score.mean() > 0.9


def test_a_measured_target_has_a_forest_in_its_own_unit():
    X, _ = two_of_four()
    y = 5 + 3 * X["one"].to_numpy() ** 2
    (forest,) = outside_models(feature_columns(X), measured(y), 0)
    values, folds = feature_columns(X).values, measured(y).folds(0)
    predicted = cross_val_predict(RandomForestRegressor(min_samples_leaf=2, random_state=0), values, y, cv=folds)
    assert forest.without().loss.mean() == pytest.approx(np.square(predicted - y).mean() / y.var(), rel=0.02)


def test_a_forest_of_many_numbers_has_fewer_trees_and_predicts_about_as_well(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 12))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2]
    (usual,) = outside_models(feature_columns(X), measured(y), 0)
    monkeypatch.setattr("whynear.verdict.outside_models.MANY_CELLS", 1_000)
    (quick,) = outside_models(feature_columns(X), measured(y), 0)
    assert quick.table.learner.n_estimators <= usual.table.learner.n_estimators / 4
    assert quick.without().score.mean() > usual.without().score.mean() - 0.04


def test_a_feature_of_several_columns_is_left_out_as_a_whole():
    X, y = with_categories_and_gaps()
    forest = outside_models(feature_columns(X), classes(y), 0)[0]
    assert forest.without().score.mean() > 0.9
    assert forest.without([0]).score.mean() < 0.75
    assert_array_equal(forest.without([0, 1, 2, 3]).expected, classes(y).guessed().expected)


def test_a_model_must_be_clearly_better_to_answer():
    X, y = stripes()
    target = classes(y)
    models = outside_models(feature_columns(X), target, 0)
    forest, linear = (model.without() for model in models)
    of = {models[0]: forest, models[1]: linear}.__getitem__
    assert clearly_better(models, of, linear, target) == models[:1]
    assert clearly_better(models, of, forest, target) == []
    assert clearly_better(models, of, target.guessed(), target) == models


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 4))])
def test_no_set_is_named_without_what_only_a_forest_sees(seed):
    X, y = stripes(seed=seed)
    found = sufficient_sets(wn.GRLVQ(random_state=0), X, y, random_state=seed)
    assert "stripes" in found.best
    assert found.better_model.name == "a random forest"
    assert found.better_model.score > found.better_model.score_of_distances
    assert not found.better_model.learner_only
    assert found.score > found.score_of_all - 0.02


def test_a_column_of_one_value_is_not_named_before_what_only_a_forest_sees():
    X, y = stripes(n=300)
    found = sufficient_sets(DummyClassifier(), X.assign(one_value=1.0), y, random_state=0)
    assert set(found.best) == {"hint", "stripes"}


def test_what_only_a_forest_sees_in_many_rows_is_named_too():
    X, y = stripes(n=1_600)
    found = sufficient_sets(wn.GRLVQ(random_state=0), X, y, random_state=0)
    assert "stripes" in found.best
    assert found.better_model.n_rows == 1_000


def test_no_better_model_is_named_where_metrics_predict_as_well():
    assert sufficient_sets(wn.GMLVQ(random_state=0), *two_of_four(), random_state=0).better_model is None
