import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

from whynear.data.numbers import Expected
from whynear.data.reading import read_file
from whynear.data.text_table import labelled, labels_in, labels_of_files, open_texts, read_texts
from whynear.large.parts import open_parts


@pytest.fixture
def read(tmp_path):
    def read(*texts, expected=None, name="t.csv"):
        paths = [tmp_path / f"{place}-{name}" for place in range(len(texts))]
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text, encoding="utf-8")
        table, frames = read_texts(paths, expected=expected or Expected())
        return table, pd.concat(frames, ignore_index=True)

    return read


@pytest.mark.parametrize(
    ("text", "decimal"),
    [
        ("a;b\n1,5;x\n2;y\n", ","),
        ('a,b\n"1,5",x\n2,y\n', ","),
        ("a;b\n1;x\n2;y\n", ","),
        ("a;b\n1.5;x\n2;y\n", "."),
        ("a,b\n1,x\n2,y\n", "."),
        ('a,b\n"1,234",x\n2,y\n', "."),
        ("a;b\n1,5;x\n?;y\n", ","),
        ("a;b\n1,234.5;x\n1;y\n", "."),
        ("a;b\n1.234.567;x\n1;y\n", ","),
    ],
)
def test_the_sign_before_decimals_is_found_from_the_whole_table(read, text, decimal):
    assert read(text)[0].decimal == decimal


def test_points_are_thousands_where_commas_are_decimals(read):
    _, frame = read("price;km;share\n1,5;1.234;0.123\n2,25;12.345;0.5\n")
    assert frame["km"].tolist() == ["1.234", "12.345"]
    assert frame["share"].tolist() == [0.123, 0.5]
    assert read("price;km\n1.5;1.234\n2.25;12.345\n")[1]["km"].tolist() == [1.234, 12.345]
    assert read("price;km\n1;4.000\n2;12.000\n")[1]["km"].tolist() == ["4.000", "12.000"]


def test_a_sign_for_missing_values_hides_no_decimal_comma(read):
    _, frame = read("price;km\n1,5;1.234\n?;12.345\n")
    assert frame["km"].tolist() == ["1.234", "12.345"]


@pytest.mark.parametrize("gap", ["", "?", "NA", "n.a."])
@pytest.mark.parametrize(("numbers", "decimal"), [(("1.234", "5"), "."), (("2.000", "5"), ","), (("2,000", "5"), ",")])
def test_a_missing_value_does_not_decide_on_the_sign(read, gap, numbers, decimal):
    rows = "".join(f"{number};x\n" for number in (*numbers, gap))
    assert read(f"a;kind\n{rows}")[0].decimal == decimal


def test_numbers_with_powers_have_no_thousands(read):
    _, frame = read("price;mass\n1,5;1.234e5\n2;1.000e3\n")
    assert frame["mass"].tolist() == [123400.0, 1000.0]


def test_both_signs_in_one_table_are_noted_where_a_third_column_depends_on_it(read):
    table, _ = read("price;km;share\n1,5;1.234;0.123\n2,25;12.345;0.5\n")
    assert table.notes[-1] == (
        "'1.234' in column 'km' was read as 1234: column 'price' is written with decimal commas, column 'share' with "
        "decimal points."
    )
    assert len(read("price;km;share\n1,5;1;0.123\n2,25;12;0.5\n")[0].notes) == 1


def test_the_sign_is_decided_for_all_files_together(read):
    table, frame = read("q;z\n500;10,5\n700;11,5\n", "q;z\n1.250;12\n1.567;13\n")
    assert table.decimal == ","
    assert frame["q"].tolist() == ["500", "700", "1.250", "1.567"]
    table, frame = read("q;z\n1.234,5;10\n700;11\n", "q;z\n1.250;12\n1.567;13\n")
    assert (table.decimal, frame["q"].tolist()) == (",", ["1.234,5", "700", "1.250", "1.567"])


def test_texts_of_one_file_are_as_written_in_all(read):
    _, frame = read("version,y\nbeta,1\n", "version,y\n1.10,2\n", "version,y\n007,3\n")
    assert frame["version"].tolist() == ["beta", "1.10", "007"]


@pytest.mark.parametrize(
    ("text", "expected", "decimal", "numbers"),
    [
        ("a;b\n5;4.236\n6;2.588\n", ",", ",", ["4.236", "2.588"]),
        ("a;b\n5;4.236\n6;2.588\n", None, ".", [4.236, 2.588]),
        ("a;b\n5;4.236\n6;2.588\n", ".", ".", [4.236, 2.588]),
        ("a;b\n5.5;4.236\n6;2.588\n", ",", ".", [4.236, 2.588]),
        ("a,b\n5.5,4.236\n6,2.588\n", ",", ".", [4.236, 2.588]),
        ("a;b\n5,5;4.236\n6;2.588\n", ".", ",", ["4.236", "2.588"]),
    ],
)
def test_what_a_model_expects_counts_where_the_table_shows_no_sign(read, text, expected, decimal, numbers):
    table, frame = read(text, expected=Expected(expected))
    assert (table.decimal, frame["b"].tolist()) == (decimal, numbers)


def test_an_expected_sign_and_one_that_is_not_expected_are_noted(read):
    table, _ = read("a;b\n5;4.236\n6;2.588\n", expected=Expected(","))
    assert table.notes[1:] == (
        "'4.236' in column 'b' was read as 4236: the table that the model was fitted to is written with decimal "
        "commas.",
    )
    table, _ = read("a;b\n5.5;4.236\n6;2.588\n", expected=Expected(","))
    assert table.notes[1:] == (
        "Column 'a' is written with decimal points, the table that the model was fitted to with decimal commas.",
    )
    assert len(read("a;b\n5;4\n6;2\n", expected=Expected(","))[0].notes) == 1


def test_points_are_nothing_new_in_a_column_that_was_plain(read):
    expected = Expected(",", frozenset("ab"), frozenset("a"))
    table, frame = read("a;b\n5.5;4.236\n6;2.588\n", expected=expected)
    assert (table.decimal, frame["b"].tolist()) == (",", ["4.236", "2.588"])
    assert frame["a"].tolist() == [5.5, 6.0]


def test_whole_numbers_that_would_be_rounded_stay_text(read):
    table, frame = read("a,b\n9007199254740993,1\n,2\n3,9007199254740993\n")
    assert frame["a"].tolist()[::2] == ["9007199254740993", "3"]
    assert frame["b"].tolist()[2] == 9007199254740993
    assert [note.partition(" holds")[0] for note in table.notes] == ["Column 'a'"]
    table, frame = read("a,b\n9007199254740993,1\n", "a,b\n,1\n1,1\n")
    assert frame["a"].tolist()[::2] == ["9007199254740993", "1"]
    assert len(table.notes) == 1


def test_labels_of_rows_are_those_of_all_files(read):
    table, frame = read(",a\n0,5\n1,6\n", ",a\n0,7\n1,8\n")
    assert (table.labels, table.columns, frame["a"].tolist()) == ("numbers", ("a",), [5, 6, 7, 8])
    assert read(",a\n0,5\n1,6\n", ",a\n2,7\n3,8\n")[0].labels == "some numbers"
    assert read(",a\n0,5\n1,6\n", "a\n7\n")[0].labels == "numbers"
    table, frame = read(",a\n0,5\n1,6\n", ",a\n7,7\n7,8\n")
    assert (table.labels, table.columns, frame["column_1"].tolist()) == (None, ("column_1", "a"), [0, 1, 7, 7])
    assert table.notes == ("Columns without a name were named: column 1 is now 'column_1'.",)
    assert read(",a\nx,5\ny,6\n", ",a\n7,7\n8,8\n")[0].labels is None
    with pytest.raises(ValueError, match=r"1-t.csv lacks 'column_1', compared with 0-t.csv"):
        read(",a\nx,5\ny,6\n", "a\n7\n")


def test_names_of_rows_differ_in_all_files(read):
    assert read(",a\nx,5\ny,6\n", ",a\nz,7\n")[0].labels == "names"
    for second in (",a\ny,7\nz,8\n", ",a\n y ,7\n"):
        table, frame = read(",a\nx,5\ny,6\n", second)
        assert (table.labels, table.columns, frame["a"].tolist()[:3]) == (None, ("column_1", "a"), [5, 6, 7])


def test_a_column_without_a_name_that_a_model_takes_stays(read):
    table, _ = read(",a\nx,5\ny,6\n", expected=Expected(columns=frozenset({"column_1"})))
    assert (table.labels, table.columns) == (None, ("column_1", "a"))


def test_parts_are_the_same_rows(read, tmp_path):
    texts = "q;z\n500;10,5\n700;11,5\n", "q;z\n1.250;12\n1.567;13\n"
    table, frame = read(*texts)
    paths = sorted(tmp_path.iterdir())
    assert open_texts(paths) == table
    assert_frame_equal(pd.concat([table.read(path) for path in paths], ignore_index=True), frame)


CELLS = st.sampled_from(["5", "700", "1.250", "12.345", "0.5", "6,10", "1.234,5", "007", "x", "?", "", "True", "1e3"])


@given(st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=8), st.data())
def test_a_folder_is_read_as_the_file_of_all_its_rows(tmp_path_factory, rows, data):
    header, lines = "a;b;c", [";".join(row) for row in rows]
    cuts = sorted(data.draw(st.sets(st.integers(1, max(1, len(rows) - 1)), max_size=3)))
    base = tmp_path_factory.mktemp("cells")
    (base / "whole.csv").write_text("\n".join([header, *lines]) + "\n")
    (base / "folder").mkdir()
    for place, (start, stop) in enumerate(zip([0, *cuts], [*cuts, len(rows)], strict=True)):
        if piece := lines[start:stop]:
            (base / "folder" / f"{place}.csv").write_text("\n".join([header, *piece]) + "\n")
    whole, folder = read_file(base / "whole.csv"), read_file(base / "folder")
    parts = open_parts(base / "folder")
    batches = pd.concat([batch for part in parts.parts for batch in parts.batches(part, 3)], ignore_index=True)
    assert whole.decimal == folder.decimal == parts.decimal
    for name in whole.frame:
        assert cells(folder.frame[name]) == cells(batches[name]) == cells(whole.frame[name])


def cells(column):
    return [None if pd.isna(value) else value for value in column]


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ([0, 1, 2], "numbers"),
        ([1, 2, 3], "numbers"),
        ([1], "numbers"),
        ([2, 3], "some numbers"),
        ([1, 2, 4], "some numbers"),
        ([7], "some numbers"),
        ([3, 2], None),
        ([*range(29, 0, -1), 0], "some numbers"),
        ([*range(28, 0, -1), 0], None),  # too few to tell from measured values
        ([*range(119, 90, -1), 0], "some numbers"),
        ([*range(120, 91, -1), 0], None),
        ([*range(29, 0, -1), 1], None),
        ([*range(28, -2, -1)], None),
        ([1, 1], None),
        ([-2, 3], None),
        ([1.0, 2.0], None),
        ([1, None], None),
        ([True, False], None),
        (["Mazda RX4", "Fiat 128"], "names"),
        (["007", "008"], "names"),
        (["1", "NA.1"], "names"),
        (["x", "x "], None),
        (["x", None], None),
        (["1,5", "2,5"], None),
        (["<1", "2 %"], None),
        (["31.1.2020", "1.2.2020"], None),
        (["2020-01-31", "beginning"], "names"),
    ],
)
def test_numbers_and_names_of_rows_are_told_from_columns(values, labels):
    assert labels_in(pd.Series(values)) == labels


@pytest.mark.parametrize(
    ("found", "labels"),
    [
        (["numbers", "numbers"], "numbers"),
        (["numbers", "some numbers"], "some numbers"),
        (["names", "names"], "names"),
        (["names", "numbers"], None),
        (["numbers", None], None),
        ([], None),
    ],
)
def test_labels_of_several_files_are_those_of_each(found, labels):
    assert labels_of_files(found) == labels


def test_rows_get_their_names():
    frame = pd.DataFrame({"column_1": ["x ", "y"], "a": [5, 6]})
    assert labelled(frame, "column_1", "names").to_dict() == {"a": {"x": 5, "y": 6}}
    assert labelled(frame, "column_1", "numbers").to_dict() == {"a": {0: 5, 1: 6}}


def test_measured_whole_numbers_are_seldom_taken_for_numbers_of_rows():
    rng = np.random.default_rng(0)
    for most in (60, 119):
        drawn = [labels_in(pd.Series(rng.integers(0, most, 30))) for _ in range(500)]
        assert drawn.count(None) > 0.95 * len(drawn)
