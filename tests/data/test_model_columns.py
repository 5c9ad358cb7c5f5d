import numpy as np
import pandas as pd
import pytest

import whynear as wn
from whynear.data.numbers import Expected
from whynear.data.reading import ModelColumns, NamedTable

READINGS = {"a": "number ,", "b": "number-or-missing ,", "day": "date %d.%m.%Y", "code": "category"}
COLUMNS = ModelColumns(("a", "b", "c", "day", "code", "kind"), ("code", "kind"), READINGS, {"a": ("?",), "c": ("-1",)})


def read(columns=COLUMNS, decimal=None, **values):
    return columns.read(NamedTable("t.csv", pd.DataFrame(values), decimal=decimal))


def test_a_table_is_expected_to_be_written_as_that_of_the_model():
    assert COLUMNS.plain == ["c"]
    assert COLUMNS.written == {".": [], ",": ["a", "b"]}
    assert COLUMNS.expected == Expected(",", frozenset("abc"), frozenset("c"), frozenset(COLUMNS.names))
    both = ModelColumns(("a", "b"), (), {"a": "number ,", "b": "number ."}, {})
    assert both.expected.decimal is None
    assert ModelColumns(("a",), (), {}, {}).expected == Expected(None, frozenset("a"), frozenset("a"), frozenset("a"))


def test_the_columns_of_an_encoder_are_those_it_was_fitted_to():
    encoder = wn.TableEncoder("onehot", readings={"a": "number ,"}, missing={"a": ("?",)})
    encoder.fit(pd.DataFrame({"a": ["1,5", "2"], "kind": ["x", "y"]}))
    columns = ModelColumns.behind(encoder, ["a", "kind"])
    assert (columns.texts, columns.plain, columns.written[","]) == (("kind",), [], ["a"])
    assert ModelColumns.behind(None, ["a"]).plain == ["a"]
    assert ModelColumns.behind(None, ["a", "kind"], ["kind"]).plain == ["a"]


def test_plain_numbers_are_read_with_the_sign_of_the_table():
    table = read(a=["6,10", "?"], c=["4.236", "2.588"], kind=["1.5", "x"], other=["1.500", "2"])
    assert table.decimal == ","
    assert table.frame["c"].tolist() == [4236, 2588]
    assert table.frame["a"].tolist() == ["6,10", "?"]  # which the encoder reads
    assert table.frame[["kind", "other"]].to_dict("list") == {"kind": ["1.5", "x"], "other": ["1.500", "2"]}
    assert [note.partition(" is")[0] for note in table.notes] == ["Column 'c'"]


def test_a_table_with_the_other_sign_is_read_with_it():
    table = read(a=["6.10", "?"], b=["4.236", "none"], c=["1,234", "-1"])
    assert table.decimal == "."
    np.testing.assert_array_equal(table.frame["a"], [6.1, np.nan])
    np.testing.assert_array_equal(table.frame["b"], [4.236, np.nan])
    assert table.frame["c"].tolist() == [1234, -1]
    assert table.notes[0] == (
        "Column 'a' is written with decimal points, the table that the model was fitted to with decimal commas."
    )


def test_without_any_sign_the_table_is_read_as_that_of_the_model():
    table = read(a=["6", "5"], b=["4.236", "2"], c=["1", "2"])
    assert (table.decimal, table.frame["b"].tolist()) == (",", ["4.236", "2"])
    assert "'4.236' in column 'b' was read as 4236: the table that the model" in table.notes[0]


def test_some_rows_are_read_with_the_sign_of_their_table():
    assert read(decimal=".", c=["1,234"]).frame["c"].tolist() == [1234]
    assert read(decimal=",", c=["1,234"]).frame["c"].tolist() == [1.234]


@pytest.mark.filterwarnings("error")
def test_numbers_stay_what_they_are():
    table = read(a=[6.1, 5.0], b=[4.236, 2.0], c=[1, 2])
    assert (table.notes, table.decimal) == ((), ",")
    assert table.frame.to_dict("list") == {"a": [6.1, 5.0], "b": [4.236, 2.0], "c": [1, 2]}
