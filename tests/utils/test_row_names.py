import numpy as np
import pandas as pd
import pytest

from whynear.utils.columns import joined_names, names_of_rows, plain_name, rows_at


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


def test_names_of_two_tables_are_joined_if_both_are_known():
    first, second = np.array([1, 2]), np.array(["x"], dtype=object)
    assert joined_names(first, second).tolist() == [1, 2, "x"]
    assert joined_names(first, None) is None
    assert joined_names(None, second) is None
