"""Studies read again from their folder, also those of older versions."""

import json

import pytest

from tests.helpers.studies import small_study
from whynear.study.compare import as_saved, read_study


def written(path, **content):
    path.write_text(json.dumps({"format": 1, **content}))
    return path


@pytest.mark.usefixtures("blank_figures")
def test_a_study_is_read_as_it_was_saved(tmp_path):
    study = small_study()
    study.save(tmp_path)
    read, given = read_study(tmp_path), as_saved(study)
    assert (read.expected, read.expected_error) == (given.expected, given.expected_error)
    assert (read.expected, read.expected_error) == (study.comparison.expected, study.comparison.expected_error)
    assert read.score == str(study.comparison.score)
    assert read.verdicts == given.verdicts == dict(study.frame()[["feature", "verdict"]].to_numpy())
    assert (read.name, given.name) == (str(tmp_path), "iris")
    assert (read.source, read.target, read.rows, read.chosen, read.effective_dim) == (
        given.source,
        given.target,
        150,
        "grlvq",
        study.interpretation.effective_dim,
    )
    assert read.settings == given.settings


@pytest.mark.parametrize(
    ("measure", "content"),
    [
        ("accuracy", {"expected_scores": [0.5, 0.7]}),
        ("accuracy", {"honest_accuracy": [0.5, 0.7]}),
        ("accuracy", {"measure": "accuracy", "honest_accuracy": [0.5, 0.7]}),
        ("r2", {"measure": "r2", "expected_scores": [0.5, 0.7]}),
        ("r2", {"measure": "r2", "honest_r2": [0.5, 0.7]}),
        ("r2", {"measure": "r2", "honest_accuracy": [0.5, 0.7]}),
    ],
)
def test_scores_are_read_under_their_old_names_too(tmp_path, measure, content):
    study = read_study(written(tmp_path / "study.json", **content))
    assert (study.measure, study.folds) == (measure, 2)
    assert (study.expected, study.expected_error) == pytest.approx((0.6, 0.1))


def test_a_score_is_written_in_the_units_of_its_measure(tmp_path):
    path = tmp_path / "study.json"
    assert read_study(written(path, expected_scores=[0.5, 0.7])).score == "60.0% ± 10.0%"
    assert read_study(written(path, expected_scores=[0.5])).score == "50.0%"
    assert read_study(written(path, expected=0.9, expected_error=0.02, expected_scores=[1])).score == "90.0% ± 2.0%"
    assert read_study(written(path, measure="r2", expected_scores=[0.5, 0.7])).score == "60.0% ± 10.0%"
    assert read_study(written(path, expected_scores=[None])).score == "no score"
