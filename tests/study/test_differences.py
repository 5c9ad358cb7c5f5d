"""Studies compared as they are, and as they were saved."""

import json

import numpy as np
import pytest

import whynear as wn
from tests.helpers.studies import small_study
from whynear.study.comparison import RowScores
from whynear.study.differences import SavedStudy, as_saved, read_study


@pytest.fixture
def study():
    return small_study()


@pytest.mark.usefixtures("blank_figures")
def test_a_study_is_compared_like_its_folder_and_its_file(study, tmp_path):
    study.save(tmp_path / "study")
    given = wn.compare_studies(study, study)
    for path in (tmp_path / "study", str(tmp_path / "study" / "study.json")):
        read = wn.compare_studies(path, study)
        assert read.difference == given.difference == 0
        assert read.standard_error == given.standard_error == 0
        assert not read.settings
        assert not read.changed + read.gained + read.lost
        assert read.sentences() == given.sentences()
    assert read_study(tmp_path / "study").verdicts == given.first.verdicts


def test_the_error_of_a_difference_is_that_of_the_rows_where_these_are_the_same(study):
    def scored(*parts, rows="these"):
        held_out = None if rows is None else RowScores(rows, np.array(parts))
        return SavedStudy("one", "t", "y", 4, "grlvq", "accuracy", np.mean(parts), 0.2, 3, 2, {}, {}, (), held_out)

    first = scored(1.0, 1.0, 1.0, 0.0)
    assert wn.compare_studies(first, scored(1.0, 1.0, 0.0, 0.0)).standard_error == pytest.approx(0.25)
    for rows in ("others", None):
        assert wn.compare_studies(first, scored(1.0, 1.0, 0.0, 0.0, rows=rows)).standard_error == pytest.approx(
            0.2 * 2**0.5
        )


def test_studies_of_classes_and_of_numbers_are_not_compared(study):
    other = SavedStudy("other", "t", "y", 10, "minimum norm", "r2", 0.55, 0.05, 2, 2, {}, {}, ())
    with pytest.raises(ValueError, match="iris scores by accuracy and other by r2"):
        wn.compare_studies(study, other)
    assert wn.compare_studies(other, other).first.score == "55.0% ± 5.0%"


@pytest.mark.parametrize(
    ("dimensions", "given", "said"),
    [
        ((3, 3), None, []),
        ((3, None), None, []),
        ((3, 3), 3, ["Both studies use 3 directions of the data, combinations of its columns"]),
        ((1, 4), None, ["The first study uses 1 direction of the data, combinations of its columns"]),
    ],
)
def test_the_effective_dimension_is_said_where_it_was_given_or_differs(dimensions, given, said):
    settings = {"effective_dim": given}
    studies = [SavedStudy("s", "t", "y", 9, "lmnn", "accuracy", 1, 0, 2, k, {}, settings, ()) for k in dimensions]
    found = [sentence for sentence in wn.compare_studies(*studies).sentences() if "direction" in sentence]
    assert [sentence.partition(" (the effective dimension)")[0] for sentence in found] == said


# Studies read again from their folder, also those of older versions.


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
