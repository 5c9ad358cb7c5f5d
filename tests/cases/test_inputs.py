import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tests.helpers.measured_tables import numbers
from whynear import DiagonalMetric, LinearMetric, MinimumNormRegressor, as_metric, explain
from whynear.cases.case_base import CaseBase
from whynear.cases.inputs import case_metric, case_table, checked_ids, fitting_metric, query_case


@pytest.mark.parametrize(
    ("payload", "fact"),
    [
        ({"x": np.int64(1)}, "int64"),
        ({"x": float("nan")}, "Out of range"),
        ({1: "x"}, "strings as keys"),
        ({"x": (1, 2)}, "not tuples"),
        ("text", "must be a dict"),
    ],
)
def test_payloads_json_cannot_hold_are_refused_by_row(tmp_path, payload, fact):
    with CaseBase(tmp_path / "base", DiagonalMetric(np.ones(2))) as base:
        with pytest.raises((TypeError, ValueError), match=rf"payloads\[1\].*{fact}"):
            base.add(np.zeros((2, 2)), [{}, payload])
        with pytest.raises(ValueError, match="one dict for each of the 2 cases, got 1"):
            base.add(np.zeros((2, 2)), [{}])
        assert len(base) == 0


@pytest.mark.parametrize(
    ("frame", "fact"),
    [
        (pd.DataFrame({"a": [1.0, np.nan], "b": [1, 2]}), "NaN: 1 in column 'a'"),
        (pd.DataFrame({"a": [1.0, np.inf], "b": [1, 2]}), "inf.*1 in column 'a'"),
        (pd.DataFrame({"a": ["1", "two"], "b": [1, 2]}), "'two' in column 'a', row 2"),
        (pd.DataFrame({"a": [1.0], "c": [1]}), "lacks 'b' and has unknown 'c'"),
        (pd.DataFrame({"a": [1e60], "b": [1]}), r"1e\+60 in column 'a', larger"),
        (pd.DataFrame({"a": [1e-60], "b": [1]}), "1e-60 in column 'a', smaller"),
        (np.ones((1, 3)), "must have 2 features"),
    ],
)
def test_cases_that_cannot_be_kept_are_refused_by_name(tmp_path, frame, fact):
    with CaseBase(tmp_path / "base", DiagonalMetric(np.ones(2), ["a", "b"])) as base:
        with pytest.raises(ValueError, match=fact):
            base.add(frame)
        assert len(base) == 0


def test_columns_that_float32_blurs_are_named(tmp_path):
    base = CaseBase(tmp_path / "base", DiagonalMetric(np.ones(2), ["time", "b"]))
    with pytest.warns(UserWarning, match="differences within 'time'"):
        base.add([[1.7e9, 0.5], [1.7e9 + 1, 0.7]])


@pytest.mark.parametrize("query", [[1.0, np.nan], {"a": 1.0}, {"a": 1.0, "b": "x"}, np.ones((2, 2)), [1.0], "ab"])
def test_bad_queries_are_refused(tmp_path, query):
    with CaseBase(tmp_path / "base", DiagonalMetric(np.ones(2), ["a", "b"])) as base:
        base.add([[1, 2]])
        with pytest.raises(ValueError, match=r"query|could not convert|Expected"):
            base.retrieve(query)


def test_cases_and_queries_are_taken_by_name_in_any_order():
    table = pd.DataFrame({"b": ["2", "4"], "a": [1, 3]})
    assert_array_equal(case_table(table, ["a", "b"]), [[1, 2], [3, 4]])
    for query in ([1, "2"], {"b": "2", "a": 1}, table.iloc[0], table.head(1)):
        assert_array_equal(query_case(query, ["a", "b"]), [1, 2])


def test_a_metric_is_brought_into_the_order_of_the_columns():
    named = DiagonalMetric([1.0, 2.0], ["a", "b"])
    assert fitting_metric(named, None) is named
    assert fitting_metric(named, ["b", "a"]) == DiagonalMetric([2.0, 1.0], ["b", "a"])
    assert fitting_metric([1.0, 2.0], ["b", "a"]) == DiagonalMetric([1.0, 2.0], ["b", "a"])


@pytest.mark.parametrize("ids", [1.5, "1", [[1]], [True]])
def test_ids_are_whole_numbers(ids):
    assert_array_equal(checked_ids(3), [3])
    assert_array_equal(checked_ids([]), [])
    with pytest.raises(ValueError, match="ids must be whole numbers"):
        checked_ids(ids)


def test_a_linear_regressor_compares_cases_feature_by_feature():
    X, y = numbers()
    model = make_pipeline(StandardScaler(), MinimumNormRegressor()).fit(X, y)
    metric = case_metric(model)
    why = explain(model, X.iloc[[0]])
    assert_allclose(metric.sq_distances(X.iloc[[0]], X)[0][why.neighbors["row"] - 1], why.neighbors["sq_distance"])
    assert_allclose(metric.relevances(), as_metric(model).relevances())
    assert_allclose(metric.scale, as_metric(model).scale)
    assert metric.units == "per standard deviation"


def test_a_map_of_one_row_that_is_no_regressor_is_taken_as_it_is():
    metric = LinearMetric([[1.0, -1.0]])
    assert case_metric(metric) is metric
