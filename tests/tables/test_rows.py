import numpy as np
import pandas as pd
import pytest

from whynear.tables.rows import place_of, row_names

TABLE = pd.DataFrame({"name": ["u", "v", "v"], "number": [7.0, np.nan, 9.0]})


def test_rows_are_named_by_a_column_or_numbered_from_one():
    assert row_names(TABLE, None, "t.csv") == [1, 2, 3]
    assert row_names(TABLE, "name", "t.csv") == ["u", "v", "v"]
    assert row_names(TABLE, "number", "t.csv")[::2] == [7, 9]
    assert isinstance(row_names(TABLE, "number", "t.csv")[0], int)


def test_a_row_is_found_by_its_name_or_number():
    assert place_of("u", TABLE, "name", "t.csv") == 0
    assert place_of(9, TABLE, "number", "t.csv") == 2
    assert place_of("3", TABLE, None, "t.csv") == 2


@pytest.mark.parametrize(
    ("row", "index", "message"),
    [
        (0, None, "t.csv has rows 1 to 3, got --row 0 instead"),
        ("v", "name", "t.csv has 2 rows with 'v' in column 'name', and one is needed"),
        ("w", "name", "t.csv has 0 rows with 'w' in column 'name'"),
        ("u", "nome", "t.csv has no column 'nome' .--index.. Its columns are 'name', 'number'"),
    ],
)
def test_rows_that_are_not_exactly_one_are_refused(row, index, message):
    with pytest.raises(ValueError, match=message):
        place_of(row, TABLE, index, "t.csv")
