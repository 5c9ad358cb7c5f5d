import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from whynear.metric import DiagonalMetric, LinearMetric
from whynear.search import NeighborSearch
from whynear.search.voting import cast_votes, inverse_distances, neighbor_votes, vote_weights


@pytest.mark.parametrize("k", [1, 2, 5, 9])
@pytest.mark.parametrize("seed", range(5))
def test_votes_are_those_of_a_double_loop(k, seed):
    rng = np.random.default_rng(seed)
    cases, codes = rng.integers(3, size=(40, 2)).astype(float), rng.integers(4, size=40)
    queries = np.vstack([cases[:20], rng.integers(4, size=(20, 2)) / 1.0])
    votes = cast_votes(NeighborSearch(DiagonalMetric([1.0, 1.0]), cases), codes, queries, k, inverse_distances)
    totals = votes.by_class(codes, 4)
    assert (np.diff(votes.sq, axis=1) >= 0).all()
    for query, row, listed in zip(queries, totals, votes.indices, strict=True):
        assert len(set(listed.tolist())) == len(listed)
        distances = np.linalg.norm(cases - query, axis=1)
        near = np.argsort(distances, kind="stable")[:k]
        if distances.min() == 0:
            expected = np.bincount(codes[distances == 0], minlength=4)
        else:
            expected = np.bincount(codes[near], distances.min() / distances[near], 4)
        assert_allclose(row, expected)


def test_neighbours_at_distance_zero_vote_alone():
    assert_array_equal(vote_weights(np.array([[0.0, 0.0, 4.0], [1.0, 2.0, 4.0]])), [[1, 1, 0], [1, 0.5, 0.25]])
    assert_array_equal(vote_weights(np.array([[1e-30, 4.0]]), zero=1e-20), [[1, 0]])


def test_votes_weigh_the_inverse_distance():
    cases, codes = np.array([[0.0], [1.0], [4.0], [100.0]]), np.array([0, 1, 1, 0])
    votes = neighbor_votes(NeighborSearch(LinearMetric([[1.0]]), cases), codes, np.array([[2.0]]), k=3)
    weights = np.array([1 / 2, 1 / 1 + 1 / 2])
    assert_allclose(votes.by_class(codes, 2), [weights / weights.sum()])


def test_copies_share_the_vote_of_a_single_neighbor():
    cases, codes = np.array([[0.0], [0.0], [0.0], [1.0]]), np.array([0, 1, 0, 1])
    search = NeighborSearch(LinearMetric([[1.0]]), cases)
    votes = neighbor_votes(search, codes, np.array([[0.0], [1.0]]), k=1)
    assert_allclose(votes.by_class(codes, 2), [[2 / 3, 1 / 3], [0, 1]])
