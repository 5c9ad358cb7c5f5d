from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from whynear.datasets import bin_target

few_values = st.lists(st.integers(-4, 4).map(float), min_size=2, max_size=25)


@given(few_values, st.integers(2, 5))
def test_bins_follow_the_values_and_equal_values_share_one(y, n_bins):
    assume(len(set(y)) >= n_bins)
    codes = bin_target(y, n_bins)
    order = np.argsort(y, kind="stable")
    assert codes.dtype == np.int64
    assert (np.diff(codes[order]) >= 0).all()
    assert set(codes) == set(range(n_bins))
    for value in set(y):
        assert len(set(codes[np.array(y) == value])) == 1


@given(st.integers(2, 60), st.integers(2, 7), st.integers(0, 5))
def test_distinct_values_give_sizes_that_differ_by_one_at_most(n, n_bins, seed):
    assume(n >= n_bins)
    sizes = np.bincount(bin_target(np.random.default_rng(seed).permutation(n), n_bins))
    assert sizes.max() - sizes.min() <= 1


@given(few_values, st.integers(2, 4))
def test_no_other_cuts_are_nearer_to_equal_sizes(y, n_bins):
    _, counts = np.unique(y, return_counts=True)
    assume(len(counts) >= n_bins)
    wanted = len(y) * np.arange(1, n_bins) / n_bins
    cumulative = np.cumsum(counts)[:-1]
    least = min(np.abs(np.array(cuts) - wanted).sum() for cuts in combinations(cumulative, n_bins - 1))
    ends = np.cumsum(np.bincount(bin_target(y, n_bins)))[:-1]
    assert np.abs(ends - wanted).sum() == pytest.approx(least)


def test_a_column_of_a_table_is_taken_and_left_alone():
    y = pd.Series([3.0, 1.0, 2.0], index=[7, 7, 9])
    assert_array_equal(bin_target(y), [2, 0, 1])
    assert y.tolist() == [3.0, 1.0, 2.0]


def test_too_few_distinct_values_are_counted_in_the_error():
    with pytest.raises(ValueError, match=r"n_bins=3 .* distinct values \(2\).*n_bins <= 2"):
        bin_target([1, 1, 2, 2])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_rows_without_a_finite_value_are_named(bad):
    with pytest.raises(ValueError, match="2 missing or infinite values instead, in rows 2, 4 "):
        bin_target([0, bad, 2, bad, 4])


@pytest.mark.parametrize("y", [["a", "b", "c"], [[1, 2], [3, 4]], []])
def test_what_is_no_column_of_numbers_is_refused(y):
    with pytest.raises(ValueError, match="y must be"):
        bin_target(y)


@pytest.mark.parametrize("n_bins", [1, 2.0, True, "3"])
def test_n_bins_must_be_a_whole_number(n_bins):
    with pytest.raises(ValueError, match="n_bins must be an integer >= 2"):
        bin_target([1, 2, 3], n_bins)
