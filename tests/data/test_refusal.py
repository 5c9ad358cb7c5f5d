from functools import partial

import pytest

from whynear.data.refusal import TableRefused, with_suggestion
from whynear.data.settings import Reading


def make(reading, hopeless=False):
    drop, impute = reading.drop, reading.impute
    if "a" not in drop:
        raise TableRefused("a is no number", drop=("a",))
    if impute == "auto":
        raise TableRefused("b has gaps", impute="median")
    if hopeless:
        raise ValueError("nothing is left")
    if "c" not in drop:
        raise TableRefused("c is no number", drop=("c",))
    return drop, impute


def test_the_first_refusal_is_raised_with_settings_that_remedy_all():
    with pytest.raises(TableRefused, match="a is no number") as error:
        with_suggestion(make, Reading(drop="b"))
    assert error.value.is_tried
    assert error.value.settings == {"drop": ("a", "c"), "impute": "median"}
    assert error.value.__notes__ == ["Try: reading=wn.Reading(drop=['b', 'a', 'c'], impute='median')"]
    assert with_suggestion(make, Reading(drop=["b", "a", "c"], impute="median")) == (("b", "a", "c"), "median")


def test_nothing_is_suggested_that_does_not_work():
    with pytest.raises(TableRefused, match="a is no number") as error:
        with_suggestion(partial(make, hopeless=True), Reading())
    assert not error.value.is_tried


def test_a_remedy_that_changes_nothing_ends():
    def never(_):
        raise TableRefused("never", drop=("a",))

    with pytest.raises(TableRefused) as error:
        with_suggestion(never, Reading())
    assert not error.value.is_tried
