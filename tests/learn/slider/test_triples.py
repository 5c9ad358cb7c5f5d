import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import whynear as wn
from tests.helpers.slider import ranking_task, rows
from whynear import MinkowskiMetric
from whynear.learn.slider.base import NearMatches, RankingTask, compare_by_class, held_out, spreads


@given(st.integers(0, 10_000), st.integers(2, 4))
def test_matches_share_the_class_and_mismatches_do_not(seed, n_classes):
    rng = np.random.default_rng(seed)
    codes = rng.integers(n_classes, size=20)
    pool = np.flatnonzero(rng.random(20) < 0.8)
    drawn = compare_by_class(codes, np.arange(20), pool, 50, 3, rng)
    if len(drawn):
        assert len(drawn) == 50
        assert (codes[drawn.instances] == codes[drawn.matches]).all()
        assert (drawn.instances != drawn.matches).all()
        assert (codes[drawn.instances][:, None] != codes[drawn.mismatches]).all()
        assert np.isin(drawn.matches, pool).all()
        assert np.isin(drawn.mismatches, pool).all()


def test_all_mismatches_are_drawn_alike():
    codes = np.repeat([0, 1, 2], [2, 5, 3])
    drawn = compare_by_class(codes, np.array([2]), np.arange(10), 1000, 5, np.random.default_rng(0))
    counts = np.bincount(drawn.mismatches.ravel(), minlength=10)
    assert_array_equal(counts[2:7], 0)
    assert_allclose(counts[[0, 1, 7, 8, 9]], 1000, atol=120)
    assert_array_equal(np.unique(drawn.matches), [3, 4, 5, 6])


def test_near_matches_are_the_nearest_of_the_class():
    X, y = rows(60)
    near = NearMatches(X, 3)
    everything = np.arange(60)
    drawn = compare_by_class(y, everything, everything, 400, 1, np.random.default_rng(0), near)
    sq = wn.DiagonalMetric(np.ones(5)).sq_distances(X)
    for i, match in zip(drawn.instances, drawn.matches, strict=True):
        others = np.flatnonzero((y == y[i]) & (everything != i))
        assert match in others[np.argsort(sq[i, others])[:3]]


def test_a_share_of_each_class_is_held_out():
    codes = np.repeat([0, 1], [40, 20])
    chosen = held_out(codes, 0.25, np.random.default_rng(0))
    assert np.bincount(codes[chosen]).tolist() == [10, 5]


@pytest.mark.parametrize(
    ("triplets", "message"),
    [
        ([[0, 1]], "three columns instance, match and mismatch"),
        ([[0, 1, 60]], "row numbers from 0 to 59, got 0 to 60"),
        ([[0, 1, 2], [3, 3, 4]], r"three different rows, but triplet 1 is \[3, 3, 4\]"),
        ([[0.0, 1.0, 2.0]], "whole numbers"),
    ],
)
def test_bad_triplets_are_named(triplets, message):
    with pytest.raises(ValueError, match=message):
        wn.Slider().fit_triplets(rows(60)[0], triplets)


ORDERS = pytest.mark.parametrize("p", [1, 2, 3])


@ORDERS
def test_the_spread_of_a_column_follows_its_unit_and_is_zero_where_it_is_constant(p):
    X = np.column_stack([np.arange(50.0), 1000 * np.arange(50.0), np.full(50, 3.0)])
    found = spreads(X, p, np.random.default_rng(0))
    assert_allclose(found[1], 1000 * found[0])
    assert found[2] == 0
    exact = np.mean(np.abs(X[:, None, 0] - X[:, 0]) ** p) ** (1 / p)
    assert_allclose(found[0], exact, rtol=0.1)


@ORDERS
def test_weights_and_shares_are_the_same_ranking(p):
    task, _ = ranking_task(p=p, constant=True)
    weights = np.array([0.1, 0.2, 0.0, 0.3, 0.4, 0.0])
    shares = task.shares_of(weights)
    assert_allclose(shares.sum(), 1)
    assert_allclose(task.weights_of(shares), weights)
    assert_array_equal(task.varies, [True] * 5 + [False])
    assert task.weights_of(np.full(6, 1 / 6))[5] == 0


@ORDERS
def test_the_judges_count_nearer_mismatches_by_the_distance_of_the_metric(p):
    task, X = ranking_task(p=p)
    weights = np.array([0.3, 0.3, 0.1, 0.2, 0.1])
    instances, matches, mismatches = task.judges
    sq = MinkowskiMetric(weights, p).sq_distances(X)
    nearer = np.mean(sq[instances[:, None], mismatches] < sq[instances, matches][:, None])
    found = task.nearer(task.shares_of(weights))
    assert_allclose(found, nearer)
    assert_allclose(task.mean_rank(found), 1 + 5 * nearer)


def test_a_table_without_variation_gets_equal_weights():
    task, _ = ranking_task()
    still = RankingTask.of(np.ones((60, 4)), np.zeros(4), task.triples, task.judges, 5, 2)
    assert_array_equal(still.weights_of(np.ones(4)), 0.25)
    assert still.nearer(np.full(4, 0.25)) == 0.5
