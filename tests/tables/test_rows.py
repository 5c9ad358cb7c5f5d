import numpy as np
import pandas as pd
import pytest

from whynear.tables.rows import ROW_NUMBERS, named_rows, numbered, numbers_in_file, place_of

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
    assert whole[[0, 2]].tolist() == [7, 9]
    assert isinstance(whole[0], int)
    assert named_rows(FILE, None, "t.csv") is FILE
    labelled = TABLE.set_index("name")
    assert named_rows(labelled, "name", "t.csv") is labelled


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
