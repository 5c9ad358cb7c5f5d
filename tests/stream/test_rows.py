import io

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from whynear.stream.rows import TextRows, numbers_of_rows, opened_rows


def rows_of(text):
    return TextRows("table", io.StringIO(text), len(text))


def test_parts_are_numbered_and_their_digest_is_that_of_all_rows_so_far():
    text = "a;b\n" + "".join(f"{i};x\n" for i in range(7))
    parts, halves = list(rows_of(text).parts(3)), list(rows_of(text).parts(6))
    assert [part.first for part in parts] == [1, 4, 7]
    assert [row[0] for part in parts for row in part.rows] == [str(i) for i in range(7)]
    assert parts[1].digest == halves[0].digest != parts[0].digest
    assert parts[-1].share == 1.0


def test_a_row_of_another_length_is_refused_by_its_line():
    with pytest.raises(ValueError, match="line 3: every row must have 2 fields"):
        list(rows_of("a,b\n1,2\n1,2,3\n").parts(10))


def test_empty_input_and_unknown_columns_are_refused():
    with pytest.raises(ValueError, match="names of its columns"):
        rows_of("")
    with pytest.raises(ValueError, match="no column 'z'"):
        rows_of("a,b\n").place("z")
    with pytest.raises(FileNotFoundError, match="is no file"), opened_rows("no such file.csv"):
        pass


def test_cells_are_numbers_or_missing():
    values = numbers_of_rows([["1", "x"], [" ?", "y"], ["2e1", ""]], [0], ["a"], [1, 2, 3])
    assert_array_equal(values[:, 0], [1.0, np.nan, 20.0])
    with pytest.raises(ValueError, match="Column 'b' holds 'x' in row 5"):
        numbers_of_rows([["1", "x"]], [1], ["b"], [5])


def test_decimal_commas_are_read_where_they_are_said_and_named_where_not():
    cells = [["3,5", "1.234"], ["-2", ",5"], ["", "1e3"]]
    assert_array_equal(numbers_of_rows(cells, [0], ["a"], [1, 2, 3], ",")[:, 0], [3.5, -2.0, np.nan])
    with pytest.raises(ValueError, match=r"'3,5' in row 1, which is not a number\. Give the sign.* \(--decimal ','\)"):
        numbers_of_rows(cells, [0], ["a"], [1, 2, 3])
    with pytest.raises(ValueError, match=r"'1\.234' in row 1, which is not a number\. Give the sign.*--decimal '\.'"):
        numbers_of_rows(cells, [1], ["b"], [1, 2, 3], ",")


def test_rows_of_a_data_set_are_those_of_its_table():
    with opened_rows("iris") as rows:
        assert rows.target == rows.columns[-1] == "target"
        parts = list(rows.parts(100))
    assert [part.share for part in parts] == [pytest.approx(2 / 3), 1.0]
    assert parts[0].rows[0] == ["5.1", "3.5", "1.4", "0.2", "setosa"]
    with pytest.raises(ValueError, match="must be a known data set, got 'irris' instead"), opened_rows("irris"):
        pass


def test_parquet_rows_are_those_of_the_text(tmp_path):
    frame = pd.DataFrame({"a": [0.1, None, 1e300, -2.0], "n": [1, 2, 3, 4], "kind": ["x", None, "y z", "1"]})
    frame.to_parquet(tmp_path / "rows.parquet", index=False, row_group_size=3)
    with opened_rows(str(tmp_path / "rows.parquet")) as rows:
        assert rows.columns == ["a", "n", "kind"]
        parts = list(rows.parts(2))
    of_text = list(rows_of(frame.to_csv(index=False)).parts(2))
    assert [part.first for part in parts] == [1, 3]
    assert [part.share for part in parts] == [0.5, 1.0]
    for part, other in zip(parts, of_text, strict=True):
        found, expected = (numbers_of_rows(each.rows, [0, 1], ["a", "n"], range(2)) for each in (part, other))
        assert_array_equal(found, expected)
        assert [row[2] for row in part.rows] == [row[2] for row in other.rows]


def test_a_damaged_parquet_file_is_refused(tmp_path):
    (tmp_path / "rows.parquet").write_bytes(b"no table")
    with pytest.raises(ValueError, match="must be a whole parquet file"), opened_rows(str(tmp_path / "rows.parquet")):
        pass
