"""Whole numbers that may be codes of categories."""

import numpy as np
import pandas as pd
import pytest

from tests.helpers.problems import problem_of
from whynear.data.caveats import MOST_NAMED, caveats_of_possible_codes

ROWS = 60


def column(*values):
    return np.resize(values, ROWS)


def test_few_numbers_with_unequal_steps_may_be_codes():
    frame = pd.DataFrame({"ward": column(1, 2, 3, 7), "mass": np.linspace(0, 1, ROWS)})
    assert caveats_of_possible_codes(frame) == [
        "Column 'ward' holds the numbers 1, 2, 3 and 7 only, and was taken as a quantity. If they are codes of "
        "categories, take them as such (--category 'ward')."
    ]
    assert caveats_of_possible_codes(frame.assign(smoker=column(0, 1, 7))) == [
        "Columns 'ward' (1, 2, 3, 7) and 'smoker' (0, 1, 7) hold few whole numbers each, and were taken as quantities. "
        "If they are codes of categories, take them as such (--category 'ward' --category 'smoker')."
    ]


@pytest.mark.parametrize(
    "values",
    [
        column(1, 2, 3, 4),  # equal steps: a scale
        column(0, 10, 20),
        column(0, 7),  # two values need no order
        column(0.5, 1, 7),
        np.arange(ROWS) ** 2,
        np.r_[np.zeros(ROWS - 2), 3, 7],  # rare: counts
        np.full(ROWS, np.nan),
        column(0, 1, np.inf),
    ],
)
def test_other_numbers_are_quantities(values):
    assert caveats_of_possible_codes(pd.DataFrame({"x": values})) == []


def test_many_such_columns_are_counted():
    frame = pd.DataFrame({f"c{place}": column(1, 2, 9) for place in range(MOST_NAMED + 2)})
    (said,) = caveats_of_possible_codes(frame)
    assert "'c4' (1, 2, 9) and 2 more columns hold" in said


def test_a_table_says_so():
    frame = pd.DataFrame({"ward": column(1, 2, 3, 7), "x": np.arange(ROWS) * 0.1, "y": column("a", "b", "a")})
    assert any("'ward' holds the numbers" in caveat for caveat in problem_of(frame, "y").caveats)
