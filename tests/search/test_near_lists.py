import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.neighbors import NearestNeighbors

from whynear.metric import DiagonalMetric, LinearMetric
from whynear.search import NeighborSearch
from whynear.search import approximate as module
from whynear.search.approximate import holds, near_lists, neighborly_order, replace_farthest
from whynear.search.voting import cast_votes, inverse_distances, neighbor_votes, vote_weights


def exact_lists(X, length):
    return NearestNeighbors(n_neighbors=length).fit(X).kneighbors(return_distance=False)


@pytest.mark.parametrize(("n", "d", "seed"), [(3_000, 4, 0), (3_000, 12, 1), (8_000, 8, 2)])
def test_nearly_all_true_neighbours_are_found(n, d, seed):
    X = np.random.default_rng(seed).standard_normal((n, d))
    found, true = near_lists(X, 20, seed), exact_lists(X, 20)
    recall = np.mean([len(set(a) & set(b)) / 20 for a, b in zip(found, true, strict=True)])
    assert recall > 0.95
    assert np.mean(found[:, 0] == true[:, 0]) > 0.97


def test_in_a_neighbourly_order_near_cases_are_near():
    X = np.random.default_rng(0).standard_normal((4_000, 3))
    order = neighborly_order(X)
    assert_array_equal(np.sort(order), np.arange(4_000))
    apart = [np.abs(np.diff(rows, axis=0)).mean() for rows in (X, X[order])]
    assert apart[1] < 0.6 * apart[0]


def test_a_leaf_with_all_cases_is_exact_and_sorted():
    X = np.random.default_rng(0).standard_normal((90, 5))
    assert_array_equal(near_lists(X, 12), exact_lists(X, 12))
    assert_array_equal(near_lists(X[:13], 12), exact_lists(X[:13], 12))


def test_no_case_stands_in_its_own_list_or_twice_in_another():
    X = np.random.default_rng(0).standard_normal((2_000, 3))
    X[500:1_500] = X[0]  # a thousand copies
    found = near_lists(X, 10)
    assert (found >= 0).all()
    assert (found != np.arange(2_000)[:, None]).all()
    assert all(len(set(row)) == 10 for row in found)


def test_the_result_depends_on_the_seed_alone():
    X = np.random.default_rng(0).standard_normal((4_000, 6))
    one, two, other = near_lists(X, 15, 3, n_jobs=1), near_lists(X, 15, 3, n_jobs=2), near_lists(X, 15, 4)
    assert_array_equal(one, two)
    assert (one != other).any()


@pytest.mark.parametrize("scale", [1e-60, 1.0, 1e60])
def test_scale_and_place_do_not_matter(scale):
    X = np.random.default_rng(0).integers(0, 1 << 12, (500, 3)).astype(float)
    assert_array_equal(near_lists(X * scale, 8), near_lists(X, 8))


def test_a_heap_keeps_the_nearest():
    rng = np.random.default_rng(0)
    distances = rng.permutation(200).astype(np.float32)
    sq, numbers = np.full((3, 17), np.inf, np.float32), np.full((3, 17), -1, np.int32)
    for number in [*range(200), *range(200)]:  # all of them twice
        if distances[number] < sq[1, 0] and not holds(numbers, 1, number):
            replace_farthest(sq, numbers, 1, distances[number], number)
    assert_array_equal(np.sort(sq[1]), np.arange(17))
    assert_allclose(distances[numbers[1]], sq[1])
    assert (numbers[[0, 2]] == -1).all()


def share_found(found, true):
    return np.mean((true[:, :, None] == found[:, None, :]).any(axis=2))


def test_known_lists_are_improved_for_other_units():
    X = np.random.default_rng(0).standard_normal((4_000, 6))
    known = near_lists(X, 15)
    stretched = X * np.array([1.4, 1.0, 1.0, 1.0, 1.0, 0.7])
    true, improved = exact_lists(stretched, 15), near_lists(stretched, 15, known=known)
    assert share_found(known, true) < 0.85
    assert share_found(improved, true) > 0.98
    assert (improved != np.arange(4_000)[:, None]).all()
    assert all(len(set(row)) == 15 for row in improved)
    sq = np.square(stretched[:, None] - stretched[improved]).sum(axis=2)
    assert (np.diff(sq, axis=1) > -1e-5).all()
    assert_array_equal(near_lists(stretched, 15, n_jobs=2, known=known), improved)


def test_an_interrupt_ends_the_search(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "compare_with_neighbors", interrupted)
    with pytest.raises(KeyboardInterrupt):
        near_lists(np.random.default_rng(0).standard_normal((5_000, 3)), 10)


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
