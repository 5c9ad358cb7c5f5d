import contextlib
import csv
import gzip
import os
import sys
import threading
import time
import tracemalloc
import zipfile
from encodings.aliases import aliases

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl import Workbook
from pandas.testing import assert_frame_equal

from whynear.datasets import read_table


@pytest.fixture
def written(tmp_path):
    def write(content, name="table.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


cells = st.floats(-1e6, 1e6).map(lambda v: round(v, 3))


@given(st.integers(1, 5).flatmap(lambda d: st.lists(st.lists(cells, min_size=d, max_size=d), min_size=1)))
def test_what_was_written_comes_back(tmp_path_factory, rows):
    frame = pd.DataFrame(rows, columns=[f"c {i}, <script>" for i in range(len(rows[0]))], dtype=float)
    for name, sep in [("t.csv", ","), ("t.tsv", "\t"), ("t.TXT", "\t"), ("t.v1.csv.gz", ",")]:
        path = tmp_path_factory.getbasetemp() / name
        frame.to_csv(path, sep=sep, index=False)
        back, notes = read_table(path)
        assert_frame_equal(back.astype(float), frame)
        assert notes == []


@given(st.lists(st.sampled_from(["1", "x", "", " ", '"', ",", "\n", "\r\n", '""', "é", "NA"]), max_size=30))
def test_any_text_is_a_table_or_a_sentence_that_names_the_file(tmp_path_factory, parts):
    path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_bytes(("a,b\n" + "".join(parts)).encode())
    try:
        frame, _ = read_table(path)
    except ValueError as error:
        message = str(error)
    else:
        assert list(frame.columns) == ["a", "b"]
        assert len(frame) >= 1
        return
    assert str(path) in message
    assert "\n" not in message


def test_parquet_comes_back_with_its_types(tmp_path):
    frame = pd.DataFrame({"a": [1.5, np.nan], "b": ["x", "y"], "c": [1, 2]})
    frame.to_parquet(tmp_path / "t.parquet")
    back, notes = read_table(tmp_path / "t.parquet")
    assert_frame_equal(back, frame)
    assert notes == []


def test_na_and_empty_fields_are_missing(written):
    frame, _ = read_table(written("a,b,c\n1,NA,x\n,2.5,\n3,nan,None\n"))
    assert frame["a"].isna().tolist() == [False, True, False]
    assert frame["b"].isna().tolist() == [True, False, True]
    assert frame["c"].isna().tolist() == [False, True, False]
    assert frame["a"].dtype == frame["b"].dtype == float


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_a_byte_order_mark_is_stripped(written, encoding):
    frame, notes = read_table(written(b"\xef\xbb\xbfa,b\n1,2\n"), encoding=encoding)
    assert list(frame.columns) == ["a", "b"]
    assert notes == []


def test_duplicate_and_empty_names_are_changed_and_reported(written):
    frame, notes = read_table(written("a,a.1, a,,a\n1,2,3,4,5\n"))
    assert list(frame.columns) == ["a", "a.1", "a.2", "column_4", "a.3"]
    assert frame.iloc[0].tolist() == [1, 2, 3, 4, 5]
    assert "'a' (column 3) is now 'a.2', 'a' (column 5) is now 'a.3'" in notes[0]
    assert "column 4 is now 'column_4'" in notes[1]


def test_empty_lines_within_the_table_are_reported_and_those_at_its_end_are_not(written):
    frame, notes = read_table(written("a,b\n1,2\n\n3,4\n\n\n"))
    assert len(frame) == 2
    assert notes == ["Empty lines within the table were left out: 1."]


def test_an_empty_line_before_an_empty_field_shifts_nothing(written):
    frame, _ = read_table(written("a,b\r1,2\r\r,4\r"))
    assert frame["a"].tolist()[0] == 1
    assert frame["b"].tolist() == [2, 4]


@pytest.mark.parametrize(
    ("name", "separator", "named"),
    [
        ("t.csv", ";", "semicolons, not commas"),
        ("t.csv", "\t", "tabs, not commas"),
        ("t.csv", "|", "vertical bars, not commas"),
        ("t.tsv", ",", "commas, not tabs"),
        ("t.txt", ";", "semicolons, not tabs"),
    ],
)
@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
def test_another_separator_is_recognised_and_reported(tmp_path, name, separator, named, quoting):
    frame = pd.DataFrame({"a": [1.5, 2.5], "b": ["x", "y"], "c": [3, 4]})
    frame.to_csv(tmp_path / name, sep=separator, quoting=quoting, index=False)
    back, notes = read_table(tmp_path / name)
    assert_frame_equal(back, frame)
    assert notes == [f"The columns were read as separated by {named}."]


def test_decimal_commas_between_semicolons_stay_text(written):
    frame, _ = read_table(written("a;b\n1,5;2\n2,5;3\n"))
    assert frame["a"].tolist() == ["1,5", "2,5"]
    assert frame["b"].tolist() == [2, 3]


def test_another_separator_is_read_as_strictly(written):
    with pytest.raises(ValueError, match=r"table.csv, line 4: .* 2 fields .* got 3 instead"):
        read_table(written("a;b\n\n1;2\n1;2;3\n"))
    with pytest.raises(ValueError, match="2 column names and no rows"):
        read_table(written("a;b\n"))


def test_a_single_column_stays_one(written):
    for text in ('"a;b"\n1;2\n', "a;b\n1\n", "a\n1;2\n"):
        frame, notes = read_table(written(text))
        assert frame.shape == (1, 1)
        assert notes == []


@pytest.mark.parametrize("start", [0, 1])
def test_a_nameless_first_column_that_numbers_the_rows_is_left_out(written, start):
    frame, notes = read_table(written("".join([",a\n", *(f"{i + start},{i % 2}\n" for i in range(5))])))
    assert list(frame.columns) == ["a"]
    assert notes == ["The first column has no name and only numbers the rows: it was left out."]


def test_a_nameless_first_column_of_some_row_numbers_is_left_out(written):
    frame, notes = read_table(written(",a,\n2,5,x\n3,6,y\n17,7,x\n"))
    assert list(frame.columns) == ["a", "column_3"]
    assert notes == [
        "Columns without a name were named: column 3 is now 'column_3'.",
        "The first column has no name and different whole numbers, as if it numbered rows of a table that was larger "
        "or sorted otherwise: it was left out. To take it, give it a name in the file.",
    ]


def test_a_nameless_first_column_of_different_texts_names_the_rows(written):
    frame, notes = read_table(written('"","mpg"\n"Mazda RX4",21\n"Fiat 128 ",32.4\n'))
    assert frame.to_dict() == {"mpg": {"Mazda RX4": 21.0, "Fiat 128": 32.4}}
    assert frame.index.name is None
    assert notes == [
        "The first column has no name and a different text in every row: it was taken as the names of the rows. To "
        "take it as a column, give it a name in the file."
    ]


@pytest.mark.parametrize(
    "text",
    [
        "i,a\n0,5\n1,6\n",
        ",a\n3,5\n2,6\n",
        ",a\n2,5\n2,6\n",
        ",a\n-1,5\n0,6\n",
        ",a\n0.5,5\n1.5,6\n",
        ",a\n1,5\n,6\n",
        ",a\nx,5\nx,6\n",
        ",a\nx,5\n,6\n",
        ',a\n"0,5",5\n"1,5",6\n',
        ",a\n2020-01-31,5\n2020-02-29,6\n",
        "a,\n5,0\n6,1\n",
        '""\n0\n1\n',
    ],
)
def test_other_columns_are_kept(written, text):
    frame, _ = read_table(written(text))
    assert frame.shape[1] == text.partition("\n")[0].count(",") + 1


def test_quoted_fields_may_hold_commas_quotes_and_lines(written):
    frame, _ = read_table(written('a,b\n"1,5","say ""no"""\n"two\nlines",x\n'))
    assert frame["a"].tolist() == ["1,5", "two\nlines"]
    assert frame["b"].tolist() == ['say "no"', "x"]


@pytest.mark.parametrize(
    ("text", "line", "got"),
    [
        ("a,b,c\n1,2,3\n1,2\n", 3, 2),
        ("a,b,c\n1,2,3\n\n1,2,3,4\n", 4, 4),
        ('a,b,c\n"x\ny",2,3\n1\n', 4, 1),
        ("a,b,c\r1,2,3\r1,2\r", 3, 2),
        ("\n\na,b,c\n1,2\n", 4, 2),
    ],
)
def test_ragged_rows_are_named_by_line_with_both_counts(written, text, line, got):
    with pytest.raises(ValueError, match=rf"table.csv, line {line}: .* 3 fields .* got {got} instead"):
        read_table(written(text))


def test_bytes_outside_of_the_encoding_are_located(written):
    path = written("a,b\n1,x\n2,caf\xe9\n".encode("latin-1"))
    message = r"table.csv must be utf-8 text, got 0xe9 at byte offset 13 \(line 3\).*--encoding latin-1"
    with pytest.raises(ValueError, match=message):
        read_table(path, encoding="utf-8")
    frame, notes = read_table(path, encoding="latin-1")
    assert frame["b"].tolist() == ["x", "café"]
    assert notes == []


def test_bytes_outside_of_the_encoding_are_located_far_into_a_large_file(written):
    good = "é,b\n".encode() * 500_000
    path = written(b"\xef\xbb\xbfa,b\n" + good + b"1,\xe9\n", name="table.csv.gz")
    path.write_bytes(gzip.compress(path.read_bytes(), compresslevel=1))
    with pytest.raises(ValueError, match=rf"byte offset {3 + 4 + len(good) + 2} \(line 500002\)"):
        read_table(path)


def test_a_character_cut_off_at_the_end_is_located(written):
    with pytest.raises(ValueError, match=r"byte offset 6 \(line 2\)"):
        read_table(written(b"a,b\n1,\xc3"))


def test_utf_16_is_read_by_itself_and_when_named(written):
    path = written("a,b\n1,é\n".encode("utf-16"))
    with pytest.raises(ValueError, match="--encoding utf-16"):
        read_table(path, encoding="utf-8")
    for encoding in ("utf-16", "auto"):
        frame, notes = read_table(path, encoding=encoding)
        assert frame["b"].tolist() == ["é"]
        said = ["The file is not UTF-8 and was read as utf-16; --encoding names another."]
        assert notes == (said if encoding == "auto" else [])


def test_nul_bytes_are_named_by_line(written):
    with pytest.raises(ValueError, match=r"table.csv, line 3: .*NUL"):
        read_table(written("a,b\n1,2\n3,\0\n"))


@pytest.mark.parametrize(("text", "line"), [('a,b\n1,2\n3,"x\n4,5\n', 3), ('a,b\n"x"y,2\n', 2)])
def test_quotes_gone_wrong_are_named_by_line(written, text, line):
    with pytest.raises(ValueError, match=f"table.csv, line {line}: quotes must be closed"):
        read_table(written(text))


@pytest.mark.parametrize("text", ["", "\n\n", "\ufeff"])
def test_an_empty_file_is_refused(written, text):
    with pytest.raises(ValueError, match="got an empty file"):
        read_table(written(text))


def test_a_header_alone_is_refused(written):
    with pytest.raises(ValueError, match="2 column names and no rows"):
        read_table(written("a,b\n"))


def test_an_empty_parquet_table_is_refused(tmp_path):
    pd.DataFrame({"a": []}).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(ValueError, match="got a table of 0 x 1"):
        read_table(tmp_path / "t.parquet")


def test_missing_files_folders_and_unknown_formats_are_named(written, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere.csv does not exist"):
        read_table(tmp_path / "nowhere.csv")
    with pytest.raises(ValueError, match=r"must hold Parquet files .* got an empty folder instead"):
        read_table(tmp_path)
    for name, got in [("t.xls", ".xls"), ("t", "no extension"), ("t.gz", ".gz"), ("t.parquet.gz", ".gz")]:
        with pytest.raises(ValueError, match=rf"must end in .csv, .tsv.*xlsx, got {got} instead"):
            read_table(written("a\n1\n", name=name))


def test_an_unknown_encoding_is_refused(written):
    with pytest.raises(ValueError, match=r"encoding must be a text encoding .*, got 'klingon'"):
        read_table(written("a\n1\n"), encoding="klingon")


@pytest.mark.parametrize(
    "content", [b"no gzip", gzip.compress(b"a,b\n1,2\n" * 50, mtime=0)[:-12]], ids=["other", "cut"]
)
def test_a_damaged_gzip_file_is_named(written, content):
    with pytest.raises(ValueError, match=r"table.csv.gz must be a whole gzip file"):
        read_table(written(content, name="table.csv.gz"))


def test_a_damaged_parquet_file_is_named(written):
    with pytest.raises(ValueError, match=r"table.parquet must be a whole parquet file"):
        read_table(written(b"PAR1 and then nothing", name="table.parquet"))


def test_without_pyarrow_the_line_to_type_is_shown(written, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r'pip install "whynear\[parquet\]"'):
        read_table(written(b"PAR1", name="table.parquet"))


def test_a_large_table_is_read_in_reasonable_time(written):
    path = written("a,b,c,d,e\n" + "1.25,2,3.5,text,5\n" * 200_000)
    start = time.perf_counter()
    frame, _ = read_table(path)
    assert time.perf_counter() - start < 5
    assert frame.shape == (200_000, 5)


def test_every_encoding_that_python_knows_reads_a_table_or_is_refused(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("a,b\n1,é\n".encode("latin-1"))
    for encoding in {*aliases.values(), *aliases, "undefined", "idna", "punycode", "raw_unicode_escape", ""}:
        with contextlib.suppress(ValueError):
            assert read_table(path, encoding)[0].shape[0] >= 1, encoding


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
def test_a_file_is_read_once(tmp_path, name):
    os.mkfifo(tmp_path / name)
    content = "a;b\n1,5;007\n2,5;x\n".encode("latin-1")
    data = gzip.compress(content) if name.endswith(".gz") else content
    writer = threading.Thread(target=(tmp_path / name).write_bytes, args=(data,), daemon=True)
    writer.start()
    frame, _ = read_table(tmp_path / name)
    writer.join(timeout=10)
    assert frame.to_dict("list") == {"a": ["1,5", "2,5"], "b": ["007", "x"]}


@pytest.fixture
def write(tmp_path):
    def write(*sheets):
        book = Workbook()
        book.remove(book.active)
        for number, rows in enumerate(sheets, start=1):
            sheet = book.create_sheet(f"sheet {number}")
            for row in rows:
                sheet.append(row)
        book.save(tmp_path / "table.xlsx")
        return tmp_path / "table.xlsx"

    return write


def test_a_table_comes_back_with_its_types(tmp_path):
    frame = pd.DataFrame({"a": [1.5, np.nan, 2.0], "n": [1, 2, 3], "c": ["x", "y", "x"]})
    frame.to_excel(tmp_path / "t.xlsx", index=False)
    back, notes = read_table(tmp_path / "t.xlsx")
    assert_frame_equal(back, frame, check_dtype=False)
    assert notes == []


def test_what_was_changed_is_noted(write):
    back, notes = read_table(write([["a", None, "a"], [1, 2, 3], [], [4, 5, 6]], [["other"], [1]]))
    assert list(back) == ["a", "column_2", "a.1"]
    assert back["a"].tolist() == [1, 4]
    text = " ".join(notes)
    assert "'a' (column 3) is now 'a.1'" in text
    assert "Of 2 sheets the first was read: 'sheet 1'" in text
    assert "Empty lines within the table were left out: 1." in text


@pytest.mark.parametrize(
    ("labels", "names", "said"),
    [
        ([0, 1], [0, 1], "only numbers the rows"),
        ([4, 9], [0, 1], "different whole numbers"),
        (["Fiat 128", "Volvo 142E"], ["Fiat 128", "Volvo 142E"], "taken as the names of the rows"),
    ],
)
def test_a_first_column_without_a_name_labels_the_rows(write, labels, names, said):
    back, notes = read_table(write([[None, "a"], [labels[0], 5], [labels[1], 6]]))
    assert (back.index.tolist(), back.to_dict("list")) == (names, {"a": [5, 6]})
    assert len(notes) == 1
    assert said in notes[0]


def test_rows_longer_than_the_header_are_named(write):
    with pytest.raises(ValueError, match=r"row 3 of the sheet 'sheet 1' has 3 fields, .* 2 names"):
        read_table(write([["a", "b"], [1, 2], [1, 2, 3]]))


def test_a_title_above_the_names_is_refused_with_the_way_out(write):
    said = (
        r"row 3 of the sheet 'sheet 1' has 2 fields, the first row 1 name\. .* if there is a title above them, remove"
    )
    with pytest.raises(ValueError, match=said):
        read_table(write([["Measured in May"], [], ["a", "b"], [1, 2]]))


def test_empty_and_damaged_workbooks_are_refused(write, tmp_path):
    with pytest.raises(ValueError, match="must have a row of names and rows below it, got 1 row"):
        read_table(write([["a", "b"]]))
    (tmp_path / "bad.xlsx").write_bytes(b"PK\x03\x04 nothing")
    with pytest.raises(ValueError, match=r"bad.xlsx must be a whole workbook, got a damaged one"):
        read_table(tmp_path / "bad.xlsx")


def test_formulas_are_read_as_the_values_they_had_and_never_run(write):
    back, _ = read_table(write([["a", "b"], [1, "=1+1"], [2, "=cmd()"]]))
    assert back["b"].isna().all()  # a workbook that was never calculated holds none


def with_change(path, part, before, after):
    """Replace bytes of a part of a workbook."""
    with zipfile.ZipFile(path) as good:
        parts = {name: good.read(name) for name in good.namelist()}
    assert before in parts[part]
    with zipfile.ZipFile(path, "w") as file:
        for name, data in parts.items():
            file.writestr(name, data.replace(before, after) if name == part else data)
    return path


SHEET = "xl/worksheets/sheet1.xml"


@pytest.mark.parametrize(
    ("part", "before", "after"),
    [
        (SHEET, b"</row>", b""),
        (SHEET, b"summaryBelow", b"sumaryBelow"),
        ("xl/workbook.xml", b"<sheet ", b"<sheet"),
        ("xl/workbook.xml", b"</workbook>", b""),
        ("xl/styles.xml", b"patternType", b"patter.Type"),
    ],
)
def test_a_workbook_with_a_damaged_part_is_refused_by_its_name(write, part, before, after):
    path = with_change(write([["a", "b"], [1, "x"], [2, "y"]]), part, before, after)
    with pytest.raises(ValueError, match=r"table.xlsx must be a whole workbook, got a damaged one"):
        read_table(path)


def test_a_wrong_size_stated_in_a_sheet_loses_no_row(write):
    path = with_change(
        write([["a", "b"], [1, "x"], [2, "y"]]), SHEET, b'<dimension ref="A1:B3"', b'<dimension ref="A1:A2"'
    )
    assert read_table(path)[0].to_dict("list") == {"a": [1, 2], "b": ["x", "y"]}


def test_a_cell_far_below_takes_no_memory_for_the_rows_before(write):
    path = with_change(write([["a"], [1]]), SHEET, b'<dimension ref="A1:A2"', b'<dimension ref="A1:XFD20000"')
    far = b'<row r="20000"><c r="XFD20000"><v>1</v></c></row></sheetData>'
    tracemalloc.start()
    with pytest.raises(ValueError, match=r"row 20000 of the sheet 'sheet 1' has 16384 fields, .* 1 name\."):
        read_table(with_change(path, SHEET, b"</sheetData>", far))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20 << 20
