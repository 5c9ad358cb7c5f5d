import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.problems import problem_of
from whynear.study.folds import at_most, folds_of, in_order, possible_folds, stratified_rows

CLASSES = np.tile(["u", "v"], 10)


def test_every_row_is_held_out_once_and_classes_keep_their_shares():
    folds = folds_of(CLASSES, 5, 0)
    assert len(folds) == 5
    for train, test in folds:
        assert sorted([*train, *test]) == list(range(20))
        assert sorted(CLASSES[test]) == ["u", "u", "v", "v"]
    places, true = in_order([test for _, test in folds], [CLASSES[test] for _, test in folds])
    assert places.tolist() == list(range(20))
    assert (true == CLASSES).all()


def test_numbers_are_split_without_classes():
    folds = folds_of(np.linspace(0, 1, 20), 2, 0)
    assert sorted(np.concatenate([test for _, test in folds])) == list(range(20))


def test_no_more_folds_are_made_than_the_rows_allow():
    assert possible_folds(CLASSES, 5) == (5, ())
    n_folds, (caveat,) = possible_folds(np.array(["u"] * 9 + ["v"] * 3), 5)
    assert (n_folds, caveat) == (3, "Class 'v' has 3 rows, so 3 folds were made instead of 5.")
    assert possible_folds(np.linspace(0, 1, 8), 5) == (4, ("4 folds were made of 8 rows.",))


def test_rows_of_a_group_are_in_one_fold():
    groups = pd.Series(np.repeat(np.arange(10), 2), name="patient")
    folds = folds_of(CLASSES, 5, 0, groups)
    assert sorted(np.concatenate([test for _, test in folds])) == list(range(20))
    for train, test in folds:
        assert not set(groups.iloc[train]) & set(groups.iloc[test])


def test_no_more_folds_are_made_than_the_groups_allow():
    groups = pd.Series(np.repeat(np.arange(5), 4), name="patient")
    assert possible_folds(CLASSES, 4, groups) == (4, ())
    assert possible_folds(CLASSES, 6, groups) == (
        5,
        ("Column 'patient' has 5 groups, so 5 folds were made instead of 6.",),
    )
    assert possible_folds(np.linspace(0, 1, 20), 6, groups)[0] == 5
    few = np.where(groups < 3, "u", "v")
    caveat = "Class 'v' occurs in 2 groups of 'patient', so 2 folds were made instead of 5."
    assert possible_folds(few, 5, groups) == (2, (caveat,))
    with pytest.raises(ValueError, match="Class 'v' occurs in 1 group of 'patient'"):
        possible_folds(np.where(groups < 4, "u", "v"), 5, groups)


def test_folds_that_leave_one_class_are_refused_by_the_name_of_the_column():
    groups = pd.Series(np.repeat([0, 1], 10), name="patient")
    with pytest.raises(ValueError, match="The groups of 'patient' cannot be divided into folds"):
        folds_of(np.repeat(["u", "v"], 10), 2, 0, groups)


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
