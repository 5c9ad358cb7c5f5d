import datetime as dt

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from whynear.data.cells import ISO, DateColumn, date_formats, date_of, days, days_between, holds_dates

DAY = 18292.0  # of 2020-01-31, since 1970-01-01


@pytest.mark.parametrize(
    ("texts", "form"),
    [
        (["2020-01-31", None], ISO),
        (["2020-1-31 ", None], ISO),
        (["2020/01/31", None], "%Y/%m/%d"),
        (["31.1.2020", None], "%d.%m.%Y"),
        (["31/1/2020", None], "%d/%m/%Y"),
        (["1/31/2020", None], "%m/%d/%Y"),
    ],
)
def test_texts_become_days_in_the_one_format_that_fits(texts, form):
    column = pd.Series(texts, dtype=object)
    assert holds_dates(column)
    assert date_formats(column) == (form,)
    assert_allclose(days(column, form), [DAY, np.nan])


def test_day_and_month_can_be_both():
    assert date_formats(pd.Series(["3/4/2020"])) == ("%d/%m/%Y", "%m/%d/%Y")
    assert date_formats(pd.Series(["13/13/2020"])) == ()
    assert date_formats(pd.Series(["2020-01-31", "31.1.2020"])) == ()


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([pd.Timestamp("2020-01-31 12:00"), pd.NaT]),
        pd.Series([pd.Timestamp("2020-01-31 13:00", tz="CET"), pd.NaT]),
        pd.Series([dt.datetime(2020, 1, 31, 12), None], dtype=object),
        pd.Series(["2020-01-31T12:00:00Z", None]),
    ],
)
def test_times_are_parts_of_a_day(column):
    assert holds_dates(column)
    assert_allclose(days(column, ISO), [DAY + 0.5, np.nan])


def test_numbers_are_dates_only_in_a_given_format():
    column = pd.Series([20200131.0, np.nan])
    assert not holds_dates(column)
    assert_allclose(days(column, "%Y%m%d"), [DAY, np.nan])


@pytest.mark.parametrize("texts", [["later"], ["2020-01-31", "later"], [None], ["1/2"]])
def test_what_is_no_date_is_none(texts):
    assert not holds_dates(pd.Series(texts, dtype=object))
    if "later" in texts:
        assert days(pd.Series(texts, dtype=object), ISO) is None


@pytest.mark.parametrize("has_times", [False, True])
def test_what_is_written_is_read_back(has_times):
    column = DateColumn(has_times)
    numbers = np.random.default_rng(0).uniform(-30_000, 60_000, 200)
    numbers = np.round(numbers * column.per_day) / column.per_day
    texts = [column.written(number) for number in numbers]
    assert holds_dates(pd.Series(texts))
    np.testing.assert_allclose(days(pd.Series(texts), ISO), numbers, rtol=1e-15)
    assert has_times == any(":" in text for text in texts)


def test_a_rounding_error_is_not_the_day_before():
    assert date_of(np.nextafter(DAY, 0)) == "2020-01-31"
    assert date_of(np.nextafter(DAY, 0), with_time=True) == "2020-01-31 00:00"


def test_seconds_are_written_where_there_are_any():
    assert date_of(DAY + 1.5 / 24, with_time=True) == "2020-01-31 01:30"
    assert date_of(DAY + 59 / 86_400, with_time=True) == "2020-01-31 00:00:59"


@pytest.mark.parametrize("value", [None, np.nan, pd.NaT])
def test_a_missing_date_is_none(value):
    assert DateColumn().written(value) is None


@pytest.mark.parametrize("value", [1e300, -1e300, np.inf])
def test_numbers_beyond_all_dates_are_stated_as_days(value):
    assert DateColumn().written(value) == f"{value:.6g} days after 1970-01-01"


@pytest.mark.parametrize("values", [("2022-03-04", 3.0), ("red", "blue"), (None, "2022-03-04"), ("2022-02-30",) * 2])
def test_only_dates_are_days_apart(values):
    assert days_between(*values) is None
