"""Which tables can be studied with which settings."""

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.validation import has_fit_parameter

import whynear as wn
from tests.helpers.problems import problem_of
from tests.helpers.studies import measured, rows_of_two_classes
from whynear.data.opening import open_table
from whynear.data.options import TableRefused
from whynear.learn.registry import COMPARED, LEARNERS, STUDIED
from whynear.study.learning import (
    FEWEST_NUMERIC_ROWS,
    caveats_of_weights,
    check_fittable,
    learnable_problem,
)
from whynear.study.settings import StudySettings

TABLE = rows_of_two_classes(20, a=range(20), size=range(20))


def rising(n=30):
    return pd.DataFrame({"a": np.arange(n) + 0.5, "b": np.arange(n) ** 2.0, "y": np.linspace(0, 1, n)})


def test_a_learner_of_classes_is_refused_for_a_measured_target_with_what_would_work():
    with pytest.raises(TableRefused, match="30 different values, and lmnn predicts classes") as refused:
        check_fittable(problem_of(rising(), "y"), "lmnn")
    assert refused.value.settings == {"bins": 3}
    check_fittable(problem_of(rising(), "y"), "auto")


def test_few_rows_of_a_measured_target_are_refused():
    with pytest.raises(ValueError, match=f"at least {FEWEST_NUMERIC_ROWS} rows are needed. Add rows"):
        check_fittable(problem_of(rising(9), "y"), "auto")


def test_constant_columns_are_refused_by_name():
    with pytest.raises(ValueError, match=r"all columns are constant: 'a', 'b'\. Add a column"):
        check_fittable(problem_of(rising().assign(a=1.0, b=2.0), "y"), "auto")


@pytest.mark.parametrize("settings", [{}, {"weight": "size"}, {"class_weight": "balanced"}], ids=str)
def test_all_learners_are_compared_with_weights_and_without(settings):
    assert StudySettings.of(**settings).learners == COMPARED
    assert StudySettings.of(learner="lann", **settings).learners == ("lann",)


@pytest.mark.parametrize("name", STUDIED)
def test_every_studied_learner_takes_weights_of_rows_and_classes(name):
    assert has_fit_parameter(LEARNERS[name], "sample_weight")
    assert "class_weight" in LEARNERS[name]().get_params()


def test_classes_are_weighed_by_balance_or_not_and_numbers_have_none():
    with pytest.raises(ValueError, match=r"\(--bins 3\), or leave out --class-weight"):
        wn.study(measured(40), "y", class_weight="balanced")
    with pytest.raises(ValueError, match="class_weight must be 'balanced' or None, got 'even' instead"):
        wn.study(TABLE, "y", class_weight="even")


def test_what_weights_count_for_is_said_where_there_are_some():
    said = (
        "Weights count when learners are fitted, not for plain kNN, NCA, PLS, the kernel ridge models of verdicts and "
        "the votes of neighbours in LMNN and LANN; "
    )
    held_out = (
        "held-out rows count by their weights in scores, once in verdicts, tolerances and the analysis of errors."
    )
    assert caveats_of_weights(StudySettings()) == ()
    assert caveats_of_weights(StudySettings.of(weight="size")) == (f"{said}{held_out}",)
    assert caveats_of_weights(StudySettings.of(weight="size", class_weight="balanced")) == (f"{said}{held_out}",)
    assert caveats_of_weights(StudySettings(class_weight="balanced")) == (f"{said}each held-out row counts once.",)


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
