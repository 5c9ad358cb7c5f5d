import numpy as np
import pytest
from numpy.testing import assert_allclose

from whynear.reject.nearness import NO_CASES, NearCases


def near_cases(n=60, seed=0):
    rng = np.random.default_rng(seed)
    return NearCases(rng.normal(size=(n, 3)) * [1.0, 50.0, 0.01], rng.integers(0, 4, n))


def slow_shares(near, row, n_classes, own=-1):
    """The shares by distances to every case in standardised columns, but one."""
    sq = np.square((near.cases - row) / near.cases.std(axis=0)).sum(axis=1)
    nearest = [place for place in np.argsort(sq, kind="stable") if place != own][:25]
    return np.bincount(near.codes[nearest], minlength=n_classes) / len(nearest)


def test_shares_are_those_of_the_nearest_in_standardised_columns():
    near, rows = near_cases(), near_cases(20, seed=1).cases
    assert_allclose(near.shares(rows, 4), [slow_shares(near, row, 4) for row in rows])


def test_no_case_counts_for_itself():
    near = near_cases()
    slow = [slow_shares(near, row, 4, own) for own, row in enumerate(near.cases)]
    assert_allclose(near.own_shares(4), slow)


def test_units_do_not_count():
    near, rows = near_cases(), near_cases(20, seed=1).cases
    scale = np.array([1e-3, 7.0, 1e5])
    assert_allclose(NearCases(near.cases * scale, near.codes).shares(rows * scale, 4), near.shares(rows, 4))


def test_constant_columns_and_equal_cases_do_no_harm():
    near = NearCases(np.column_stack([np.full(40, 0.1), np.arange(40) % 2]), np.arange(40) % 2)
    assert_allclose(near.shares(np.array([[5.0, 0.0]]), 2), [[20 / 25, 5 / 25]])
    assert_allclose(near.own_shares(2)[1], [6 / 25, 19 / 25])


@pytest.mark.parametrize("n", [1, 2, 5])
def test_fewer_cases_than_25_all_count(n):
    near = NearCases(np.arange(float(n))[:, None], np.arange(n))
    assert_allclose(near.shares(np.zeros((1, 1)), n), np.full((1, n), 1 / n))
    assert_allclose(near.own_shares(n).sum(axis=1), min(n - 1, 1))


def test_a_class_that_is_not_known_counts_for_none():
    near = NearCases(np.arange(4.0)[:, None], np.array([0, 1, -1, -1]))
    assert_allclose(near.shares(np.zeros((1, 1)), 2), [[0.25, 0.25]])
    assert not NO_CASES
