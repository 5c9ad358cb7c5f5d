import numpy as np
import pandas as pd
import pytest

import whynear as wn
from tests.helpers.measured_tables import numbers
from whynear.study.error_interval import error_interval, remember_errors


def table(n, rng, noise):
    X = pd.DataFrame(rng.standard_normal((n, 4)), columns=list("abcd"))
    return X.assign(y=X["a"] - 2 * X["b"] + noise(n))


@pytest.mark.slow
@pytest.mark.parametrize("noise", ["normal", "skewed"])
def test_nine_of_ten_new_values_lie_within(noise):
    rng = np.random.default_rng(0)
    draw = rng.standard_normal if noise == "normal" else lambda n: rng.exponential(2, n)
    inside = []
    for _ in range(5):
        model = wn.learn_table(table(120, rng, draw), "y").model
        new = table(2000, rng, draw)
        found = wn.predict_table(model, new)
        inside.append(((found["low"] <= new["y"]) & (new["y"] <= found["high"])).mean())
    assert np.mean(inside) == pytest.approx(0.9, abs=0.035)


def test_a_skewed_error_gives_a_skewed_interval():
    low, high = error_interval(np.random.default_rng(0).exponential(2, 500) - 2)
    assert high > -1.5 * low


def test_nineteen_rows_are_needed():
    assert error_interval(np.zeros(18)) is None
    assert error_interval(np.arange(19.0)) == (0.0, 18.0)
    assert error_interval(np.array([])) is None


def test_a_model_without_a_map_is_left_as_it_is():
    class Mean:
        pass

    found = pd.DataFrame({"true": np.zeros(30), "predicted": np.ones(30)})
    assert vars(remember_errors(Mean(), found)) == {}


def test_few_rows_have_no_interval():
    X, y = numbers(12)
    found = wn.predict_table(wn.learn_table(X.assign(y=y), "y").model, X)
    assert list(found) == ["row", "predicted", "out_of_range"]


def test_a_model_fitted_by_hand_has_none():
    X, y = numbers()
    assert "low" not in wn.predict_table(wn.MinimumNormRegressor().fit(X, y), X)
