import pytest

from whynear.studio.models import NewStudy, changed_settings
from whynear.studio.routes import example_named, examples
from whynear.studio.store import NotFound, Refused, WrongState
from whynear.study.settings import StudySettings


def test_a_study_waits_with_its_settings(studio):
    number = studio.start(NewStudy(example="iris", settings={"folds": 3, "drop": ["petal width (cm)"]}))
    info = studio.info(number)
    assert (info.state, info.source, info.name) == ("waiting", "iris", "iris")
    assert info.settings == {"folds": 3, "drop": ["petal width (cm)"]}
    assert changed_settings(studio.store.study(number)["settings"]) == StudySettings.of(
        folds=3, drop=("petal width (cm)",)
    )
    with pytest.raises(WrongState, match="waiting"):
        studio.store.finished(number)


def test_a_study_needs_one_table(studio):
    for wanted in (NewStudy(), NewStudy(example="iris", table="x")):
        with pytest.raises(Refused, match="either"):
            studio.start(wanted)
    with pytest.raises(NotFound):
        studio.start(NewStudy(table="x"))


@pytest.mark.parametrize("name", ["/etc/passwd", "../x.csv", "letter.npz", "", "IRIS"])
def test_an_example_is_a_name_in_the_list(name):
    with pytest.raises(NotFound):
        example_named(name)


def test_examples_need_no_download():
    assert {"iris", "wine", "breast_cancer", "digits"} <= {known.name for known in examples()}
    assert not any("OpenML" in known.origin for known in examples())


def test_a_link_names_the_address(studio):
    assert studio.link().startswith("http://127.0.0.1:8777/?token=")
