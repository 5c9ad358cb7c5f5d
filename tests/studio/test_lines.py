import ast
from typing import get_args

import pytest

from whynear.studio.models import View
from whynear.studio.python_views import Shown, lines_for
from whynear.study.settings import StudySettings

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
