import numpy as np
import pandas as pd
import pytest

from tests.helpers.studies import rows_of_two_classes
from whynear.data.opening import open_table
from whynear.data.refusal import TableRefused
from whynear.study.learnable import learnable_problem
from whynear.study.settings import StudySettings


def test_features_and_target_are_those_of_the_table():
    table = rows_of_two_classes(20, x=np.arange(20.0))
    problem = learnable_problem(table, "y", StudySettings())
    assert list(problem.X.columns) == ["x"]
    assert problem.y.tolist() == table["y"].tolist()
    given = learnable_problem(table[["x"]], table["y"], StudySettings())
    assert given.y.tolist() == problem.y.tolist()


def test_a_refusal_has_settings_that_are_taken():
    table = pd.DataFrame({"x": np.arange(30.0), "y": np.linspace(0, 1, 30)})
    with pytest.raises(TableRefused) as refused:
        learnable_problem(table, "y", StudySettings(learner="gmlvq"))
    assert refused.value.is_tried
    settings = StudySettings.of(learner="gmlvq", **refused.value.settings)
    assert learnable_problem(table, "y", settings).kind == "classes"


def test_the_table_is_opened_once_by_the_given_function():
    calls = []

    def opening(table, encoding, *, strict):
        calls.append(encoding)
        return open_table(table, encoding, strict=strict)

    table = pd.DataFrame({"x": np.arange(30.0), "y": np.linspace(0, 1, 30)})
    with pytest.raises(TableRefused):
        learnable_problem(table, "y", StudySettings(learner="gmlvq"), opening)
    assert calls == ["auto"]
