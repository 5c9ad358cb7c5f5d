import numpy as np
import pandas as pd
import pytest

from whynear import DiagonalMetric
from whynear.cases.case_base import CaseBase


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
        (pd.DataFrame({"a": ["1", "two"], "b": [1, 2]}), "'two' in column 'a', row 1"),
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
