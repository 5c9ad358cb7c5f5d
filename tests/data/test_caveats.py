"""Caveats of a table: copies, codes, gaps."""

import numpy as np
import pandas as pd
import pytest

import whynear as wn
from tests.helpers.problems import problem_of
from tests.helpers.studies import part_of_study
from whynear.data.caveats import (
    MOST_NAMED,
    caveats_of_codes,
    caveats_of_possible_codes,
    caveats_of_repeats,
    features_as_codes,
    filled_in,
    remarks_on,
    unchanging,
)
from whynear.study.settings import grouped

Y = np.repeat(["u", "v"], 30)


def test_columns_that_say_nothing_are_named():
    X = pd.DataFrame({"a": range(60), "same": 1.0, "empty": np.nan, "once": [5.0, np.nan] * 30})
    assert unchanging(X) == [
        "Columns without any value carry no information: 'empty'.",
        "Columns that never change carry no information: 'same'.",
        "Columns with one value beside gaps carry no information, unless the gaps do: 'once'.",
    ]


def test_repeated_rows_are_counted():
    assert remarks_on(pd.DataFrame({"a": [*range(59), 0]}), Y) == [
        "1 row repeats the features of an earlier row, which makes held-out results optimistic.",
        "2 rows share all features with a row of another class: no metric can separate them.",
    ]


def test_filled_values_are_counted_and_informative_gaps_named():
    X = pd.DataFrame({"told": [np.nan] * 25 + [1.0, 2.0] * 17 + [1.0], "b": [np.nan, *range(59)]})
    counted, informative = filled_in(X, Y, "auto")
    assert counted.startswith("26 missing values were filled in by the median of the column")
    assert informative == (
        "Whether a value is missing depends on the target in column 'told': the column has an indicator of it; "
        "--impute median leaves it out."
    )
    assert counted.endswith(
        "in 2 columns, the most (25) in 'told'; the model does the same when it predicts; --strict refuses them."
    )
    assert len(filled_in(X, Y, "median")) == 1
    assert filled_in(X, Y, None) == []


def test_filled_categories_are_named_with_the_one_that_fills_them():
    X = pd.DataFrame({"sex": [None, "m", None, "f", "m", *["m", "f"] * 27, "m"], "a": [np.nan, *range(59)]})
    numbers, categories = filled_in(X, Y, "median")
    assert numbers == (
        "1 missing value was filled in by the median of the column, in column 'a'; the model does the same when it "
        "predicts."
    )
    assert categories == (
        "2 missing categories were filled in by the most frequent one of the column, 2 by 'm' in 'sex'; the model does "
        "the same when it predicts."
    )
    assert filled_in(X[["sex"]], Y, "median") == [categories]


# Rows that are equal in all features.


X = pd.DataFrame({"a": [1.0, 1.0, 2.0, np.nan, np.nan], "b": ["u", "u", "u", "v", "v"]})
Y_OF_COPIES = np.array(["p", "p", "q", "p", "p"])


def test_equal_rows_have_equal_codes_where_values_are_missing_too():
    codes = features_as_codes(X)
    assert codes[0] == codes[1] != codes[2]
    assert codes[3] == codes[4]


def test_rows_that_repeat_others_are_counted():
    assert caveats_of_repeats(X, Y_OF_COPIES, True) == [
        "2 rows repeat the features of an earlier row, which makes held-out results optimistic."
    ]
    assert caveats_of_repeats(X.iloc[[0, 2, 3]], Y_OF_COPIES[[0, 2, 3]], True) == []


def test_copies_within_a_group_make_nothing_optimistic():
    assert caveats_of_repeats(X, Y_OF_COPIES, True, pd.Series([0, 0, 1, 2, 2], name="patient")) == []
    assert caveats_of_repeats(X, Y_OF_COPIES, True, pd.Series([0, 0, 1, 2, 3], name="patient")) == [
        "1 row repeats the features of an earlier row with another 'patient', which makes held-out results optimistic."
    ]


def test_contradicting_classes_are_counted_in_groups_too():
    contradicting = np.array(["p", "q", "q", "p", "p"])
    said = "2 rows share all features with a row of another class: no metric can separate them."
    for groups in (None, pd.Series([0, 0, 1, 2, 2], name="patient")):
        assert caveats_of_repeats(X, contradicting, True, groups)[-1] == said
    assert said not in caveats_of_repeats(X, np.array([1.0, 2, 3, 4, 5]), False)


USUAL = [0.5, 1.5, 2.5, 3.0]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([*USUAL, -999, -999], 1),
        ([*USUAL, 9999, 9999, np.nan], 1),
        ([*USUAL, -9999999, -9999999], 1),
        ([*USUAL, 999999999.0, 999999999.0], 1),
        ([*USUAL, 99.9, 99.9], 0),
        ([*USUAL, -999], 0),  # once is a value
        ([*USUAL, -998, -998], 0),
        ([90.0, 95.0, 99.0, 99.0, 98.0], 0),
        ([np.nan, np.nan], 0),
        ([99.0, 99.0], 0),
    ],
)
def test_nines_far_from_all_others_are_named(values, said):
    assert len(caveats_of_codes(pd.DataFrame({"mass": values, "name": "-999"}))) == said


def test_a_code_is_named_with_all_its_digits():
    said = caveats_of_codes(pd.DataFrame({"mass": [*USUAL, -9999999, -9999999]}))[0]
    assert said.startswith("Column 'mass': 2 values are -9999999, far from all others")
    assert said.endswith("take it as one (--missing -9999999).")


def test_a_study_warns_of_them_and_takes_the_advice():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"mass": rng.standard_normal(60).round(2), "size": rng.standard_normal(60)})
    table["kind"] = np.where(table["size"] > 0, "a", "b")
    table.loc[::9, "mass"] = -999
    options = {"learner": "grlvq", "folds": 2, "random_state": 0}
    warned = "7 values are -999, far from all others"
    assert any(warned in caveat for caveat in wn.study(table, "kind", **grouped(options)).caveats)
    advised = part_of_study("problem", table, "kind", **grouped({**options, "missing": "-999"}))
    assert not any(warned in caveat for caveat in advised.caveats)


# Whole numbers that may be codes of categories.


ROWS = 60


def column(*values):
    return np.resize(values, ROWS)


def test_few_numbers_with_unequal_steps_may_be_codes():
    frame = pd.DataFrame({"ward": column(1, 2, 3, 7), "mass": np.linspace(0, 1, ROWS)})
    assert caveats_of_possible_codes(frame) == [
        "Column 'ward' holds the numbers 1, 2, 3 and 7 only, and was taken as a quantity. If they are codes of "
        "categories, take them as such (--category 'ward')."
    ]
    assert caveats_of_possible_codes(frame.assign(smoker=column(0, 1, 7))) == [
        "Columns 'ward' (1, 2, 3, 7) and 'smoker' (0, 1, 7) hold few whole numbers each, and were taken as quantities. "
        "If they are codes of categories, take them as such (--category 'ward' --category 'smoker')."
    ]


@pytest.mark.parametrize(
    "values",
    [
        column(1, 2, 3, 4),  # equal steps: a scale
        column(0, 10, 20),
        column(0, 7),  # two values need no order
        column(0.5, 1, 7),
        np.arange(ROWS) ** 2,
        np.r_[np.zeros(ROWS - 2), 3, 7],  # rare: counts
        np.full(ROWS, np.nan),
        column(0, 1, np.inf),
    ],
)
def test_other_numbers_are_quantities(values):
    assert caveats_of_possible_codes(pd.DataFrame({"x": values})) == []


def test_many_such_columns_are_counted():
    frame = pd.DataFrame({f"c{place}": column(1, 2, 9) for place in range(MOST_NAMED + 2)})
    (said,) = caveats_of_possible_codes(frame)
    assert "'c4' (1, 2, 9) and 2 more columns hold" in said


def test_a_table_says_so():
    frame = pd.DataFrame({"ward": column(1, 2, 3, 7), "x": np.arange(ROWS) * 0.1, "y": column("a", "b", "a")})
    assert any("'ward' holds the numbers" in caveat for caveat in problem_of(frame, "y").caveats)
