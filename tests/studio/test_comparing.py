import pytest

from tests.helpers.studies import small_study
from tests.helpers.studios import add_finished
from whynear.studio.routes import compare
from whynear.studio.store import NotFound


def test_two_studies_are_compared_under_their_names(flowers):
    studio, number = flowers
    other = add_finished(studio.project, small_study(), example="iris", name="again")
    found = compare(studio, number, other).differences
    assert (found["first"]["name"], found["second"]["name"]) == ("flowers", "again")
    assert found["difference"] == 0
    assert found["changed"] == []


def test_a_study_that_is_not_there_is_named(flowers):
    studio, number = flowers
    with pytest.raises(NotFound):
        compare(studio, number, "none")
