import numpy as np
import pandas as pd
import pytest

from tests.helpers.problems import problem_of
from whynear.study.learnable import FEWEST_NUMERIC_ROWS, check_learnable
from whynear.tables.refusal import TableRefused


def measured(n=30):
    return pd.DataFrame({"a": np.arange(n) + 0.5, "b": np.arange(n) ** 2.0, "y": np.linspace(0, 1, n)})


def test_a_learner_of_classes_is_refused_for_a_measured_target_with_what_would_work():
    with pytest.raises(TableRefused, match="is numeric with 30 different values, and lmnn predicts classes") as refused:
        check_learnable(problem_of(measured(), "y", measured=True), "lmnn")
    assert refused.value.settings == {"bins": 3}
    check_learnable(problem_of(measured(), "y", measured=True), "auto")


def test_few_rows_of_a_measured_target_are_refused():
    with pytest.raises(ValueError, match=f"at least {FEWEST_NUMERIC_ROWS} rows are needed. Add rows"):
        check_learnable(problem_of(measured(9), "y", measured=True), "auto")


def test_constant_columns_are_refused_by_name():
    with pytest.raises(ValueError, match=r"all columns are constant: 'a', 'b'\. Add a column that differs"):
        check_learnable(problem_of(measured().assign(a=1.0, b=2.0), "y", measured=True), "auto")
