import numpy as np
import pandas as pd
import pytest

import whynear as wn
from tests.helpers.learners import NearestClassMean
from whynear.learn import fit_inputs, predict_inputs

X = pd.DataFrame({"a": [0.0, 1, 2, 3], "b": [1.0, 0, 1, 0]}, index=list("wxyz"))
Y = ["u", "v", "u", "v"]


def test_classes_are_coded_in_order_and_names_kept():
    learner = NearestClassMean()
    data = fit_inputs(learner, X, Y)
    assert data.classes.tolist() == ["u", "v"]
    assert data.codes.tolist() == [0, 1, 0, 1]
    assert data.feature_names == ("a", "b")
    assert learner.feature_names_in_.tolist() == ["a", "b"]


def test_missing_targets_are_listed_by_row():
    with pytest.raises(ValueError, match=r"2 targets are missing, in rows 2, 4 \(counting from 1\)"):
        fit_inputs(NearestClassMean(), X, pd.Series(["u", None, "v", None]))


def test_a_single_class_is_named():
    with pytest.raises(ValueError, match=r"single class .*'u'.*NearestClassMean needs at least two"):
        fit_inputs(NearestClassMean(), X, ["u"] * 4)


def test_a_column_too_small_to_square_is_refused():
    with pytest.raises(ValueError, match="3e-200 in column 'a': its square vanishes"):
        fit_inputs(NearestClassMean(), X.assign(a=X["a"] * 1e-200), Y)


def test_cases_to_predict_are_checked_against_the_fit():
    learner = NearestClassMean().fit(X, Y)
    np.testing.assert_array_equal(predict_inputs(learner, X), X)
    with pytest.raises(ValueError, match="1 in column 'b'"):
        predict_inputs(learner, X.assign(b=[1, 2, 3, np.nan]))


@pytest.mark.parametrize(
    ("X", "y", "fact"),
    [
        (np.ma.masked_array(np.eye(6), mask=np.eye(6)), np.arange(6) % 2, "X has 6 masked values"),
        (np.eye(6, dtype="timedelta64[s]"), np.arange(6) % 2, "X holds dates or durations"),
        (np.eye(6), np.array(["a", 1] * 3, dtype=object), "y mixes text and other values: 'a' and 1. Write all"),
    ],
)
def test_what_is_no_plain_table_is_refused_in_a_sentence(X, y, fact):
    with pytest.raises(ValueError, match=fact):
        fit_inputs(wn.GRLVQ(), X, y)
