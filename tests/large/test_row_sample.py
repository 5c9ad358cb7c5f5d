import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from whynear.large.scan import RowSample, draws, joined_rows


def table(n):
    return pd.DataFrame({"a": np.arange(n) * 0.5}, index=np.arange(1, n + 1))


def sampled(n, most, seed, n_rows, classes=None):
    frame, sample = table(n), RowSample(most, seed)
    for start in range(0, n, n_rows):
        stop = start + n_rows
        sample.add(frame.iloc[start:stop], None if classes is None else classes[start:stop])
    return sample.frame()


@given(st.integers(1, 200), st.integers(1, 50), st.integers(0, 2**32 - 1), st.integers(1, 210))
def test_the_sample_does_not_depend_on_the_batches(n, most, seed, n_rows):
    frame = sampled(n, most, seed, n_rows)
    assert len(frame) == min(n, most)
    assert frame.equals(sampled(n, most, seed, n))
    assert frame.index.is_monotonic_increasing
    assert frame["a"].tolist() == [(row - 1) * 0.5 for row in frame.index]


def test_the_sample_is_uniform():
    n, most, repeats = 50, 10, 2000
    counts = np.zeros(n)
    for seed in range(repeats):
        counts[sampled(n, most, seed, 50).index - 1] += 1
    assert counts.sum() == most * repeats
    assert chisquare(counts).pvalue > 0.01


def test_neighbouring_rows_are_drawn_independently():
    pairs = np.array([np.isin([7, 8], sampled(50, 25, seed, 50).index).all() for seed in range(2000)])
    assert pairs.mean() == pytest.approx(25 / 50 * 24 / 49, abs=0.03)


def test_other_seeds_give_other_samples():
    assert not sampled(1000, 50, 0, 100).equals(sampled(1000, 50, 1, 100))
    assert len(np.unique(draws(np.arange(100_000), 3))) == 100_000


@pytest.mark.parametrize("n_rows", [1, 13, 1000])
def test_rare_classes_are_there_twice_whatever_the_batches(n_rows):
    classes = np.array(["often"] * 997 + ["rare", "rare", "once"], dtype=object)
    classes[[5, 800]] = "seldom"
    frame = sampled(1000, 20, 0, n_rows, classes)
    found = pd.Series(classes[frame.index - 1]).value_counts()
    assert (found["rare"], found["seldom"], found["once"]) == (2, 2, 1)
    assert set(sampled(1000, 20, 0, 77).index) <= set(frame.index)
    assert frame.equals(sampled(1000, 20, 0, 77, classes))


def test_forgotten_classes_leave_a_uniform_sample():
    frame, sample = table(300), RowSample(20, 0)
    sample.add(frame[:100], np.arange(100))
    sample.forget_classes()
    sample.add(frame[100:], np.arange(200))
    assert sample.frame().equals(sampled(300, 20, 0, 300))


def test_of_a_rare_class_each_row_is_as_likely():
    classes = np.array(["often"] * 40 + ["rare"] * 5, dtype=object)
    counts = np.zeros(5)
    for seed in range(2000):
        rows = sampled(45, 1, seed, 45, classes).index.to_numpy()
        counts[rows[rows > 40] - 41] += 1
    assert chisquare(counts).pvalue > 0.01


def test_rows_of_categories_are_joined():
    pieces = [pd.DataFrame({"c": pd.Categorical(list(letters))}, index=[row]) for row, letters in ((3, "x"), (9, "y"))]
    assert joined_rows(pieces)["c"].to_dict() == {3: "x", 9: "y"}
