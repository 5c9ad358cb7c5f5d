import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from whynear.data.numbers import written_numbers
from whynear.stream.values import NumberReader

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
    with pytest.raises(
        ValueError, match=r"Column 'b' holds 'x' in row 5, which is not a number\. Leave the column out"
    ):
        NumberReader().read([["1", "x"]], [1], ["b"], [5])
    with pytest.raises(ValueError, match=r"Column 'a' holds '-inf' in row 2, which is not a finite number\. Leave"):
        read("1", "-inf")
    with pytest.raises(ValueError, match=r"Column 'a' holds '1e999' in row 2, which is not a finite number\. Leave"):
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
    with pytest.raises(ValueError, match=r"'3,5' in row 1, which is not a number\. Give the sign.* \(--decimal ','\)"):
        read("3,5", decimal=".")


@pytest.mark.parametrize("decimal", [None, ","])
def test_what_is_stored_as_numbers_has_decimal_points_and_shows_no_sign(decimal):
    reader = NumberReader(decimal, stored={1, 2})
    rows = [["1", "1.234", "0.5"], ["2,5", "2.345", ""], ["1.234", "3", "0.25"]]
    values = reader.read(rows, [0, 1, 2], ["a", "b", "c"], [1, 2, 3])
    assert_array_equal(values, [[1, 1.234, 0.5], [2.5, 2.345, np.nan], [1234, 3, 0.25]])
    with pytest.raises(ValueError, match=r"Column 'b' holds 'True' in row 1, which is not a number\. Leave"):
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
