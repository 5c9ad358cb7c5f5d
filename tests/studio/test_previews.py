import numpy as np
import pandas as pd
import pytest

from tests.helpers.studies import of_days, of_patients, rows_of_two_classes
from whynear.data.opening import open_table
from whynear.studio.previews import consequences, likely_targets, preview
from whynear.study.learning import learnable_problem
from whynear.study.settings import StudySettings


@pytest.fixture
def patients(tmp_path):
    path = tmp_path / "patients.csv"
    rows = [
        f"p{i // 2},{i % 7},{'?' if i == 3 else i * 1.5},{'ab'[i % 2]},{'sick' if i % 3 else 'well'}" for i in range(40)
    ]
    path.write_text("\n".join(["patient,age,dose,site,diagnosis", *rows]) + "\n")
    return path


def said(shown, setting):
    return " ".join(one.text for one in shown.consequences if one.setting == setting)


def test_columns_rows_and_target_are_shown(patients):
    shown = preview(patients, "diagnosis", StudySettings.of(group="patient"))
    assert shown.rows == 40
    assert {one.name: one.role for one in shown.columns} == {
        "patient": "group", "age": "feature", "dose": "feature", "site": "feature", "diagnosis": "target",
    }  # fmt: skip
    assert {one.name: one.kind for one in shown.columns}["age"] == "whole numbers"
    assert dict(shown.classes) == {"sick": 26, "well": 14}
    assert "20 groups" in said(shown, "group")
    assert shown.cost.seconds > 0
    assert len(shown.head[0]) == 5
    assert "'?'" in said(shown, "table")


def test_without_a_target_the_likeliest_is_taken(patients):
    shown = preview(patients, None, StudySettings())
    assert shown.target == "diagnosis"
    assert shown.targets[0] == "diagnosis"
    assert set(shown.targets) == {"patient", "age", "dose", "site", "diagnosis"}


def test_a_refusal_has_the_settings_that_work(patients):
    shown = preview(patients, "diagnosis", StudySettings.of(strict=True))
    assert shown.refusal is not None
    again = preview(patients, "diagnosis", StudySettings.of(**{"strict": True, **shown.refusal.suggestion}))
    assert again.refusal is None


def test_a_column_that_is_not_there_is_refused_in_a_sentence(patients):
    shown = preview(patients, "nothing", StudySettings())
    assert "'nothing'" in shown.refusal.message
    assert shown.cost is None


def test_a_numeric_target_has_a_range(patients):
    shown = preview(patients, "dose", StudySettings.of(drop_missing_target=True))
    assert shown.target_kind == "numbers"
    assert shown.range == (0.0, 58.5)
    assert "bins=3" in said(shown, "target")


def test_targets_are_likely_by_name_then_place_then_values():
    frame = pd.DataFrame(
        {"class": [0.5, 1.5, 2.5], "few": [1, 1, 2], "other": [1.1, 2.2, 3.3], "last": [0.1, 0.2, 0.3]}
    )
    assert likely_targets(open_table(frame)) == ["class", "last", "few", "other"]


def test_hostile_cells_become_printable_text(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("<b>,y\n" + "".join(f"a\u202e{i % 3},{'uv'[i % 2]}\n" for i in range(12)))
    shown = preview(path, "y", StudySettings())
    assert all(cell is None or cell.isprintable() for row in shown.head for cell in row)


def test_a_column_of_lists_is_shown_and_refused_by_name(tmp_path):
    table = pd.DataFrame({"a": range(20), "tags": [[1, 2], None] * 10, "kind": ["u", "v"] * 10})
    table.to_parquet(tmp_path / "t.parquet")
    shown = preview(tmp_path / "t.parquet", None, StudySettings())
    assert "'tags'" in shown.refusal.message
    (tags,) = (one for one in shown.columns if one.name == "tags")
    assert (tags.kind, tags.missing, tags.distinct) == ("text", 10, 1)
    assert preview(tmp_path / "t.parquet", "kind", StudySettings.of(drop=("tags",))).refusal is None


def said_of_consequences(table, target, **settings):
    chosen = StudySettings.of(**settings)
    found = consequences(learnable_problem(table, target, chosen), chosen)
    return {one.setting: one for one in reversed(found)}, found


def test_groups_times_and_dropped_columns_are_said():
    of, _ = said_of_consequences(of_patients(12), "y", group="patient", drop=("nose",))
    assert "12 groups" in of["group"].text
    assert "'nose'" in of["drop"].text
    of, _ = said_of_consequences(of_days(12), "y", time="day")
    assert "12 different times" in of["time"].text


def test_an_uneven_target_is_a_warning_unless_classes_count_alike():
    table = pd.DataFrame({"x": np.arange(100.0), "y": ["a"] * 96 + ["b"] * 4})
    of, found = said_of_consequences(table, "y")
    assert of["score"].warning
    assert "96%" in of["score"].text
    assert any("fewer than 20 rows" in one.text and one.warning for one in found)
    of, _ = said_of_consequences(table, "y", score="balanced_accuracy")
    assert "score" not in of


def test_a_number_that_looks_like_a_missing_value_is_a_warning():
    ages = np.r_[np.random.default_rng(0).integers(18, 90, 37), -999, -999, -999].astype(float)
    table = rows_of_two_classes(40, age=ages, nines=np.arange(40.0) % 10)
    of, found = said_of_consequences(table, "y")
    assert "'age': 3 values are -999" in of["missing"].text
    assert sum("far from all others" in one.text for one in found) == 1
    _, found = said_of_consequences(table, "y", missing=("-999",))
    assert not any("far from all others" in one.text for one in found)


def test_learners_and_folds_are_said():
    of, _ = said_of_consequences(rows_of_two_classes(40, x=np.arange(40.0)), "y", learner="gmlvq", folds=4)
    assert "30 rows" in of["folds"].text
    assert "GMLVQ" in of["learner"].text


def test_every_decision_and_every_caveat_is_there():
    table = rows_of_two_classes(40, x=np.random.default_rng(0).standard_normal(40), same=1.0)
    problem = learnable_problem(table, "y", StudySettings())
    texts = [one.text for one in consequences(problem, StudySettings())]
    assert set(problem.decisions) | set(problem.caveats) <= set(texts)
    assert len(set(texts)) == len(texts)
