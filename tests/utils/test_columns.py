from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array

import whynear as wn
from whynear.utils.columns import (
    as_numbers,
    check_features,
    check_finite,
    check_magnitudes,
    check_plain,
    first_non_number,
    names_of_rows,
    numbers,
    plain_name,
    rows_at,
)


def test_missing_values_are_named_with_their_counts_and_the_way_out():
    X = pd.DataFrame({"age": [1.0, np.nan, np.nan], "height": [np.nan, 2.0, 3.0], "weight": [1.0, 2.0, 3.0]})
    with pytest.raises(ValueError, match=r"2 in column 'age', 1 in column 'height'\. .*SimpleImputer"):
        check_features(X, X.columns)


def test_infinities_are_named():
    with pytest.raises(ValueError, match=r"infinity \(inf\): 1 in column 'b'"):
        check_finite(np.array([[1.0, -np.inf]]), ["a", "b"])


def test_many_bad_columns_are_counted_not_listed():
    with pytest.raises(ValueError, match="and in 15 more columns"):
        check_finite(np.full((1, 20), np.nan), [f"c{i}" for i in range(20)])


def test_sparse_tables_are_refused():
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        check_features(csr_array(np.eye(2)), ["a", "b"])


S, Y = csr_array(np.random.default_rng(0).random((20, 3))), np.arange(20) % 2
TAKE_TABLES = {
    "verdicts": lambda: wn.verdicts(wn.GRLVQ(), S, Y),
    "sufficient_sets": lambda: wn.sufficient_sets(wn.GRLVQ(), S, Y),
    "relevance_floor": lambda: wn.relevance_floor(wn.GRLVQ(), S, Y),
    "relevance_tolerance": lambda: wn.relevance_tolerance(wn.GRLVQ(), S, Y),
    "effective_dimension": lambda: wn.effective_dimension(wn.GRLVQ(), S, Y),
    "explain": lambda: wn.explain(wn.GRLVQ(random_state=0).fit(S.toarray(), Y), S),
    "class_profiles": lambda: wn.class_profiles(wn.LGRLVQ(random_state=0).fit(S.toarray(), Y), S),
    "study": lambda: wn.study(S, Y),
    "study of a table": lambda: wn.study(S, "y"),
    "a learner": lambda: wn.GRLVQ().fit(S, Y),
    "relevance_intervals": lambda: wn.relevance_intervals(wn.LinearMetric(np.eye(3)), S),
    "embed": lambda: wn.embed(wn.LinearMetric(np.eye(3)), S),
}


@pytest.mark.parametrize("name", TAKE_TABLES)
def test_where_a_dense_table_is_needed_a_sparse_one_is_refused_with_the_way_out(name):
    with pytest.raises(TypeError, match=r"dense .*toarray\(\)"):
        TAKE_TABLES[name]()


def test_a_tiny_column_is_refused_only_where_columns_are_scaled_alone():
    X = np.array([[1.0, 1e-200], [2.0, 2e-200]])
    check_magnitudes(X, ["a", "b"])
    with pytest.raises(ValueError, match="larger than 2e-200 in column 'b'"):
        check_magnitudes(X, ["a", "b"], by_column=True)


def test_an_integer_table_with_odd_index_is_taken_as_numbers():
    X = pd.DataFrame({"a": [1, 2]}, index=["r", "r"])
    np.testing.assert_array_equal(check_features(X, ["a"]), [[1.0], [2.0]])


@pytest.mark.parametrize(
    ("values", "as_they_are", "with_text"),
    [
        ([1, 2.5, None], [1, 2.5, np.nan], [1, 2.5, np.nan]),
        ([True, np.False_, Decimal("0.5")], [1, 0, 0.5], [1, 0, 0.5]),
        (["1.5", " -2e3 ", ".5", "1.", None], None, [1.5, -2000, 0.5, 1, np.nan]),
        ([1, "2"], None, [1, 2]),
        (["007", "008"], None, None),
        (["1,5"], None, None),
        (["nan"], None, None),
        (["1_000"], None, None),
        (["", "1"], None, None),
        ([date(2020, 1, 1)], None, None),
        ([1 + 2j], None, None),
    ],
)
def test_what_counts_as_a_number(values, as_they_are, with_text):
    column = pd.Series(values, dtype=object)
    for found, expected in ((as_numbers(column), as_they_are), (as_numbers(column, text=True), with_text)):
        assert (found is None) == (expected is None)
        if expected is not None:
            assert_array_equal(found, np.array(expected, dtype=float))


def test_a_column_that_must_hold_numbers_names_the_first_value_that_is_none():
    assert_array_equal(numbers(pd.Series(["1.5", None, " 007 "], name="a")), [1.5, np.nan, 7])
    with pytest.raises(ValueError, match=r"'tall' in column 'a', row 2 .*, which is not a number"):
        numbers(pd.Series(["1", "tall"], name="a"), "Y")
    with pytest.raises(ValueError, match="X holds dates or durations in column 'a'"):
        numbers(pd.Series([pd.Timestamp("2020-01-01")], name="a"))
    with pytest.raises(ValueError, match="in column 'a', which is not a number"):
        numbers(pd.Series([date(2020, 1, 1)], name="a"))
    assert first_non_number(pd.Series([1, None, pd.NA, "2", [3]])) == (4, [3])
    assert first_non_number(pd.Series(["1"])) is None


@pytest.mark.parametrize(
    ("X", "fact"),
    [
        (np.ma.masked_array([[1.0, 2.0], [3.0, 4.0]], mask=[[0, 1], [0, 0]]), "X has 1 masked values"),
        (np.array([["2020-01-01", "2020-01-02"]], dtype="datetime64[D]"), "X holds dates or durations"),
        (np.array([[1, 2]], dtype="timedelta64[s]"), "X holds dates or durations"),
        (pd.DataFrame({"a": [1.0], "when": pd.to_datetime(["2020-01-01"])}), "dates or durations in column 'when'"),
        (
            pd.DataFrame({"a": [1.0, 2.0], "colour": ["1", "red"]}),
            r"X holds 'red' in column 'colour', row 2 \(counting",
        ),
        (pd.DataFrame({"colour": pd.Categorical(["red"])}, index=["ann"]), "'red' in column 'colour', row ann, which"),
        (np.array([[1, "red"]], dtype=object), "X holds 'red' in column 'x1', row 1"),
        (np.array([["1", "red"]]), "X holds 'red' in column 'x1', row 1"),
    ],
)
def test_masked_values_dates_and_text_are_no_plain_numbers(X, fact):
    with pytest.raises(ValueError, match=fact):
        check_plain(X)
    check_plain(np.ma.masked_array([[1.0, 2.0]]))
    check_plain(pd.DataFrame({"a": ["1", None], "b": [1, 2]}))


def test_a_whole_number_beyond_all_floats_is_infinite():
    assert_array_equal(numbers(pd.Series([10**310, "1", None], dtype=object)), [np.inf, 1, np.nan])
    with pytest.raises(ValueError, match=r"X holds 'x' in column 'a', row 2 .*, which is not a number"):
        numbers(pd.Series([10**310, "x"], name="a", dtype=object))


def test_names_are_the_index_of_the_table_or_else_of_the_target():
    X, y = pd.DataFrame({"a": [1, 2]}, index=[7, 3]), pd.Series([0, 1], index=["p", "q"])
    assert names_of_rows(X, y).tolist() == [7, 3]
    assert names_of_rows(X.to_numpy(), y).tolist() == ["p", "q"]
    assert names_of_rows(X.to_numpy(), y.to_numpy()) is None


def test_the_default_index_is_no_name_and_rows_count_from_one():
    X = pd.DataFrame({"a": range(4)})
    assert names_of_rows(X).tolist() == [1, 2, 3, 4]
    assert names_of_rows(X.iloc[2:]).tolist() == [2, 3]  # the labels of a part are names
    assert names_of_rows(X.rename_axis("id")).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("label", "name"),
    [(np.int32(4), 4), (4.0, 4), (4.5, "4.5"), ("4", "4"), (True, "True"), (("a", 1), "('a', 1)"), (None, "None")],
)
def test_a_name_is_a_whole_number_or_text(label, name):
    assert plain_name(label) == name
    assert type(plain_name(label)) is type(name)


def test_a_gap_does_not_turn_whole_numbers_into_fractions():
    assert names_of_rows(pd.Series([0, 0], index=[3.0, np.nan])).tolist() == [3, "nan"]


def test_dates_and_levels_become_text():
    dated = pd.Series([0], index=pd.to_datetime(["2024-01-31"]))
    assert names_of_rows(dated).tolist() == ["2024-01-31 00:00:00"]
    assert names_of_rows(pd.Series([0], index=pd.MultiIndex.from_tuples([("a", 1)]))).tolist() == ["('a', 1)"]


def test_rows_of_a_message_are_called_as_everywhere():
    named = pd.Series(range(30), index=[f"p{row}" for row in range(30)])
    assert rows_at([4, 7], named) == "p4, p7"
    assert rows_at([4, 7], named.reset_index(drop=True)) == "5, 8 (counting from 1)"
    assert rows_at(range(3), named.to_numpy(), most=2) == "1, 2, ... (counting from 1)"
