import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from whynear.data.numbers import (
    DECIMALS,
    Expected,
    Signs,
    decided,
    decimal_of,
    fitting_signs,
    is_written_number,
    numbers_or_missing,
    signs_of,
    written_numbers,
)


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


COMMAS, POINTS, OPEN, WHOLE, TEXT = ["6,10", "5"], ["0.5", "7"], ["4.236", "12"], ["4", "5"], ["x", "1,5"]


def table(**columns):
    return pd.DataFrame(columns)


@pytest.mark.parametrize(
    ("values", "fitting", "is_open"),
    [
        (COMMAS, (",",), False),
        (POINTS, (".",), False),
        (OPEN, (".", ","), True),
        (WHOLE, (".", ","), False),
        (TEXT, (), False),
        (["1.234.567"], (",",), False),
        (["6,10", "0.5"], (), False),
        (["6,10", "?", None, " n/a "], (",",), False),
        (["1.234e5"], (".",), False),
        ([1.5, 2.0], (".", ","), False),
        (["<1.234 €"], (".", ","), True),
    ],
)
def test_the_signs_that_fit_a_column_are_those_of_all_its_numbers(values, fitting, is_open):
    found = signs_of(pd.Series(values, dtype=object))
    assert (found.fitting, found.is_open) == (fitting, is_open)


def test_the_signs_of_two_pieces_are_those_of_both():
    assert (signs_of(pd.Series(OPEN)) & signs_of(pd.Series(COMMAS))).shown == ","
    assert (signs_of(pd.Series(POINTS)) & signs_of(pd.Series(COMMAS))).fitting == ()
    assert (Signs() & signs_of(pd.Series(OPEN))).is_open


@pytest.mark.parametrize(
    ("columns", "decimal"),
    [
        ({"a": COMMAS, "b": OPEN}, ","),
        ({"a": POINTS, "b": OPEN}, "."),
        ({"b": OPEN}, "."),
        ({"b": OPEN, "c": TEXT}, "."),
        ({"a": COMMAS, "c": [0.5, 1.5]}, ","),
        ({}, "."),
    ],
)
def test_the_sign_of_a_table_is_the_one_that_its_columns_show(columns, decimal):
    assert decimal_of([table(**columns)]) == (decimal, [])


def test_where_columns_show_none_the_expected_one_is_taken_with_a_note():
    note = (
        "'4.236' in column 'b' was read as 4236: the table that the model was fitted to is written with decimal commas."
    )
    assert decimal_of([table(b=OPEN)], Expected(",")) == (",", [note])
    assert decimal_of([table(b=WHOLE)], Expected(",")) == (",", [])
    assert decided({}, Expected(), ",") == (",", [])


def test_what_is_not_expected_is_noted():
    note = "Column 'a' is written with decimal {}, the table that the model was fitted to with decimal {}."
    assert decimal_of([table(a=POINTS, b=OPEN)], Expected(",")) == (".", [note.format("points", "commas")])
    assert decimal_of([table(a=COMMAS, b=OPEN)], Expected(".")) == (",", [note.format("commas", "points")])
    plain = Expected(",", frozenset("ab"), frozenset("ab"))  # which may have points beside the commas of others
    assert decimal_of([table(a=POINTS, b=OPEN)], plain)[0] == ","
    assert decimal_of([table(a=COMMAS, b=OPEN)], plain) == (",", [])


def test_only_columns_that_a_model_takes_as_numbers_count():
    version = table(b=OPEN, version=["1.5", "2.0"])
    assert decimal_of([version]) == (".", [])
    assert decimal_of([version], Expected(",", frozenset("b")))[0] == ","


def test_a_point_is_before_decimals_for_a_model_of_plain_numbers():
    plain = Expected(None, frozenset("ab"), frozenset("ab"))
    columns = {"a": signs_of(pd.Series(["2.000", "3"])), "b": signs_of(pd.Series(WHOLE))}
    note = "'2.000' in column 'a' was read as 2: the table that the model was fitted to has no signs between thousands."
    assert decided(columns, plain, ",") == (".", [note])
    assert decided(columns, Expected(None, frozenset("ab"), frozenset("b")), ",") == (",", [])
    assert decided(columns, Expected(), ",") == (",", [])
    assert decided({"a": signs_of(pd.Series(["2,000"]))}, plain, ",") == (",", [])
    assert decided({**columns, "b": signs_of(pd.Series(COMMAS))}, plain, ",") == (",", [])


def test_where_columns_show_both_signs_the_rest_is_noted():
    mixed = table(a=COMMAS, b=OPEN, c=POINTS)
    note = "was read as {}: column 'a' is written with decimal commas, column 'c' with decimal points."
    assert decimal_of([mixed]) == (",", ["'4.236' in column 'b' " + note.format(4236)])
    assert decimal_of([mixed], Expected(".")) == (".", ["'4.236' in column 'b' " + note.format(4.236)])
    assert decimal_of([mixed.assign(d=OPEN)])[1][0].startswith("'4.236' in columns 'b', 'd' was read as")
    assert decimal_of([mixed.drop(columns="b")]) == (",", [])
