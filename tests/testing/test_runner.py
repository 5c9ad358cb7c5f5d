import warnings

import pytest

from whynear.testing.metric import refused, run_checks


def fails(message):
    def check():
        raise ValueError(message)

    return check


def test_all_failures_are_listed_with_their_reasons():
    def unequal():
        raise AssertionError("one\n  two")

    checks = [("first", fails("no")), ("second", lambda: None), ("third", unequal)]
    with pytest.raises(AssertionError) as caught:
        run_checks("thing", checks)
    lines = str(caught.value).splitlines()
    assert lines[0] == "thing failed 2 of 3 checks:"
    assert lines[1].startswith("- first: ValueError: no (check, line ")
    assert lines[2].startswith("- third: one two (unequal, line ")


def test_checks_that_pass_raise_nothing_and_their_warnings_are_hidden():
    with warnings.catch_warnings(record=True) as caught:
        run_checks("thing", [("warns", lambda: warnings.warn("not converged", UserWarning, stacklevel=1))])
    assert not caught


def test_bad_input_must_be_refused_by_a_message_that_names_the_fact():
    refused("a NaN", "COLUMN", fails("in column 'a'"))
    with pytest.raises(AssertionError, match="the error for a NaN does not name 'width': in column 'a'"):
        refused("a NaN", "width", fails("in column 'a'"))
    with pytest.raises(AssertionError, match="a NaN was accepted"):
        refused("a NaN", "width", lambda: None)
    with pytest.raises(KeyError):
        refused("a NaN", "width", {}.__getitem__, 1)
