import json

import numpy as np
import pandas as pd
import pytest

import whynear as wn
from tests.helpers.measured_tables import houses, model_of_houses, numbers
from tests.helpers.notebook_html import HOSTILE, shown


def explained(row=5):
    return wn.explain(model_of_houses(), houses()[0].iloc[[row]])


def test_the_sentence_says_the_value_its_side_of_the_mean_the_features_with_signs_and_the_rows():
    X = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0], "b": [0.0, 1.0, 0.0, 1.0]})
    model = wn.MinimumNormRegressor().fit(X, 2 * X["a"] - 10 * X["b"])
    assert repr(wn.explain(model, X.iloc[[3]])) == (
        "predicted -4, 2 below the mean -2: 'b' (-5), 'a' (+3); the 4 nearest rows (1 at distance 0) measured -8 to 4, "
        "on average -2"
    )
    assert repr(wn.explain(model, pd.DataFrame({"a": [2.5], "b": [0.25]}))).startswith(
        "predicted 2.5, 4.5 above the mean -2: 'b' (+2.5), 'a' (+2); the 4 nearest rows measured"
    )


def test_a_map_without_intercept_is_stated_from_zero():
    X, y = numbers()
    model = wn.MinimumNormRegressor(fit_intercept=False).fit(X, y)
    assert " above zero: " in repr(wn.explain(model, X.iloc[[0]]))


def test_a_map_of_zeros_adds_nothing():
    X, _ = numbers()
    why = wn.explain(wn.MinimumNormRegressor().fit(X, np.full(len(X), 3.0)), X.iloc[[0]])
    assert repr(why).startswith("predicted 3, 0 above the mean 3: no feature adds to it; the 5 nearest rows")


def test_the_frame_has_a_line_for_each_feature():
    why = explained()
    frame = why.frame().set_index("feature")
    assert frame.index.tolist() == ["size", "age", "town", "noise"]
    assert frame["contribution"].tolist() == why.contributions.tolist()
    assert frame.loc["size", "contribution"] == pytest.approx(
        frame.loc["size", "coefficient"] * (frame.loc["size", "value"] - frame.loc["size", "mean"])
    )
    assert pd.isna(frame.loc["town", "coefficient"])
    assert frame["distance_share"].sum() == pytest.approx(why.neighbors["sq_distance"].iloc[0])


def test_everything_is_plain_in_json():
    held = json.loads(json.dumps(explained(3).to_dict(), allow_nan=False))
    assert held["features"] == ["size", "age", "town", "noise"]
    assert held["values"][1] is None
    assert held["coefficients"][2] is None
    assert held["mean_prediction"] + sum(held["contributions"]) == pytest.approx(held["prediction"])
    assert held["neighbors"][0]["row"] == "h03"
    assert sum(held["neighbors"][1]["distance_shares"]) == pytest.approx(held["neighbors"][1]["sq_distance"])
    assert held["unusual"][0]["column"] == "age"


def test_notebooks_show_the_sentence_the_features_and_the_rows():
    why = explained()
    text = shown(why)
    assert repr(why)[1:] in text
    assert "adds to the prediction" in text
    assert "nearest row" in text
    assert "h05" in text


def test_hostile_names_are_shown_as_they_are():
    X, y = numbers()
    X = X.set_axis(HOSTILE[:3] if len(HOSTILE) >= 3 else [*HOSTILE, *"xyz"][:3], axis=1)
    page = wn.explain(wn.MinimumNormRegressor().fit(X, y), X.iloc[[0]])._repr_html_()
    assert HOSTILE[0] not in page


def test_explanations_are_equal_by_value():
    assert explained() == explained()
    assert explained() != explained(6)
