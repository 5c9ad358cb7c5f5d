import pytest
from pydantic import ValidationError

from whynear.studio.models import NewStudy, Settings
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
