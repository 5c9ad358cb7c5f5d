"""Rows that are equal in all features."""

import numpy as np
import pandas as pd

from whynear.data.caveats import caveats_of_repeats, features_as_codes

X = pd.DataFrame({"a": [1.0, 1.0, 2.0, np.nan, np.nan], "b": ["u", "u", "u", "v", "v"]})
Y = np.array(["p", "p", "q", "p", "p"])


def test_equal_rows_have_equal_codes_where_values_are_missing_too():
    codes = features_as_codes(X)
    assert codes[0] == codes[1] != codes[2]
    assert codes[3] == codes[4]


def test_rows_that_repeat_others_are_counted():
    assert caveats_of_repeats(X, Y, True) == [
        "2 rows repeat the features of an earlier row, which makes held-out results optimistic."
    ]
    assert caveats_of_repeats(X.iloc[[0, 2, 3]], Y[[0, 2, 3]], True) == []


def test_copies_within_a_group_make_nothing_optimistic():
    assert caveats_of_repeats(X, Y, True, pd.Series([0, 0, 1, 2, 2], name="patient")) == []
    assert caveats_of_repeats(X, Y, True, pd.Series([0, 0, 1, 2, 3], name="patient")) == [
        "1 row repeats the features of an earlier row with another 'patient', which makes held-out results optimistic."
    ]


def test_contradicting_classes_are_counted_in_groups_too():
    contradicting = np.array(["p", "q", "q", "p", "p"])
    said = "2 rows share all features with a row of another class: no metric can separate them."
    for groups in (None, pd.Series([0, 0, 1, 2, 2], name="patient")):
        assert caveats_of_repeats(X, contradicting, True, groups)[-1] == said
    assert said not in caveats_of_repeats(X, np.array([1.0, 2, 3, 4, 5]), False)
