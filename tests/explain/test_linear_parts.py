import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import whynear as wn
from tests.helpers.measured_tables import houses, model_of_houses, numbers
from whynear.explain.linear_parts import LinearParts, is_linear_map
from whynear.model.pipeline import FittedPipeline


def test_coefficients_are_those_of_least_squares_in_the_units_of_the_table():
    X, y = numbers()
    expected = LinearRegression().fit(X, y)
    for steps in ((), (StandardScaler(),)):
        parts = LinearParts(FittedPipeline.of(make_pipeline(*steps, wn.MinimumNormRegressor()).fit(X, y)))
        assert_allclose(parts.coefficients, expected.coef_)
        assert_allclose(parts.origin, X.mean())


def test_the_coefficients_times_the_deviations_are_the_contributions():
    X, y = numbers()
    model = make_pipeline(StandardScaler(), wn.MinimumNormRegressor()).fit(X, y)
    parts = LinearParts(FittedPipeline.of(model))
    assert_allclose(parts.contributions(model[0].transform(X)), (X - X.mean()) * parts.coefficients)


def test_a_column_of_categories_adds_one_number_and_has_no_coefficient():
    X, _ = houses()
    model = FittedPipeline.of(model_of_houses())
    parts = LinearParts(model)
    assert parts.features == ("size", "age", "town", "noise")
    added = parts.contributions(np.asarray(model.seen(X)))
    assert added.shape == (80, 4)
    assert_allclose(added.sum(axis=1) + model.learner.target_origin_, model.model.predict(X), atol=1e-9)
    assert np.isnan(parts.coefficients[2])
    assert np.isnan(parts.origin[2])
    assert parts.coefficients[[0, 1]] == pytest.approx([3, -2], abs=0.4)


def test_behind_steps_that_mix_columns_features_are_their_output():
    X, y = numbers()
    model = make_pipeline(PCA(2), wn.MinimumNormRegressor()).fit(X, y)
    parts = LinearParts(FittedPipeline.of(model))
    assert parts.features == ("pca0", "pca1")
    assert_allclose(parts.coefficients, model[-1].coef_)


@pytest.mark.parametrize("other", [wn.MinimumNormRegressor, wn.MinimumNormRegressor(), StandardScaler(), wn.GMLVQ()])
def test_other_models_are_no_linear_maps(other):
    assert not is_linear_map(other)


def test_a_map_is_found_at_the_end_of_a_pipeline():
    assert is_linear_map(model_of_houses())
