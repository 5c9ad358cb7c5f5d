import pytest
from pydantic import ValidationError

from whynear.studio.models import CaseQuery, LeaveOutQuery


def test_values_are_numbers_text_or_missing():
    assert CaseQuery(values={"a": 1, "b": "x", "c": None}).values == {"a": 1.0, "b": "x", "c": None}
    with pytest.raises(ValidationError):
        CaseQuery(values={"a": [1]})


def test_at_least_one_feature_is_left_out():
    with pytest.raises(ValidationError):
        LeaveOutQuery(features=[])
