from pathlib import Path

import pytest

from whynear.data.delimited import text_file


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
