import io
import time
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whynear.data.delimited import (
    checked_rows,
    distinct_names,
    found_rows,
    has_unnamed_first,
    notes_on_names,
    notes_on_separator,
    text_file,
    write_csv,
)


def read(text, delimiter=","):
    return text_file(text.encode(), Path("t.csv"), delimiter)


@pytest.mark.parametrize("cell", ["007", "00", "-01", "01.5", ' "007"'.strip()])
def test_codes_with_leading_zeros_stay_text(cell):
    frame = read(f"a,b\n{cell},1\n12,2\n").frame()
    assert frame["a"].tolist() == [cell.strip('"'), "12"]
    assert frame["b"].tolist() == [1, 2]


@pytest.mark.parametrize("cell", ["0", "0.5", "100", "2020-01-01", "a007"])
def test_other_zeros_make_no_codes(cell):
    frame = read(f"a,b\n10,{cell}\n12,{cell}\n").frame()
    assert frame["a"].tolist() == [10, 12]


def test_commas_in_a_name_do_not_split_a_table_of_semicolons():
    file = read("size, mm;kind\n1;u\n2;v\n")
    assert (file.names, file.separator, file.n_rows) == (["size, mm", "kind"], ";", 2)
    assert file.notes == ("The columns were read as separated by semicolons, not commas.",)


@pytest.mark.parametrize(
    ("line", "separator"),
    [("sep=;", ";"), ("SEP=,", ","), ("sep=\t", "\t"), ('"sep=|"', "|"), ("sep=^", "^"), ("sep=:", ":")],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_first_line_that_names_the_separator_is_left_out(line, separator, end):
    file = read(end.join([line, separator.join("ab"), separator.join(["1", "007"]), ""]))
    assert file.frame().to_dict("list") == {"a": [1], "b": ["007"]}
    assert file.notes == (f"The first line names the separator of the columns and was left out: {line!r}.",)
    with pytest.raises(ValueError, match=r"t.csv, line 4: every row must have 2 fields"):
        read(end.join([line, separator.join("ab"), separator.join("12"), "1", ""]))


@pytest.mark.parametrize("line", ["sep=x", "sep=", "sep=;;", "sep=; a", "separator=;", 'sep="'])
def test_other_first_lines_are_headers(line):
    assert read(f"{line}\n1\n", "\t").names == [line]


@pytest.mark.parametrize("sign", ["n/a", "#N/A", "NA", "", "null"])
def test_words_for_missing_values_are_missing(sign):
    assert read(f"a,b\n{sign},1\n2,3\n").frame()["a"].isna().tolist() == [True, False]


def test_a_very_long_field_is_not_blamed_on_quotes():
    with pytest.raises(ValueError, match=r"t.csv, line 3: a field must have at most 131,072 characters"):
        read(f"a,y\n1,u\n{'x' * 140_000},v\n")


def test_columns_are_returned_as_they_are_written():
    file = read("a;b;c\n1.250;x;7\n 12;NA;\n")
    assert file.as_written(["c", "a"]).astype(object).where(lambda cells: cells.notna(), None).to_dict("list") == {
        "c": ["7", None],
        "a": ["1.250", " 12"],
    }


def test_whole_numbers_that_floating_point_numbers_round_are_noted():
    file = read("a,b,c,y\n9007199254740993,9007199254740992,1,u\n,,9007199254740993,v\n3,4,5,u\n")
    assert file.notes_on_rounding(file.frame()) == {
        name: f"Column {name!r} holds whole numbers of more than 15 digits, such as 9007199254740993, which as a "
        f"number is rounded to 9007199254740992; --category {name!r} keeps them as they are."
        for name in ("a", "c")
    }


def names_one_by_one(header):
    names, taken = [], {name.strip() for name in header}
    for place, raw in enumerate(header, start=1):
        given = raw.strip()
        base = name = given or f"column_{place}"
        number = 0
        while name in names or (name != given and name in taken):
            number += 1
            name = f"{base}.{number}"
        names.append(name)
        taken.add(name)
    return names


@given(st.lists(st.sampled_from(["a", " a", "a.1", "a.2", "a.1.1", "", "column_3", "column_3.1", "b"]), min_size=1))
def test_names_are_those_found_by_trying_one_after_the_other(header):
    assert distinct_names(header)[0] == names_one_by_one(header)


def test_thousands_of_equal_names_are_made_unique_quickly():
    start = time.perf_counter()
    names, _ = distinct_names(["a"] * 20_000)
    assert time.perf_counter() - start < 2
    assert names[-1] == "a.19999"


def test_blanks_are_removed_and_every_change_is_noted():
    names, notes = distinct_names([" a ", "", "b", "b"])
    assert names == ["a", "column_2", "b", "b.1"]
    assert notes == [
        "Duplicate column names were suffixed: 'b' (column 4) is now 'b.1'.",
        "Columns without a name were named: column 2 is now 'column_2'.",
    ]
    assert distinct_names(["a", "b"]) == (["a", "b"], [])


def test_a_first_column_that_is_left_out_has_no_note_on_its_name():
    header = ["", "a", " "]
    names, notes = distinct_names(header)
    assert notes == ["Columns without a name were named: column 1 is now 'column_1', column 3 is now 'column_3'."]
    assert notes_on_names(header, names, but_first=True) == [
        "Columns without a name were named: column 3 is now 'column_3'."
    ]
    assert has_unnamed_first(header)
    assert not has_unnamed_first(["a", ""])
    assert not has_unnamed_first([" "])


@pytest.mark.parametrize(
    ("text", "usual", "separator"),
    [
        ("a,b\n1,2\n", ",", ","),
        ("a;b\n1,5;2\n", ",", ";"),
        ("a\tb\n1\t2\n", ",", "\t"),
        ("a|b\n1|2\n", "\t", "|"),
        ("size, mm;kind\n1;u\n", ",", ";"),
        ('\n"a;b";"c,d"\n\n"1\n;";2\n', ",", ";"),
        ("a\n1\n", ",", ","),
    ],
)
def test_the_separator_of_lines_that_are_read_once_is_found_and_no_line_is_lost(text, usual, separator):
    notes, rows = found_rows(iter(io.StringIO(text)), "t.csv", usual)
    assert notes == notes_on_separator(separator, usual)
    assert list(rows) == list(checked_rows(io.StringIO(text), "t.csv", separator))


def test_a_first_line_may_name_the_separator_and_lines_are_counted_with_it():
    notes, rows = found_rows(iter(["sep=;\n", "a,b;c\n", "1;2\n", "1\n"]), "t.csv", ",")
    assert notes == ["The first line names the separator of the columns and was left out: 'sep=;'."]
    assert [next(rows), next(rows)] == [["a,b", "c"], ["1", "2"]]
    with pytest.raises(ValueError, match=r"t\.csv, line 4: every row must have 2 fields"):
        next(rows)


def test_no_more_lines_are_read_ahead_than_a_header_and_a_row():
    read = []

    def live():
        for line in ("a,b\n", "1,2\n", "3,4\n"):
            read.append(line)
            yield line

    _, rows = found_rows(live(), "standard input", ",")
    assert [next(rows), next(rows)] == [["a", "b"], ["1", "2"]]
    assert read == ["a,b\n", "1,2\n"]


def test_an_empty_line_below_the_header_is_an_empty_row():
    rows = checked_rows(io.StringIO('\n \na\n""\n\n1\n \n'), "t.csv", ",")
    assert list(rows) == [["a"], [""], [], ["1"], []]


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("", r"t.csv must have a header and rows, got an empty file"),
        ("a,b\n1,2\n1,2,3\n", r"t.csv, line 3: every row must have 2 fields as the header has, got 3"),
        ('a,b\n"1\n",2\n1\n', r"t.csv, line 4: every row must have 2 fields as the header has, got 1"),
        ('a,b\n1,"2\n', r"t.csv, line 2: quotes must be closed"),
        (f"a,b\n1,{'2' * 140_000}\n", r"t.csv, line 2: a field must have at most 131,072 characters"),
        ("a,b\n1,\0\n", r"t.csv, line 2: a text table must not have NUL bytes"),
    ],
)
def test_what_could_be_misread_is_refused_by_its_line(text, fact):
    with pytest.raises(ValueError, match=fact):
        list(checked_rows(io.StringIO(text), "t.csv", ","))


def test_another_separator_than_the_usual_one_is_named():
    assert notes_on_separator(",", ",") == []
    assert notes_on_separator(";", "\t") == ["The columns were read as separated by semicolons, not tabs."]


# Tables written as comma-separated values.


def test_no_spreadsheet_takes_a_value_or_a_name_for_a_formula(tmp_path):
    write_csv(pd.DataFrame({"=1+1": ["@sum", "plain"], "n": [-1, 2]}), tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text() == "'=1+1,n\n'@sum,-1\nplain,2\n"


def test_a_class_that_is_a_number_keeps_its_sign(tmp_path):
    written = pd.DataFrame({"predicted": ["-1", "+1.5", "-2e3", "-1+1", "-x"]})
    write_csv(written, tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text() == "predicted\n-1\n+1.5\n-2e3\n'-1+1\n'-x\n"
