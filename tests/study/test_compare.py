"""Studies compared as they are, and as they were saved."""

import numpy as np
import pytest

import whynear as wn
from tests.helpers.studies import small_study
from whynear.study.compare import SavedStudy, read_study
from whynear.study.comparison import RowScores


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
