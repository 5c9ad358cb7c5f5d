from pathlib import Path

import pytest

from whynear.tables.delimited import read_delimited


def read(text, delimiter=","):
    return read_delimited(text.encode(), Path("t.csv"), delimiter)


@pytest.mark.parametrize("cell", ["007", "00", "-01", "01.5", ' "007"'.strip()])
def test_codes_with_leading_zeros_stay_text(cell):
    frame, _, _ = read(f"a,b\n{cell},1\n12,2\n")
    assert frame["a"].tolist() == [cell.strip('"'), "12"]
    assert frame["b"].tolist() == [1, 2]


@pytest.mark.parametrize("cell", ["0", "0.5", "100", "2020-01-01", "a007"])
def test_other_zeros_make_no_codes(cell):
    frame, _, _ = read(f"a,b\n10,{cell}\n12,{cell}\n")
    assert frame["a"].tolist() == [10, 12]


@pytest.mark.parametrize(
    ("text", "decimal"),
    [
        ("a;b\n1,5;x\n2;y\n", ","),
        ('a,b\n"1,5",x\n2,y\n', ","),
        ("a;b\n1;x\n2;y\n", ","),
        ("a;b\n1.5;x\n2;y\n", "."),
        ("a,b\n1,x\n2,y\n", "."),
        ('a,b\n"1,234",x\n2,y\n', "."),
    ],
)
def test_the_sign_before_decimals_is_found_from_the_whole_table(text, decimal):
    assert read(text)[2] == decimal


def test_points_are_thousands_where_commas_are_decimals():
    frame, _, _ = read("price;km;share\n1,5;1.234;0.123\n2,25;12.345;0.5\n")
    assert frame["km"].tolist() == ["1.234", "12.345"]
    assert frame["share"].tolist() == [0.123, 0.5]
    assert read("price;km\n1.5;1.234\n2.25;12.345\n")[0]["km"].tolist() == [1.234, 12.345]


def test_commas_in_a_name_do_not_split_a_table_of_semicolons():
    frame, notes, _ = read("size, mm;kind\n1;u\n2;v\n")
    assert list(frame.columns) == ["size, mm", "kind"]
    assert notes == ["The columns were read as separated by semicolons, not commas."]


@pytest.mark.parametrize("sign", ["n/a", "#N/A", "NA", "", "null"])
def test_words_for_missing_values_are_missing(sign):
    assert read(f"a,b\n{sign},1\n2,3\n")[0]["a"].isna().tolist() == [True, False]


def test_a_very_long_field_is_not_blamed_on_quotes(tmp_path):
    data = f"a,y\n1,u\n{'x' * 140_000},v\n".encode()
    with pytest.raises(ValueError, match=r"t.csv, line 3: a field must have at most 131,072 characters"):
        read_delimited(data, tmp_path / "t.csv", ",")


def test_a_whole_number_that_was_rounded_beside_a_gap_is_noted(tmp_path):
    data = b"a,b,y\n9007199254740993,9007199254740992,u\n,,v\n3,4,u\n"
    _, notes, _ = read_delimited(data, tmp_path / "t.csv", ",")
    assert notes == [
        "Column 'a' holds whole numbers of more than 15 digits, such as 9007199254740993, which was rounded to "
        "9007199254740992; --category 'a' keeps them as they are."
    ]


def test_codes_keep_their_zeros(tmp_path):
    frame, _, _ = read_delimited(b"code,y\n007,u\n008,v\n", tmp_path / "t.csv", ",")
    assert frame["code"].tolist() == ["007", "008"]
