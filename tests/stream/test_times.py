import random
from itertools import pairwise

import pandas as pd
import pytest

from whynear.stream.values import TimeReader, named_form

DAYS = pd.date_range("2023-12-25", periods=60, freq="D")
MINUTES = pd.date_range("2024-01-31 00:05", periods=60, freq="23min")


def read(*cells, form=None, size=None):
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
    times, found = read(*cells, size=size)
    assert found == form
    assert all(a < b for a, b in pairwise(times))
    mixed = random.Random(0).sample(range(60), 60)
    assert read(*(cells[i] for i in mixed))[0] == [times[i] for i in mixed]


def test_missing_times_are_none_and_decide_nothing():
    assert read("", " NA", "?", size=2) == ([None, None, None], None)
    assert read("", "7", "--", "6", size=1) == ([None, 7.0, None, 6.0], "number")


def test_a_given_format_is_taken():
    assert named_form("day=%d/%m/%Y", ["day"]) == ("day", "%d/%m/%Y")
    assert named_form("day=%", ["day=%"]) == ("day=%", None)
    assert read("3/4/2020", "1/5/2020", form="%d/%m/%Y", size=1)[0] == [18355.0, 18383.0]
    assert read("31.12.2020 23:30", form="%d.%m.%Y %H:%M")[0] == [pytest.approx(18627 + 23.5 / 24)]


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
        read(*cells, form=form, size=size)


def test_day_and_month_that_cannot_be_told_apart_are_refused():
    with pytest.raises(
        ValueError, match=r"dates such as '3/4/2020', whose day and month .* \(--time 'day=%d/%m/%Y'\)\."
    ):
        read("3/4/2020", "5/4/2020")
    assert read("3/4/2020", "13/4/2020")[1] == "%d/%m/%Y"
