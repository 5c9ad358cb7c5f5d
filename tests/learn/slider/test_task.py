import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests.helpers.slider import ranking_task
from whynear import MinkowskiMetric
from whynear.learn.slider.base import RankingTask, spreads

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
