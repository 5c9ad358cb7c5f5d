import numpy as np
import pandas as pd

from tests.helpers.studies import of_days, of_patients, rows_of_two_classes
from whynear.studio.previews import consequences
from whynear.study.learnable import learnable_problem
from whynear.study.settings import StudySettings


def said(table, target, **settings):
    chosen = StudySettings.of(**settings)
    found = consequences(learnable_problem(table, target, chosen), chosen)
    return {one.setting: one for one in reversed(found)}, found


def test_groups_times_and_dropped_columns_are_said():
    of, _ = said(of_patients(12), "y", group="patient", drop=("nose",))
    assert "12 groups" in of["group"].text
    assert "'nose'" in of["drop"].text
    of, _ = said(of_days(12), "y", time="day")
    assert "12 different times" in of["time"].text


def test_an_uneven_target_is_a_warning_unless_classes_count_alike():
    table = pd.DataFrame({"x": np.arange(100.0), "y": ["a"] * 96 + ["b"] * 4})
    of, found = said(table, "y")
    assert of["score"].warning
    assert "96%" in of["score"].text
    assert any("fewer than 20 rows" in one.text and one.warning for one in found)
    of, _ = said(table, "y", score="balanced_accuracy")
    assert "score" not in of


def test_a_number_that_looks_like_a_missing_value_is_a_warning():
    ages = np.r_[np.random.default_rng(0).integers(18, 90, 37), -999, -999, -999].astype(float)
    table = rows_of_two_classes(40, age=ages, nines=np.arange(40.0) % 10)
    of, found = said(table, "y")
    assert "'age': 3 values are -999" in of["missing"].text
    assert sum("far from all others" in one.text for one in found) == 1
    _, found = said(table, "y", missing=("-999",))
    assert not any("far from all others" in one.text for one in found)


def test_learners_and_folds_are_said():
    of, _ = said(rows_of_two_classes(40, x=np.arange(40.0)), "y", learner="gmlvq", folds=4)
    assert "30 rows" in of["folds"].text
    assert "GMLVQ" in of["learner"].text


def test_every_decision_and_every_caveat_is_there():
    table = rows_of_two_classes(40, x=np.random.default_rng(0).standard_normal(40), same=1.0)
    problem = learnable_problem(table, "y", StudySettings())
    texts = [one.text for one in consequences(problem, StudySettings())]
    assert set(problem.decisions) | set(problem.caveats) <= set(texts)
    assert len(set(texts)) == len(texts)
