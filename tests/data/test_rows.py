import numpy as np
import pandas as pd
import pytest

from whynear.data.rows import (
    ROW_NUMBERS,
    named_rows,
    note_on_repeated_names,
    note_on_unnamed,
    numbered,
    numbers_in_file,
    place_of,
)

TABLE = pd.DataFrame({"name": ["u", "v", "v"], "number": [7.0, np.nan, 9.0]})
FILE = numbered(TABLE)


def test_rows_of_a_file_are_numbered_from_one():
    assert FILE.index.tolist() == [1, 2, 3]
    named = TABLE.set_index("name")  # as a parquet file may hold it
    assert numbered(named) is named


def test_rows_are_named_by_a_column_or_else_by_the_index():
    assert named_rows(FILE, "name", "t.csv").index.tolist() == ["u", "v", "v"]
    assert named_rows(FILE, "name", "t.csv").index.name == "name"
    assert "name" in named_rows(FILE, "name", "t.csv")
    whole = named_rows(FILE, "number", "t.csv").index
    assert whole.tolist() == [7, "row 2", 9]
    assert isinstance(whole[0], int)
    assert named_rows(FILE, None, "t.csv") is FILE
    labelled = TABLE.set_index("name")
    assert named_rows(labelled, "name", "t.csv") is labelled


@pytest.mark.parametrize("gap", [None, np.nan, pd.NA, "", " "])
def test_a_row_without_a_name_is_called_by_its_number(gap):
    named = named_rows(numbered(pd.DataFrame({"name": ["u", gap, "v", gap]}, dtype=object)), "name", "t.csv")
    assert named.index.tolist() == ["u", "row 2", "v", "row 4"]
    assert place_of("row 4", named, "t.csv") == 3
    assert note_on_unnamed(named["name"].set_axis([1, 2, 3, 4])) == [
        "Column 'name' names all rows but 2, which are called by their numbers, the first of them 'row 2'."
    ]
    assert note_on_unnamed(pd.Series(["u", "v"], name="name")) == []
    assert note_on_unnamed(pd.Series(["u", gap], dtype=object))[0].startswith("The index names all rows but 1, which")


def test_a_missing_label_of_an_index_is_a_number():
    frame = pd.DataFrame({"a": [1, 2, 3]}, index=pd.Index(["u", None, "v"], name="id"))
    assert numbered(frame).index.tolist() == ["u", "row 2", "v"]
    assert numbered(frame).index.name == "id"


def test_names_that_repeat_are_said_with_the_first_and_their_number():
    names = pd.Index(["P2", "P0", 7, "P0", "7", "P0"], name="pat")
    assert note_on_repeated_names(names) == [
        "Column 'pat' names several rows alike: 'P0' names 3 of them, and 1 more name repeats. A single row is asked "
        "for by a name that no other row has. If the rows of one name belong together, use --group 'pat'."
    ]
    assert not note_on_repeated_names(names, "pat")[0].endswith("--group 'pat'.")
    assert note_on_repeated_names(pd.Index(["u", "u"]))[0].startswith("The index names several rows alike: 'u' names 2")
    assert note_on_repeated_names(pd.Index(["u", "v"], name="pat")) == []


def test_a_row_is_found_by_its_name():
    assert place_of("u", named_rows(FILE, "name", "t.csv"), "t.csv") == 0
    assert place_of(9, named_rows(FILE, "number", "t.csv"), "t.csv") == 2
    assert place_of("3", FILE, "t.csv") == 2
    assert place_of(2, TABLE, "The table") == 1


@pytest.mark.parametrize(
    ("row", "index", "message"),
    [
        (0, None, "t.csv has rows 1 to 3, got --row 0 instead"),
        ("v", "name", "t.csv has 2 rows with 'v' in column 'name', and one is needed"),
        ("w", "name", "t.csv has 0 rows with 'w' in column 'name', .* Name another row"),
        ("u", "nome", "t.csv has no column 'nome' .--index.. Its columns are 'name', 'number'"),
    ],
)
def test_rows_that_are_not_exactly_one_are_refused(row, index, message):
    with pytest.raises(ValueError, match=message):
        place_of(row, named_rows(FILE, index, "t.csv"), "t.csv")


def test_labels_that_a_table_lacks_are_named_with_its_index():
    with pytest.raises(ValueError, match="The table has rows 1 to 3, got --row 4"):
        place_of(4, TABLE, "The table")
    with pytest.raises(ValueError, match="The table has 0 rows with '1' in the index"):
        place_of(1, TABLE.iloc[[0, 2]].set_axis([0, 2]), "The table")


def test_rows_of_a_larger_table_keep_their_numbers():
    some = pd.DataFrame({"a": [1, 2]}, index=pd.Index([5, 900], name=ROW_NUMBERS))
    assert numbers_in_file(some).tolist() == numbers_in_file(some["a"]).tolist() == [5, 900]
    assert numbers_in_file(pd.DataFrame({"a": [1, 2]}, index=[5, 900])).tolist() == [1, 2]
