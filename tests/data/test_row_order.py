"""Rows that follow each other in time."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whynear.data.rows import TimeOrder, forward_splits, groups_in, n_different, split_rows, taken

TIMES = st.lists(st.integers(0, 12), min_size=2, max_size=60).filter(lambda times: len(set(times)) > 1)


@given(times=TIMES, n_folds=st.integers(1, 8), with_classes=st.booleans(), seed=st.integers(0, 99))
def test_held_out_rows_are_later_than_all_rows_learned_from(times, n_folds, with_classes, seed):
    times = np.array(times)
    y = np.random.default_rng(seed).integers(0, 3, len(times)) if with_classes else None
    splits = forward_splits(TimeOrder(times), n_folds, y)
    assert len(splits) <= n_folds
    learned = np.zeros(len(times), dtype=int)
    for number, (train, test) in enumerate(splits):
        assert times[train].max() < times[test].min()
        assert np.array_equal(train, np.flatnonzero(times < times[test].min()))  # all rows before: the window expands
        learned[test] += 1
        if y is not None:
            assert np.count_nonzero(np.bincount(y[train]) >= 2) >= 2
        if number:
            assert np.array_equal(train, np.sort(np.concatenate(splits[number - 1])))
    if splits:
        assert np.array_equal(np.flatnonzero(learned == 0), splits[0][0])
        assert learned.max() == 1
    else:
        assert y is not None


def test_folds_of_even_times_are_of_one_size():
    splits = forward_splits(TimeOrder(np.arange(60)), 5)
    assert [(len(train), len(test)) for train, test in splits] == [(10, 10), (20, 10), (30, 10), (40, 10), (50, 10)]


def test_the_first_part_is_longer_until_two_classes_came():
    y = np.array([0] * 30 + [1] * 10 + [0, 1] * 10)
    ((first, _), *_) = forward_splits(TimeOrder(np.arange(60)), 5, y)
    assert len(first) == 32
    assert forward_splits(TimeOrder(np.arange(60)), 5, np.array([0] * 59 + [1])) == []


def test_dates_have_an_order_and_one_time_is_split_as_if_there_were_none():
    dates = TimeOrder(pd.date_range("2020-01-01", periods=10).to_numpy())
    assert [test.tolist() for _, test in forward_splits(dates, 1)] == [[5, 6, 7, 8, 9]]
    y = np.arange(6.0)
    (one, other), (plain, _) = (
        split_rows(y, 2, 0, stratified=False, groups=groups) for groups in (TimeOrder(np.ones(6)), None)
    )
    assert one[1].tolist() == plain[1].tolist()
    assert np.array_equal(np.sort(np.concatenate([one[1], other[1]])), np.arange(6))


def test_rows_are_taken_from_groups_and_times_alike():
    rows, times = np.array([2, 0]), TimeOrder([3, 1, 2], "day")
    times_of_rows = taken(times, rows)
    assert (times_of_rows.times.tolist(), times_of_rows.name, len(times)) == ([2, 3], "day", 3)
    assert taken(pd.Series([5, 6, 7], index=[9, 8, 7]), rows).tolist() == [7, 5]
    assert taken(None, rows) is None
    assert n_different(times) == 3
    assert groups_in(times) is None
    assert groups_in([1, 2]) == [1, 2]


def test_times_are_a_copy_that_cannot_be_changed():
    given_times = np.arange(3)
    times = TimeOrder(given_times)
    given_times[0] = 9
    assert times.times[0] == 0
    with pytest.raises(ValueError, match="read-only"):
        times.times[0] = 9


def test_what_is_chosen_is_chosen_on_the_later_half():
    order, y = TimeOrder(np.arange(40)), np.arange(40) / 7
    assert forward_splits(order, 5, first=0.5)[0][0].tolist() == list(range(20))
    assert split_rows(y, 5, 0, stratified=False, groups=order)[0][0].tolist() == list(range(20))
    assert split_rows(y, 4, 0, stratified=False, groups=order, first=None)[0][0].tolist() == list(range(8))
