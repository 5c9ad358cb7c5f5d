import io

import pytest

from whynear.data.delimited import checked_rows, found_rows, notes_on_separator


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
