import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.model_selection import KFold, StratifiedKFold

from whynear.data.rows import error_of_mean, resampled_rows, split_rows

CLASSES = np.tile(["u", "v", "v"], 20)


@pytest.mark.parametrize("stratified", [True, False])
def test_without_groups_the_folds_are_those_of_scikit_learn(stratified):
    usual = (StratifiedKFold if stratified else KFold)(4, shuffle=True, random_state=3).split(CLASSES, CLASSES)
    for ours, theirs in zip(split_rows(CLASSES, 4, 3, stratified=stratified), usual, strict=True):
        assert [part.tolist() for part in ours] == [part.tolist() for part in theirs]


@given(groups=st.lists(st.integers(0, 6), min_size=12, max_size=40), stratified=st.booleans(), seed=st.integers(0, 9))
def test_every_row_is_held_out_once_and_no_group_is_on_both_sides(groups, stratified, seed):
    y, groups = np.resize(["u", "v"], len(groups)), np.array(groups)
    folds = split_rows(y, 3, seed, stratified=stratified, groups=groups)
    assert sorted(np.concatenate([test for _, test in folds])) == list(range(len(y)))
    assert 2 <= len(folds) <= 3
    for train, test in folds:
        assert len(train) + len(test) == len(y)
        assert len(np.unique(groups)) < 2 or not set(groups[train]) & set(groups[test])


def test_there_are_no_more_folds_than_groups():
    assert len(split_rows(CLASSES, 5, 0, stratified=True, groups=np.repeat([0, 1, 2], 20))) == 3


@pytest.mark.parametrize("seed", range(20))
def test_a_class_of_two_groups_is_left_to_learn_from_in_every_fold(seed):
    groups = np.repeat(np.arange(6), 4)
    y = np.where(groups < 2, "rare", "usual")
    for train, _ in split_rows(y, 2, seed, stratified=True, groups=groups):
        assert set(y[train]) == {"rare", "usual"}


def test_the_error_of_rows_by_themselves_is_the_usual_one():
    values = np.random.default_rng(0).standard_normal((2, 30))
    usual = values.std(axis=1, ddof=1) / np.sqrt(30)
    assert_allclose(error_of_mean(values), usual)
    assert_allclose(error_of_mean(values, np.arange(30)), usual)


def test_the_error_over_groups_is_that_of_the_means_of_equal_groups():
    means = np.random.default_rng(0).standard_normal(10)
    assert_allclose(error_of_mean(np.repeat(means, 7), np.repeat(np.arange(10), 7)), means.std(ddof=1) / np.sqrt(10))


def test_a_single_row_or_group_says_nothing_about_others():
    assert error_of_mean(np.array([0.0, 1.0]), np.array([5, 5])) == np.inf
    assert error_of_mean(np.array([1.0])) == np.inf
    assert error_of_mean(np.ones((2, 1)), np.array([5])).tolist() == [np.inf, np.inf]


def test_groups_are_drawn_as_a_whole():
    groups = np.array([0, 1, 0, 2, 1, 0])
    drawn = groups[resampled_rows(6, groups, np.random.default_rng(1))]
    counts = np.bincount(drawn, minlength=3) / np.bincount(groups)
    assert (counts == np.round(counts)).all()
    assert counts.sum() == 3
    assert sorted(np.unique(resampled_rows(50, None, np.random.default_rng(0))))[-1] < 50
