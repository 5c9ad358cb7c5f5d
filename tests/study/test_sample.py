import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.problems import problem_of
from whynear.study.folds import at_most, stratified_rows

counts_and_most = st.lists(st.integers(2, 60), min_size=2, max_size=12).flatmap(
    lambda counts: st.tuples(st.just(counts), st.integers(2 * len(counts), sum(counts)))
)


@given(counts_and_most, st.integers(0, 5))
def test_every_class_keeps_two_rows_and_the_others_their_shares(case, seed):
    counts, most = case
    y = np.random.default_rng(9).permutation(np.repeat(np.arange(len(counts)), counts))
    chosen = stratified_rows(y, most, np.random.default_rng(seed))
    assert len(set(chosen)) == most
    assert (np.diff(chosen) > 0).all()
    drawn, shares = np.bincount(y[chosen]), np.array(counts) * most / sum(counts)
    assert (drawn >= 2).all()
    assert (drawn <= counts).all()
    assert (drawn < np.maximum(shares, 2) + 1).all()
    if shares.min() >= 2:
        assert (np.abs(drawn - shares) < 1).all()


def test_a_class_of_two_among_thousands_is_kept():
    y = np.array(["common"] * 3998 + ["rare"] * 2)
    assert list(stratified_rows(y, 2000, np.random.default_rng(0))[-2:]) == [3998, 3999]


def test_the_seed_decides_which_rows_are_drawn():
    y = np.arange(300) % 3
    first, again, other = (stratified_rows(y, 90, np.random.default_rng(seed)) for seed in (0, 0, 1))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_all_rows_of_a_class_are_equally_likely():
    y = np.repeat([0, 1], [40, 10])
    drawn = [stratified_rows(y, 25, np.random.default_rng(seed)) for seed in range(400)]
    assert np.bincount(np.concatenate(drawn)) / 400 == pytest.approx(0.5, abs=0.12)


@pytest.mark.parametrize("target", [np.arange(100) % 2, np.linspace(0, 1, 100)], ids=["classes", "numbers"])
def test_no_more_rows_than_wanted_are_kept_in_their_order(target):
    problem = problem_of(pd.DataFrame({"a": np.arange(100.0), "y": target}), "y")
    assert at_most(problem, 100, 0) is problem
    some = at_most(problem, 30, 0)
    assert len(some.X) == len(some.y) == 30
    assert (np.diff(some.X["a"]) > 0).all()
    assert (some.y == problem.y[some.X.index - 1]).all()


def test_a_sample_keeps_the_groups_of_its_rows():
    table = pd.DataFrame({"a": np.arange(100.0), "y": np.arange(100) % 2, "site": np.arange(100) // 10})
    some = at_most(problem_of(table, "y", group="site"), 30, 0)
    assert some.groups.tolist() == (some.X["a"] // 10).tolist()
