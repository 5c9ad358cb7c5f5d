import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from whynear.data.numbers import DECIMALS, fitting_signs, is_written_number, numbers_or_missing, written_numbers


def column(*values):
    return pd.Series(list(values), dtype=object)


numbers = st.lists(st.floats(-1e9, 1e9).map(lambda value: round(value, 2)), min_size=1)
ENGLISH = "{:,.2f}".format


def swapped(text):
    return text.translate(str.maketrans(",.", ".,"))


@pytest.mark.parametrize(
    "written",
    [
        ENGLISH,
        lambda value: swapped(ENGLISH(value)),
        lambda value: ENGLISH(value).replace(",", "'"),
        lambda value: swapped(ENGLISH(value)).replace(".", "\u202f"),
        lambda value: ENGLISH(value) + " %",
        lambda value: "€" + ENGLISH(value),
        lambda value: swapped(ENGLISH(value)) + " EUR",
        lambda value: " " + str(value).replace("-", "−"),
    ],
)
@given(values=numbers)
def test_numbers_come_back_however_they_are_written(written, values):
    assert_allclose(written_numbers(column(*map(written, values))).values, values, rtol=1e-12)


@pytest.mark.parametrize(
    ("texts", "values", "decimal", "how"),
    [
        (["3,5", "4"], [3.5, 4], ",", ("decimal commas",)),
        (["1,234", "2,345"], [1234, 2345], ".", ("thousands separators",)),
        (["1,234", "3,5"], [1.234, 3.5], ",", ("decimal commas",)),
        (["1.234.567,5", "2"], [1234567.5, 2], ",", ("decimal commas", "thousands separators")),
        (["31%", "0", "12 %"], [31, 0, 12], ".", ("percent signs",)),
        (["$1,200.50", "300"], [1200.5, 300], ".", ("thousands separators", "currency signs")),
        (["-$5", "$-6", "+7 USD"], None, None, None),
        (["-$5", "$-6"], [-5, -6], ".", ("currency signs",)),
        (["1e-3", " .5", "-2."], [0.001, 0.5, -2], ".", ()),
        (["1,234e5", "2,5"], [123400, 2.5], ",", ("decimal commas",)),
        (["1,234e5"], [123400], ",", ("decimal commas",)),
    ],
)
def test_signs_are_found_from_the_whole_column(texts, values, decimal, how):
    found = written_numbers(column(*texts))
    if values is None:
        assert found is None
    else:
        assert_allclose(found.values, values)
        assert (found.decimal, found.how) == (decimal, how)


@pytest.mark.parametrize(
    "texts",
    [
        ["31%", "5"],
        ["$5", "5 €"],
        ["1.5", "2,5"],
        ["007"],
        ["12,34,567"],
        ["5 mg"],
        ["-"],
        ["1 2"],
        ["five"],
        ["1,2,3"],
    ],
)
def test_what_contradicts_itself_or_is_no_number_is_not_one(texts):
    assert written_numbers(column(*texts)) is None


def test_what_can_be_two_numbers_is_the_likely_one():
    assert written_numbers(column("1,234")).values.tolist() == [1234]
    assert written_numbers(column("1,234"), likely=",").values.tolist() == [1.234]
    assert written_numbers(column("1,234"), ",").values.tolist() == [1.234]
    assert written_numbers(column("3,5"), ".") is None


def test_limits_are_counted_and_taken_as_they_are():
    found = written_numbers(column("<5", "7", ">= 100", "<5", None, 3))
    assert_allclose(found.values, [5, 7, 100, 5, np.nan, 3])
    assert (found.n_censored, found.censored, found.example) == (3, "<5", ("<5", 5.0))


def test_a_text_is_a_number_by_itself():
    assert [text for text in ("3,5", "1 %", "?", "", "1-2", "<5") if is_written_number(text)] == ["3,5", "1 %", "<5"]


@pytest.mark.parametrize("cells", [[0.5, "n.d.", 0.7], [1, None, "?"], ["n.d.", 2.0, "007"]])
def test_numbers_among_words_are_read_where_no_number_is_written_as_text(cells):
    written, is_odd = numbers_or_missing(pd.Series(cells, dtype=object))
    assert is_odd.tolist() == [cell in ("n.d.", "?") for cell in cells]
    numbers = [np.nan if odd or cell is None else float(cell) for cell, odd in zip(cells, is_odd, strict=True)]
    np.testing.assert_array_equal(written.values, numbers)


@given(st.text("0123456789.,-+ e%<'", min_size=1, max_size=9))
def test_the_signs_that_fit_are_those_with_which_a_text_is_a_number(text):
    fitting = fitting_signs([text])
    assert fitting == fitting_signs([f"  {text}"]) == fitting_signs([text, "5"])
    found = [sign for sign in DECIMALS if written_numbers(column(text), sign) is not None]
    assert list(fitting) == found
    # A currency sign leads through the parts of the number.
    assert fitting == fitting_signs([f"{text} €"]) or not text.strip()[-1:].isdigit()
