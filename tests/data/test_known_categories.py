from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from whynear.data.encoder import as_known_categories

CHROMOSOMES = ["1", "2", "7", "X"]


@pytest.mark.parametrize(
    ("values", "known", "expected"),
    [
        ([1.0, 7.0], CHROMOSOMES, ["1", "7"]),
        ([1, 7], CHROMOSOMES, [1, 7]),  # which are text to the encoder
        (["1.0", " X "], CHROMOSOMES, ["1", "X"]),
        ([Decimal(2), Decimal("7.0")], CHROMOSOMES, [Decimal(2), "7"]),
        ([1.1, 2.0], ["1.10", "2", "beta"], ["1.10", "2"]),
        ([1, 2], ["1.0", "2.0", "x"], ["1.0", "2.0"]),
        ([1.0, 2.0], ["1", "1.0", "1.00"], [1.0, "2"]),
        ([1.5], ["1.50", "1.500"], ["1.5"]),  # it could be two
        ([9.0, 9.5], CHROMOSOMES, ["9", "9.5"]),
        ([7.0], ["007", "x"], ["7"]),  # a code
        ([True, False], ["TRUE", "FALSE", "unknown"], ["TRUE", "FALSE"]),
        ([True], ["True", "x"], [True]),
        ([True], ["1", "x"], ["True"]),
        (["red", "mauve"], ["red"], ["red", "mauve"]),
        ([9007199254740993, 5], ["9007199254740993", "9007199254740992", "5.0"], [9007199254740993, "5.0"]),
    ],
)
@pytest.mark.parametrize("is_ordered", [None, False, True])
def test_values_are_written_as_the_categories_that_they_are(values, known, expected, is_ordered):
    column = pd.Series(values, dtype=object) if is_ordered is None else pd.Series(values)
    if is_ordered:
        column = column.astype(pd.CategoricalDtype(list(dict.fromkeys(values)), ordered=True))
    assert list(map(str, as_known_categories(column, known))) == list(map(str, expected))


def test_gaps_and_other_values_stay():
    given = pd.Series([1.0, None, [1], pd.NA, float("nan"), "X"], dtype=object, index=list("abcdef"), name="chrom")
    found = as_known_categories(given, CHROMOSOMES)
    assert (found.name, list(found.index)) == ("chrom", list("abcdef"))
    assert found.isna().tolist() == [False, True, False, True, True, False]
    assert [found["a"], found["c"], found["f"]] == ["1", [1], "X"]


@pytest.mark.parametrize("values", [[1, 7], ["1", "X"], [np.nan, np.nan]])
def test_a_column_of_known_categories_is_returned_itself(values):
    column = pd.Series(values)
    assert as_known_categories(column, CHROMOSOMES) is column
