import numpy as np
import pandas as pd
import pytest

from tests.helpers.problems import problem_of
from whynear.data.problem import kind_of_column, preview, row_names, summary


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([None, np.nan], "empty"),
        ([3, 3, None], "constant"),
        (["a", "b"], "categories"),
        ([0, 1, None], "yes or no"),
        ([True, False], "yes or no"),
        ([1, 2, 3], "whole numbers"),
        ([1.5, 2.0], "numbers"),
    ],
)
def test_a_column_has_one_kind(values, kind):
    assert kind_of_column(pd.Series(values)) == kind


def test_a_preview_counts_missing_and_distinct_values():
    columns = preview(pd.DataFrame({"a": [1.5, None, 2.5], "b": ["x", "x", "y"]}))
    assert columns.to_dict("list") == {
        "column": ["a", "b"],
        "kind": ["numbers", "categories"],
        "missing": [1, 0],
        "distinct": [2, 2],
    }
    assert summary(columns, 3) == "3 rows, 2 features (numbers: 1, categories: 1); 1 value missing in 1 column"


def test_columns_that_number_the_rows_are_found():
    rows = np.arange(5)
    X = pd.DataFrame({"n": rows, "m": rows + 1.0, "case_id": rows * 7, "width": rows * 7, "id": [1, 1, 2, 3, 4]})
    assert row_names(X.assign(name=list("abcde"), nr=[1, 2, 3, 4, np.nan])) == ["n", "m", "case_id"]


@pytest.mark.parametrize("start", [0, 1])
def test_a_column_that_looks_like_a_row_number_is_a_caveat(frame, start):
    problem = problem_of(
        frame.assign(case=np.arange(start, 60 + start), half=np.arange(60) / 2), "kind", categories="onehot"
    )
    assert "case" in problem.X
    (caveat,) = problem.caveats
    assert "'case' looks like a row number" in caveat
    assert "--drop 'case'" in caveat
