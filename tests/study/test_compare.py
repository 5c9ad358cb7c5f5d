"""Studies compared as they are, and as they were saved."""

import pytest

import whynear as wn
from tests.helpers.studies import small_study
from whynear.study.saved import SavedStudy, read_study


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
        assert not read.settings
        assert not read.changed + read.gained + read.lost
        assert read.sentences() == given.sentences()
    assert read_study(tmp_path / "study").verdicts == given.first.verdicts


def test_studies_of_classes_and_of_numbers_are_not_compared(study):
    other = SavedStudy("other", "t", "y", 10, "minimum norm", "r2", 0.55, 0.05, 2, 2, {}, {}, ())
    with pytest.raises(ValueError, match="iris scores by accuracy and other by r2"):
        wn.compare_studies(study, other)
    assert wn.compare_studies(other, other).first.score == "0.550 ± 0.050"
