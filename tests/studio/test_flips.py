import pytest

from whynear.data.dates import is_dated
from whynear.studio.live import smallest_flips, what_if
from whynear.studio.models import CaseQuery, FlipQuery
from whynear.studio.store import Refused


def test_the_changed_case_is_predicted_otherwise(live):
    found = smallest_flips(live, FlipQuery(row=71))
    assert found.prediction == what_if(live, CaseQuery(row=71)).prediction
    for flip in found.flips:
        values = {change.feature: change.after for change in flip.changes}
        assert what_if(live, CaseQuery(row=71, values=values)).prediction == flip.prediction != found.prediction


def test_only_the_named_features_change_and_the_named_class_is_reached(live):
    found = smallest_flips(live, FlipQuery(row=71, features=["petal width (cm)"], to="setosa"))
    for flip in found.flips:
        assert [change.feature for change in flip.changes] == ["petal width (cm)"]
        assert flip.prediction == "setosa"


def test_a_numeric_target_has_nothing_to_flip(measured_live):
    with pytest.raises(Refused, match="numeric target"):
        smallest_flips(measured_live, FlipQuery(row=1))


def test_a_date_that_was_found_can_be_tried(dated_live):
    asked = {"row": 31, "features": ["visit", "taken"]}
    found = smallest_flips(dated_live, FlipQuery(**asked)).flips[0]
    assert all(is_dated(change.before) and is_dated(change.after) for change in found.changes)
    taken = {change.feature: change.after for change in found.changes}
    assert what_if(dated_live, CaseQuery(row=31, values=taken)).prediction == found.prediction
