from functools import partial

import numpy as np
import pandas as pd
import pytest

from tests.helpers.problems import problem_of
from whynear.data.cells import is_missing
from whynear.data.column_types import target_of
from whynear.data.options import Reading, TableRefused, with_suggestion


def test_integer_and_boolean_targets_are_classes(frame):
    assert set(problem_of(frame.assign(kind=np.arange(60) % 3), "kind").y) == {"0", "1", "2"}
    assert set(problem_of(frame.assign(kind=np.arange(60) % 2 == 0), "kind").y) == {"True", "False"}


def test_blanks_around_classes_are_removed_and_merging_is_a_caveat(frame):
    problem = problem_of(frame.assign(kind=["u ", "v", "u", " w"] * 15), "kind")
    assert set(problem.y) == {"u", "v", "w"}
    assert [text for text in problem.caveats if "blanks" in text] == [
        "Classes that differ only in blanks around their names were merged: 'u'."
    ]
    assert not problem_of(frame.assign(kind=["u ", "v"] * 30), "kind").caveats


def test_a_measurement_is_binned_on_request(frame):
    problem = problem_of(frame, "a", drop=["kind"], bins=3)
    assert pd.Series(problem.y).value_counts().to_dict() == {f"bin {i} of 3": 20 for i in (1, 2, 3)}
    with pytest.raises(ValueError, match="needs a numeric target"):
        problem_of(frame, "kind", bins=3)


def test_missing_targets_are_gaps_and_blanks():
    assert is_missing(pd.Series(["a", None, "  ", "", np.nan])).tolist() == [False, True, True, True, True]


def test_many_different_numbers_are_returned_as_such():
    values = pd.Series(np.arange(60) / 7, name="y")
    found, caveats = target_of(values, "t.csv", None)
    assert found.dtype == float
    assert caveats == []


def test_whole_numbers_name_the_same_classes_beside_a_gap(frame):
    codes = (np.arange(60) % 3).astype(float)
    codes[0] = np.nan
    problem = problem_of(frame.assign(kind=codes), "kind", drop_missing_target=True)
    assert set(problem.y) == {"0", "1", "2"}


def test_a_target_can_be_named_as_numbers_or_as_classes(frame):
    ratings = frame.assign(kind=np.arange(60) % 5)
    assert problem_of(ratings, "kind").kind == "classes"
    assert problem_of(ratings, "kind", number="kind").kind == "numbers"
    many = frame.assign(kind=[*range(45), *range(15)])
    assert problem_of(many, "kind").kind == "numbers"
    assert problem_of(many, "kind", category="kind").kind == "classes"


def test_signs_for_missing_targets_are_refused_by_row_with_what_leaves_them_out(frame):
    signs = frame.assign(kind=["?", *frame["kind"][1:]])
    with pytest.raises(TableRefused, match="1 value of the target 'kind' is missing, in row 1 ") as error:
        problem_of(signs, "kind")
    assert error.value.settings == {"drop_missing_target": True}
    problem = problem_of(signs, "kind", drop_missing_target=True)
    assert len(problem.y) == 59
    assert "'?' was taken as missing: 1 value, in 'kind' (1); --category 'kind' keeps it as a value." in problem.caveats


def test_a_measured_target_may_have_decimal_commas(frame):
    text = [f"{value:.4f}".replace(".", ",") for value in frame["a"]]
    problem = problem_of(frame.assign(a=text), "a", drop="kind")
    assert problem.kind == "numbers"
    assert np.allclose(problem.y, frame["a"], atol=1e-4)


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
