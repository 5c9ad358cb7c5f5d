import pandas as pd
import pytest

from whynear.data.numbers import Expected, Signs, decided, decimal_of, signs_of

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
    assert decimal_of(table(**columns)) == (decimal, [])


def test_where_columns_show_none_the_expected_one_is_taken_with_a_note():
    note = (
        "'4.236' in column 'b' was read as 4236: the table that the model was fitted to is written with decimal commas."
    )
    assert decimal_of(table(b=OPEN), Expected(",")) == (",", [note])
    assert decimal_of(table(b=WHOLE), Expected(",")) == (",", [])
    assert decided({}, Expected(), ",") == (",", [])


def test_what_is_not_expected_is_noted():
    note = "Column 'a' is written with decimal {}, the table that the model was fitted to with decimal {}."
    assert decimal_of(table(a=POINTS, b=OPEN), Expected(",")) == (".", [note.format("points", "commas")])
    assert decimal_of(table(a=COMMAS, b=OPEN), Expected(".")) == (",", [note.format("commas", "points")])
    plain = Expected(",", frozenset("ab"), frozenset("ab"))  # which may have points beside the commas of others
    assert decimal_of(table(a=POINTS, b=OPEN), plain)[0] == ","
    assert decimal_of(table(a=COMMAS, b=OPEN), plain) == (",", [])


def test_only_columns_that_a_model_takes_as_numbers_count():
    version = table(b=OPEN, version=["1.5", "2.0"])
    assert decimal_of(version) == (".", [])
    assert decimal_of(version, Expected(",", frozenset("b")))[0] == ","


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
    assert decimal_of(mixed) == (",", ["'4.236' in column 'b' " + note.format(4236)])
    assert decimal_of(mixed, Expected(".")) == (".", ["'4.236' in column 'b' " + note.format(4.236)])
    assert decimal_of(mixed.assign(d=OPEN))[1][0].startswith("'4.236' in columns 'b', 'd' was read as")
    assert decimal_of(mixed.drop(columns="b")) == (",", [])
