import numpy as np
import pandas as pd
import pytest

from whynear.data.text_table import labelled, labels_in, labels_of_files


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ([0, 1, 2], "numbers"),
        ([1, 2, 3], "numbers"),
        ([1], "numbers"),
        ([2, 3], "some numbers"),
        ([1, 2, 4], "some numbers"),
        ([7], "some numbers"),
        ([3, 2], None),
        ([*range(29, 0, -1), 0], "some numbers"),
        ([*range(28, 0, -1), 0], None),  # too few to tell from measured values
        ([*range(119, 90, -1), 0], "some numbers"),
        ([*range(120, 91, -1), 0], None),
        ([*range(29, 0, -1), 1], None),
        ([*range(28, -2, -1)], None),
        ([1, 1], None),
        ([-2, 3], None),
        ([1.0, 2.0], None),
        ([1, None], None),
        ([True, False], None),
        (["Mazda RX4", "Fiat 128"], "names"),
        (["007", "008"], "names"),
        (["1", "NA.1"], "names"),
        (["x", "x "], None),
        (["x", None], None),
        (["1,5", "2,5"], None),
        (["<1", "2 %"], None),
        (["31.1.2020", "1.2.2020"], None),
        (["2020-01-31", "beginning"], "names"),
    ],
)
def test_numbers_and_names_of_rows_are_told_from_columns(values, labels):
    assert labels_in(pd.Series(values)) == labels


@pytest.mark.parametrize(
    ("found", "labels"),
    [
        (["numbers", "numbers"], "numbers"),
        (["numbers", "some numbers"], "some numbers"),
        (["names", "names"], "names"),
        (["names", "numbers"], None),
        (["numbers", None], None),
        ([], None),
    ],
)
def test_labels_of_several_files_are_those_of_each(found, labels):
    assert labels_of_files(found) == labels


def test_rows_get_their_names():
    frame = pd.DataFrame({"column_1": ["x ", "y"], "a": [5, 6]})
    assert labelled(frame, "column_1", "names").to_dict() == {"a": {"x": 5, "y": 6}}
    assert labelled(frame, "column_1", "numbers").to_dict() == {"a": {0: 5, 1: 6}}


def test_measured_whole_numbers_are_seldom_taken_for_numbers_of_rows():
    rng = np.random.default_rng(0)
    for most in (60, 119):
        drawn = [labels_in(pd.Series(rng.integers(0, most, 30))) for _ in range(500)]
        assert drawn.count(None) > 0.95 * len(drawn)
