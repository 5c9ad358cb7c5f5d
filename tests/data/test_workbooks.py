import tracemalloc
import zipfile

import numpy as np
import pandas as pd
import pytest
from openpyxl import Workbook
from pandas.testing import assert_frame_equal

from whynear.datasets import read_table


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
    with pytest.raises(ValueError, match=r"row 3 of the sheet 'sheet 1' has 3 fields, the first row 2 names"):
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
    with pytest.raises(ValueError, match=r"table.xlsx must be a whole workbook, got a damaged one instead \(.+\)"):
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
    with pytest.raises(ValueError, match=r"row 20000 of the sheet 'sheet 1' has 16384 fields, the first row 1 name\."):
        read_table(with_change(path, SHEET, b"</sheetData>", far))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20 << 20
