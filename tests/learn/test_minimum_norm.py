import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import whynear as wn
from tests.helpers.spectra import spectra
from whynear.learn import minimum_norm
from whynear.testing import check_metric


def test_it_is_a_scikit_learn_regressor():
    check_estimator(wn.MinimumNormRegressor(), on_skip=None)


def test_with_enough_rows_it_is_least_squares():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 4)), rng.standard_normal(30)
    for fit_intercept in (True, False):
        ours = wn.MinimumNormRegressor(fit_intercept=fit_intercept).fit(X, y)
        theirs = LinearRegression(fit_intercept=fit_intercept).fit(X, y)
        assert_allclose(ours.coef_, theirs.coef_)
        assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-12)
        check_metric(ours.metric_, X)


def test_with_few_rows_it_fits_exactly_with_the_least_norm():
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((10, 50)), rng.standard_normal(10)
    model = wn.MinimumNormRegressor().fit(X, y)
    assert_allclose(model.predict(X), y)
    assert_allclose(wn.regularize(model, X).omega[0], model.coef_, atol=1e-10)


def test_it_predicts_with_another_metric():
    rng = np.random.default_rng(2)
    X, y = rng.standard_normal((30, 4)), rng.standard_normal(30)
    model = wn.MinimumNormRegressor().fit(X, y)
    smooth = model.with_metric(wn.regularize(model, X, 2))
    assert_allclose(smooth.predict(X), wn.MinimumNormRegressor(2).fit(X, y).predict(X))
    assert model.metric_ != smooth.metric_
    with pytest.raises(ValueError, match="must have the 4 features of the learner, got 2"):
        model.with_metric(wn.LinearMetric([[1.0, 2.0]]))
    for wrong in (wn.LinearMetric(np.ones((2, 4))), wn.DiagonalMetric(np.ones(4))):
        with pytest.raises(ValueError, match="a linear map of one row"):
            model.with_metric(wrong)
    with pytest.raises(ValueError, match="another order"):
        model.with_metric(wn.LinearMetric(np.ones((1, 4)), ["x3", "x2", "x1", "x0"]))


def test_an_offset_does_not_change_the_map():
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((40, 3)) @ rng.standard_normal((3, 60)), rng.standard_normal(40)
    near, far = (wn.MinimumNormRegressor().fit(X + offset, y).coef_ for offset in (0, 1e6))
    assert_allclose(far, near, rtol=1e-4, atol=1e-6)


def test_wine_spectra_norms_are_the_papers(real_data):
    X, y, _, _ = spectra(real_data)
    raw = wn.MinimumNormRegressor(fit_intercept=False).fit(X, y)
    assert round(float(np.square(raw.coef_).sum()), 1) == 7132.8
    at_twelve = wn.MinimumNormRegressor(12, fit_intercept=False).fit(X, y)
    assert round(float(np.square(at_twelve.coef_).sum()), 1) == 758.0
    assert wn.null_space(raw, X, 12).removed_norm == pytest.approx(1 - 758.04 / 7132.84, abs=1e-4)


def test_wine_spectra_correlation_is_the_papers(real_data):
    X, y, X_test, y_test = spectra(real_data)
    correlations = {}
    for effective_dim in range(1, 30):
        model = wn.MinimumNormRegressor(effective_dim).fit(X, y)
        correlations[effective_dim] = np.corrcoef(model.predict(X_test), y_test)[0, 1]
    assert max(correlations, key=correlations.get) == 12
    assert round(correlations[12], 4) == 0.9954
    assert all(value > 0.95 for K, value in correlations.items() if K >= 5)


def test_it_survives_a_file(tmp_path):
    X, y = StandardScaler().fit_transform(np.arange(12.0).reshape(6, 2) ** 2), np.arange(6.0)
    model = wn.MinimumNormRegressor().fit(X, y)
    wn.save(model, tmp_path / "model")
    assert_allclose(wn.load(tmp_path / "model").predict(X), model.predict(X))


def test_it_keeps_its_rows_their_targets_and_names_as_copies():
    X, y = pd.DataFrame({"a": [1.0, 2.0, 4.0]}, index=["p", "q", "r"]), np.array([1.0, 3.0, 2.0])
    model = wn.MinimumNormRegressor().fit(X, y)
    weighted = wn.MinimumNormRegressor().fit(X, y, sample_weight=[1.0, 0.0, 2.0])
    X.loc[:, "a"], y[:] = 0.0, 0.0
    assert (model.cases_.tolist(), model.targets_.tolist()) == ([[1.0], [2.0], [4.0]], [1.0, 3.0, 2.0])
    assert model.row_names_.tolist() == ["p", "q", "r"]
    assert wn.MinimumNormRegressor().fit(X.to_numpy(), [1.0, 3.0, 2.0]).row_names_ is None
    assert (weighted.cases_.tolist(), weighted.targets_.tolist()) == ([[1.0], [4.0]], [1.0, 2.0])
    assert (weighted.row_names_.tolist(), weighted.case_places_.tolist()) == (["p", "r"], [0, 2])


def test_fitting_again_forgets_the_table_of_a_study():
    model = wn.MinimumNormRegressor().fit([[0.0], [1.0]], [0.0, 1.0])
    noted = {"row_gaps_": np.array([[0, 0]]), "row_column_": "id", "error_interval_": np.array([-1.0, 1.0])}
    noted |= {"held_out_certainty_": np.zeros((2, 2))}
    vars(model).update(noted)
    model.fit([[0.0], [1.0]], [0.0, 1.0])
    assert not noted.keys() & vars(model).keys()


def test_of_many_rows_some_are_kept_in_even_steps(monkeypatch):
    monkeypatch.setattr(minimum_norm, "MOST_CASES", 4)
    X = pd.DataFrame({"a": np.arange(10.0)}, index=[f"r{i}" for i in range(10)])
    model = wn.MinimumNormRegressor().fit(X, 2 * X["a"])
    assert model.coef_.tolist() == pytest.approx([2.0])
    assert (model.cases_.ravel().tolist(), model.targets_.tolist()) == ([0.0, 3.0, 6.0, 9.0], [0.0, 6.0, 12.0, 18.0])
    assert model.row_names_.tolist() == ["r0", "r3", "r6", "r9"]


@pytest.mark.parametrize("settings", [{}, {"fit_intercept": False}, {"effective_dim": 2}])
def test_a_row_of_weight_two_counts_as_two_and_one_of_weight_zero_is_left_out(settings):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 4)) + 3
    y = X @ [1.0, -2.0, 0.0, 3.0] + rng.standard_normal(40)
    counts = rng.integers(0, 4, 40)
    copied = np.repeat(np.arange(40), counts)
    weighted = wn.MinimumNormRegressor(**settings).fit(X, y, sample_weight=counts)
    repeated = wn.MinimumNormRegressor(**settings).fit(X[copied], y[copied])
    assert_allclose(weighted.coef_, repeated.coef_)
    assert_allclose(weighted.predict(X), repeated.predict(X))
    assert np.array_equal(weighted.input_range_, repeated.input_range_)
    scaled = wn.MinimumNormRegressor(**settings).fit(X, y, sample_weight=2.5 * counts)
    assert_allclose(scaled.coef_, weighted.coef_)
    plain, ones = (wn.MinimumNormRegressor(**settings).fit(X, y, sample_weight=w) for w in (None, np.ones(40)))
    assert np.array_equal(plain.coef_, ones.coef_)
    assert plain.intercept_ == ones.intercept_


def test_the_weighted_map_is_that_of_weighted_least_squares():
    rng = np.random.default_rng(1)
    X, y, weights = rng.standard_normal((30, 3)), rng.standard_normal(30), rng.uniform(0.1, 3, 30)
    ours = wn.MinimumNormRegressor().fit(X, y, sample_weight=weights)
    theirs = LinearRegression().fit(X, y, sample_weight=weights)
    assert_allclose(ours.coef_, theirs.coef_)
    assert ours.intercept_ == pytest.approx(theirs.intercept_)
    one = np.zeros(30)
    one[3] = 1.0
    with pytest.raises(ValueError, match="sample_weight leaves 1 row, and at least two are needed"):
        wn.MinimumNormRegressor().fit(X, y, sample_weight=one)
