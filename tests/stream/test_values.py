import random
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from whynear.data.numbers import written_numbers
from whynear.stream.values import NumberReader, TimeReader, named_form

TWO_NUMBERS = r"which can be two numbers\. Give the sign .* \(--decimal '\.' or --decimal ','\)"


def read(*cells, decimal=None, size=None):
    """Read a column, ``size`` rows at once; return the numbers, and the sign before the decimals."""
    reader, found = NumberReader(decimal), []
    for first in range(0, len(cells), size or len(cells)):
        rows = [[cell, "x"] for cell in cells[first : first + (size or len(cells))]]
        found += reader.read(rows, [0], ["a"], range(first + 1, first + 1 + len(rows)))[:, 0].tolist()
    return found, reader.decimal


def test_cells_are_numbers_or_missing():
    values = NumberReader().read([["1", "x"], [" ?", "y"], ["2e1", ""], ["n.a.", ""]], [0], ["a"], [1, 2, 3, 4])
    assert_array_equal(values[:, 0], [1.0, np.nan, 20.0, np.nan])
    with pytest.raises(ValueError, match=r"Column 'b' holds 'x' in row 5, .* not a number\. Leave"):
        NumberReader().read([["1", "x"]], [1], ["b"], [5])
    with pytest.raises(ValueError, match=r"Column 'a' holds '-inf' in row 2, .* finite number\. Leave"):
        read("1", "-inf")
    with pytest.raises(ValueError, match=r"Column 'a' holds '1e999' in row 2, .* finite number\. Leave"):
        read("", "1e999")


@pytest.mark.parametrize("size", [1, 2, None])
@pytest.mark.parametrize(
    ("cells", "values", "decimal"),
    [
        (["1", "-2", "007", "1e3"], [1, -2, 7, 1000], None),
        (["1", "1.234", "1,234", "1,234.5"], [1, 1.234, 1234, 1234.5], "."),
        (["1", "3,5", "1.234", "1.234,5", ",5"], [1, 3.5, 1234, 1234.5, 0.5], ","),
        (["1.234.567", "1.234"], [1234567, 1234], ","),
        (["1,234,567", "1,234"], [1234567, 1234], "."),
        (["1 234", "\u22125", "1'234,5"], [1234, -5, 1234.5], ","),
    ],
)
def test_the_sign_before_decimals_is_the_one_that_a_number_shows_first(cells, values, decimal, size):
    assert read(*cells, size=size) == (values, decimal)


@pytest.mark.parametrize("size", [1, None])
@pytest.mark.parametrize(
    ("cells", "fact"),
    [
        (["1,234", "3,5"], f"'1,234' in row 1, {TWO_NUMBERS}"),
        (["1.234", "3,5"], r"'3,5' in row 2, which is not a number\. Give the sign .* \(--decimal ','\), leave"),
        (["3,5", "0.25"], r"'0\.25' in row 2, which is not a number\. Give the sign .* \(--decimal '\.'\), leave"),
        (
            ["3,5", "1.234e5"],
            r"'1\.234e5' in row 2, which is not a number\. Give the sign .* \(--decimal '\.'\), leave",
        ),
        (["5 %"], r"'5 %' in row 1, which is not a number\. Leave the column out"),
        (["<5"], r"'<5' in row 1, which is not a number\. Leave the column out"),
    ],
)
def test_what_could_be_misread_is_refused(cells, fact, size):
    with pytest.raises(ValueError, match=f"Column 'a' holds {fact}"):
        read(*cells, size=size)


def test_a_given_sign_is_the_only_one():
    assert read("3,5", "-2", "1.234", "", decimal=",")[0][:3] == [3.5, -2.0, 1234.0]
    assert read("1,234", "1.5", decimal=".") == ([1234.0, 1.5], ".")
    with pytest.raises(ValueError, match=r"'3,5' in row 1, which is not a number\..* \(--decimal ','\)"):
        read("3,5", decimal=".")


@pytest.mark.parametrize("decimal", [None, ","])
def test_what_is_stored_as_numbers_has_decimal_points_and_shows_no_sign(decimal):
    reader = NumberReader(decimal, stored={1, 2})
    rows = [["1", "1.234", "0.5"], ["2,5", "2.345", ""], ["1.234", "3", "0.25"]]
    values = reader.read(rows, [0, 1, 2], ["a", "b", "c"], [1, 2, 3])
    assert_array_equal(values, [[1, 1.234, 0.5], [2.5, 2.345, np.nan], [1234, 3, 0.25]])
    with pytest.raises(ValueError, match=r"Column 'b' holds 'True' in row 1, .* not a number\. Leave"):
        reader.read([["1", "True", "1"]], [0, 1, 2], ["a", "b", "c"], [1])


@pytest.mark.parametrize("decimal", [".", ","])
@pytest.mark.parametrize(
    "text", ["1_000", "1.234,5", "1,234.5", "1.234", "1,234", "0,5", "0.5", "1'234", "1 234,5", "-7", "a", "5,"]
)
def test_numbers_are_those_of_all_tables(text, decimal):
    written = written_numbers(pd.Series([text]), decimal)
    try:
        found = read(text, decimal=decimal)[0][0]
    except ValueError:
        found = None
    assert found == (None if written is None else written.values[0])


DAYS = pd.date_range("2023-12-25", periods=60, freq="D")
MINUTES = pd.date_range("2024-01-31 00:05", periods=60, freq="23min")


def read_of_times(*cells, form=None, size=None):
    """Read times, ``size`` rows at once; return them and their form."""
    reader, found = TimeReader("day", form), []
    for first in range(0, len(cells), size or len(cells)):
        found += reader.read(cells[first : first + (size or len(cells))], first + 1)
    return found, reader.form


@pytest.mark.parametrize("size", [20, None])
@pytest.mark.parametrize(
    ("cells", "form"),
    [
        ([str(i) for i in range(60)], "number"),
        ([f"{i / 4}" for i in range(60)], "number."),
        ([f"{i},{i % 10}5" for i in range(60)], "number,"),
        ([str(day.date()) for day in DAYS], "ISO8601"),
        ([f"{day.year}-{day.month}-{day.day}" for day in DAYS], "ISO8601"),
        ([str(time) for time in MINUTES], "ISO8601"),
        ([f"{day:%d.%m.%Y}" for day in DAYS], "%d.%m.%Y"),
        ([f"{day.day}.{day.month}.{day.year}" for day in DAYS], "%d.%m.%Y"),
        ([f"{day:%m/%d/%Y}" for day in DAYS], "%m/%d/%Y"),
        ([f"{time.hour}:{time:%M}" for time in MINUTES], "%H:%M"),
        ([f"{time:%H:%M:%S}" for time in MINUTES], "%H:%M:%S"),
        ([f"{time:%H:%M:%S}.{i % 10}" for i, time in enumerate(MINUTES)], "%H:%M:%S.%f"),
    ],
)
def test_times_are_in_the_order_of_their_rows_however_they_are_written(cells, form, size):
    times, found = read_of_times(*cells, size=size)
    assert found == form
    assert all(a < b for a, b in pairwise(times))
    mixed = random.Random(0).sample(range(60), 60)
    assert read_of_times(*(cells[i] for i in mixed))[0] == [times[i] for i in mixed]


def test_missing_times_are_none_and_decide_nothing():
    assert read_of_times("", " NA", "?", size=2) == ([None, None, None], None)
    assert read_of_times("", "7", "--", "6", size=1) == ([None, 7.0, None, 6.0], "number")


def test_a_given_format_is_taken():
    assert named_form("day=%d/%m/%Y", ["day"]) == ("day", "%d/%m/%Y")
    assert named_form("day=%", ["day=%"]) == ("day=%", None)
    assert read_of_times("3/4/2020", "1/5/2020", form="%d/%m/%Y", size=1)[0] == [18355.0, 18383.0]
    assert read_of_times("31.12.2020 23:30", form="%d.%m.%Y %H:%M")[0] == [pytest.approx(18627 + 23.5 / 24)]


@pytest.mark.parametrize(
    ("cells", "form", "fact"),
    [
        (
            ["early", "late"],
            None,
            r"holds 'early' in row 1, which is neither a number, nor a date, nor a time of a day\.",
        ),
        (["", "inf"], None, r"holds 'inf' in row 2, which is neither a number, nor a date, nor a time of a day\."),
        (["1", "", "soon"], None, r"holds 'soon' in row 3, which is not a number\."),
        (["1", "2024-01-31"], None, r"holds '2024-01-31' in row 2, which is not a number\."),
        (["1.5", "3,5"], None, r"holds '3,5' in row 2, which is not a number with '\.' before its decimals\."),
        (["2024-01-31", "31.1.2024"], None, r"holds '31.1.2024' in row 2, which is not a date such as 2024-01-31\."),
        (["9:05", "25:61"], None, r"holds '25:61' in row 2, which is not a date or time of the format %H:%M\."),
        (
            ["31/1/2024"],
            "%m/%d/%Y",
            r"holds '31/1/2024' in row 1, which is not a date or time of the format %m/%d/%Y\.",
        ),
        (["31/1/2024"], "%q", r"holds '31/1/2024' in row 1, which is not a date or time of the format %q\."),
    ],
)
@pytest.mark.parametrize("size", [1, None])
def test_what_is_of_another_form_is_refused_with_the_way_out(cells, form, fact, size):
    with pytest.raises(ValueError, match=rf"Column 'day' {fact} .* \(--time 'day=%d\.%m\.%Y %H:%M'\)\.$"):
        read_of_times(*cells, form=form, size=size)


def test_day_and_month_that_cannot_be_told_apart_are_refused():
    with pytest.raises(ValueError, match=r"'3/4/2020', whose day .* \(--time 'day=%d/%m/%Y'\)\."):
        read_of_times("3/4/2020", "5/4/2020")
    assert read_of_times("3/4/2020", "13/4/2020")[1] == "%d/%m/%Y"
