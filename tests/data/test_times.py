"""The column with the time of each row."""

import re

import numpy as np
import pandas as pd
import pytest

from tests.helpers.problems import problem_of
from whynear.data.rows import TimeOrder

DAYS = pd.date_range("2020-01-30", periods=60)


@pytest.fixture
def visits(frame):
    """Sixty visits, one a day."""
    return frame.assign(day=DAYS.strftime("%Y-%m-%d"))


def test_the_column_of_times_is_no_feature_and_goes_along(visits):
    problem = problem_of(visits, "kind", time="day")
    assert list(problem.X) == ["a", "b"]
    assert problem.times.name == "day"
    assert np.diff(problem.times).tolist() == [1.0] * 59
    assert isinstance(problem.separation, TimeOrder)
    assert problem.separation.name == "day"
    few = problem.rows(np.array([5, 1]))
    assert (len(few.y), few.times.tolist()) == (2, problem.times.iloc[[5, 1]].tolist())
    assert problem_of(visits, "kind", drop="day").separation is None


@pytest.mark.parametrize(
    ("column", "settings"),
    [
        (DAYS, {}),
        (DAYS.strftime("%d.%m.%Y"), {}),
        (DAYS.strftime("%d/%m/%Y"), {"date": "day=%d/%m/%Y"}),
        (DAYS.strftime("%Y%m%d"), {"date": "day=%Y%m%d"}),
        (np.arange(60), {}),
        (np.linspace(0, 1, 60), {}),
        ([str(number) for number in range(60)], {}),
        ([f"{number:02}" for number in range(60)], {}),
    ],
)
def test_dates_and_numbers_are_taken(visits, column, settings):
    table = visits.assign(day=column)
    times = problem_of(table, "kind", time="day", **settings).times
    assert (np.diff(times) > 0).all()
    assert list(problem_of(table.set_index("day"), "kind", time="day").X) == ["a", "b"]


def test_rows_that_are_left_out_leave_their_times_too(visits):
    problem = problem_of(visits.assign(kind=["rare", *visits["kind"][1:]]), "kind", time="day")
    assert len(problem.times) == len(problem.y) == 59


@pytest.mark.parametrize(
    ("days", "time", "message"),
    [
        (None, "dya", "has no column 'dya'. Did you mean 'day'?"),
        (None, "kind", "column 'kind' is the target, and cannot be the time too. Choose another column (--time)."),
        ({3: None, 7: ""}, "day", "column 'day' holds no time in 2 rows (first: row 4). Fill in what is missing"),
        ({3: "soon"}, "day", "column 'day' holds '2020-01-30' in row 1, which is neither a date nor a number."),
        (["1"] * 59 + ["two"], "day", "column 'day' holds 'two' in row 60, which is neither a date nor a number."),
        (["1"] * 59 + ["inf"], "day", "column 'day' holds 'inf' in row 60, which is neither a date nor a number."),
        ([7] * 60, "day", "column 'day' holds the single time '7'; at least two are needed"),
        (
            ["3/4/2020"] * 59 + ["4/4/2020"],
            "day",
            "day and month cannot be told apart. Give their format (--date 'day=",
        ),
        (["2020-01-31"] * 59 + ["1.2.2020"], "day", "dates that are not of one format, such as '2020-01-31'. Give"),
    ],
)
def test_what_is_no_time_is_refused_by_row(visits, days, time, message):
    if isinstance(days, dict):
        days = [days.get(row, day) for row, day in enumerate(visits["day"])]
    table = visits if days is None else visits.assign(day=days)
    with pytest.raises(ValueError, match=re.escape(message)):
        problem_of(table, "kind", time=time)
