import gzip
import io
import os
import re
import threading
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from whynear.datasets import read_table
from whynear.stream.rows import TextRows, opened_rows
from whynear.stream.values import NumberReader


def rows_of(text, encoding="auto"):
    data = text if isinstance(text, bytes) else text.encode()
    return TextRows("table", io.BytesIO(data), encoding)


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
    with pytest.raises(ValueError, match="table must have a header and rows, got an empty file"):
        rows_of("")
    with pytest.raises(ValueError, match="no column 'z'"):
        rows_of("a,b\n").place("z")
    with pytest.raises(FileNotFoundError, match="is no file"), opened_rows("no such file.csv"):
        pass


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_rows_of_a_text_are_those_of_its_table(tmp_path, separator):
    """Separator, header, quotes, empty lines and encoding are read as a whole table is."""
    lines = ["größe|a| a ||kind", "", '"x|y"|b|c|d|ja', '" x "|b|"7|\n8"|NA|nein', " ", 'x|b|"""c"""|d|né']
    text = "\r\n".join(lines).replace("|", separator)
    (tmp_path / "rows.csv").write_bytes(text.encode("cp1252"))
    frame, notes = read_table(tmp_path / "rows.csv")
    with opened_rows(str(tmp_path / "rows.csv")) as rows:
        (part,) = rows.parts(10)
    assert rows.columns == list(frame.columns)
    assert part.rows == frame.fillna("NA").to_numpy().tolist()
    assert sorted(rows.notes()) == sorted(note for note in notes if "Empty lines" not in note)


def test_a_text_that_is_no_file_has_no_usual_separator():
    assert rows_of("a\tb\n1\t2\n").notes() == []
    assert rows_of("a,a\n1,2\n").notes() == ["Duplicate column names were suffixed: 'a' (column 2) is now 'a.1'."]


def test_compressed_text_is_read_and_a_damaged_file_refused(tmp_path):
    numbers = np.random.default_rng(0).random(100_000).tolist()  # which fill many of the blocks that gzip reads
    content = "a,b\n" + "".join(f"{number},x\n" for number in numbers)
    (tmp_path / "rows.csv.gz").write_bytes(gzip.compress(content.encode()))
    with opened_rows(str(tmp_path / "rows.csv.gz")) as rows:
        parts = list(rows.parts(30_000))
    assert sum(len(part.rows) for part in parts) == 100_000
    assert 0 < parts[0].share < parts[1].share < parts[-1].share == 1.0
    (tmp_path / "rows.csv.gz").write_bytes(gzip.compress(content.encode())[:-100])
    with (
        pytest.raises(ValueError, match=r"rows\.csv\.gz must be a whole gzip file"),
        opened_rows(str(tmp_path / "rows.csv.gz")) as rows,
    ):
        list(rows.parts(1000))


@pytest.mark.parametrize(
    ("name", "way_out"),
    [
        ("rows.xlsx", "got .xlsx instead. Save its sheet as CSV or Parquet"),
        ("rows.xls", "got .xls instead. Save its sheet as CSV or Parquet"),
        ("rows.json", "got .json instead. Rename the file, or give its text to standard input: whynear stream - < "),
        ("rows", "got no extension instead. Rename the file"),
    ],
)
def test_other_kinds_of_files_are_refused_by_their_ending(tmp_path, name, way_out):
    (tmp_path / name).write_bytes(b"PK")
    with pytest.raises(ValueError, match=re.escape(way_out)), opened_rows(str(tmp_path / name)):
        pass


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_pipe_is_read_as_it_is_written(tmp_path):
    """As the shell makes one of <(zcat rows.csv.gz); its name may differ from run to run."""
    os.mkfifo(tmp_path / "63")

    def write():
        (tmp_path / "63").write_bytes("a;größe\n1;2\n".encode("latin-1"))

    writer = threading.Thread(target=write)
    writer.start()
    with opened_rows(str(tmp_path / "63")) as rows:
        assert [part.rows for part in rows.parts(10)] == [[["1", "2"]]]
    writer.join()
    assert (rows.source, rows.columns, rows.size) == ("a pipe", ["a", "größe"], None)
    assert rows.notes() == ["The file is not UTF-8 and was read as latin-1; --encoding names another."]


def test_no_more_than_a_part_of_a_text_is_in_memory(tmp_path):
    path = tmp_path / "rows.csv"
    with path.open("w") as file:
        file.write("a,b\n")
        for _ in range(200):
            file.write("1234567,some text of this row\n" * 1000)
    tracemalloc.start()
    with opened_rows(str(path)) as rows:
        assert sum(len(part.rows) for part in rows.parts(500)) == 200_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < path.stat().st_size / 5


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
        found, expected = (NumberReader().read(each.rows, [0, 1], ["a", "n"], range(2)) for each in (part, other))
        assert_array_equal(found, expected)
        assert [row[2] for row in part.rows] == [row[2] for row in other.rows]


def test_the_index_that_pandas_saved_is_no_feature(tmp_path):
    frame = pd.DataFrame({"a": [0.5, 1.5], "kind": ["x", "y"]})
    frame.set_axis([7, 9], axis=0).to_parquet(tmp_path / "rows.parquet")
    with opened_rows(str(tmp_path / "rows.parquet")) as rows:
        assert (rows.columns, rows.aside) == (["a", "kind", "__index_level_0__"], ("__index_level_0__",))
        assert rows.notes() == ["The index that pandas saved is no feature: '__index_level_0__'."]
    for start in (0, 1, 17):
        rows = rows_of(frame.set_axis([start, start + 5], axis=0).to_csv())
        assert (rows.columns, rows.aside) == (["column_1", "a", "kind"], ["column_1"])
        assert rows.notes()[1:] == ["The first column has no name and numbers the rows: 'column_1' is no feature."]
        assert [part.rows for part in rows.parts(5)] == [[[str(start), "0.5", "x"], [str(start + 5), "1.5", "y"]]]
    for text in (",a\n0.5,1\n", ",a\n,1\n", ",a\n-1,1\n", "n,a\n0,1\n", ",a\n", "a\n1\n"):
        assert list(rows_of(text).aside) == []


def test_a_first_column_of_text_without_a_name_names_the_rows():
    rows = rows_of(",a\nFiat 128,1\nFiat 128,2\n")
    assert rows.aside == ["column_1"]
    assert rows.notes()[1:] == ["The first column has no name and names the rows: 'column_1' is no feature."]
    assert len(list(rows.parts(1))) == 2


def test_a_first_column_without_a_name_must_number_all_rows():
    with pytest.raises(ValueError, match=r"the first column has no name .*, but holds '0' in row 3\."):
        list(rows_of(",a\n0,5\n1,6\n0,7\n").parts(2))


def test_a_damaged_parquet_file_is_refused(tmp_path):
    (tmp_path / "rows.parquet").write_bytes(b"no table")
    with pytest.raises(ValueError, match="must be a whole parquet file"), opened_rows(str(tmp_path / "rows.parquet")):
        pass
