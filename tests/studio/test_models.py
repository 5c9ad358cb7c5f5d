import ast
from typing import get_args

import pytest
from pydantic import ValidationError

from whynear.studio.models import (
    CaseQuery,
    Judged,
    LeaveOutQuery,
    Move,
    NewStudy,
    Refusal,
    Settings,
    View,
)
from whynear.studio.python_views import Shown, lines_for
from whynear.study.settings import SETTINGS, StudySettings


def test_settings_are_those_of_a_study_with_the_same_defaults():
    assert set(Settings.model_fields) == set(SETTINGS) - {"engine", "address"}
    assert Settings().checked() == StudySettings()


def test_unknown_settings_are_refused():
    with pytest.raises(ValidationError, match="Extra inputs"):
        NewStudy(example="iris", settings={"keep": "/etc"})


def test_what_the_library_refuses_is_refused_with_its_sentence():
    with pytest.raises(ValueError, match="There is no learner 'magic'"):
        Settings(learner="magic").checked()


def test_values_are_numbers_text_or_missing():
    assert CaseQuery(values={"a": 1, "b": "x", "c": None}).values == {"a": 1.0, "b": "x", "c": None}
    with pytest.raises(ValidationError):
        CaseQuery(values={"a": [1]})


def test_at_least_one_feature_is_left_out():
    with pytest.raises(ValidationError):
        LeaveOutQuery(features=[])


def judged(verdict, *stand_ins):
    return Judged(verdict=verdict, loss=1.0, error=0.5, stand_ins=list(stand_ins))


def test_a_move_is_another_verdict_or_other_stand_ins():
    same = Move(feature="a", before=judged("undecided", "b", "c"), after=judged("undecided", "c", "b"))
    assert (same.has_other_verdict, same.has_other_stand_ins) == (False, False)
    moved = Move(feature="a", before=judged("replaceable", "b"), after=judged("indispensable"))
    assert (moved.has_other_verdict, moved.has_other_stand_ins) == (True, True)


def test_a_refusal_need_not_have_a_suggestion():
    assert Refusal(message="no").suggestion == {}


HOSTILE = "x'); import os; os.system('rm -rf /') #\n"


@pytest.mark.parametrize("view", get_args(View))
def test_names_of_a_table_are_only_text_in_the_code(view):
    settings = StudySettings.of(drop=(HOSTILE,), index=HOSTILE)
    shown = Shown(
        HOSTILE, HOSTILE, settings, HOSTILE, row=HOSTILE, values={HOSTILE: 1.0}, features=[HOSTILE], other=HOSTILE
    )
    tree = ast.parse(lines_for(view, shown))
    imported = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    assert imported == ["whynear"]


def test_weights_of_rows_count_when_features_are_left_out():
    plain, weighted = (
        lines_for("leave-out", Shown("cases.csv", "y", StudySettings.of(weight=weight), "study", features=["a"]))
        for weight in (None, "w")
    )
    assert "sample_weight" not in plain
    assert "groups=problem.separation, sample_weight=problem.weights, random_state=0" in weighted
    assert "groups=fewer.problem.separation, sample_weight=fewer.problem.weights, random_state=0" in weighted


def test_only_changed_settings_are_written():
    shown = Shown("cases.csv", "y", StudySettings.of(folds=3, bins=2), "study", learner="gmlvq")
    reading = "wn.Reading(bins=2)"
    repeated = f"wn.study('cases.csv', 'y', reading={reading}, splitting=wn.Splitting(folds=3))"
    assert repeated in lines_for("study", shown)
    learned = f"wn.learn_table('cases.csv', 'y', reading={reading}, learner='gmlvq').problem"
    assert learned in lines_for("leave-out", shown)
