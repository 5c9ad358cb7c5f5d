import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris

import whynear as wn
from whynear import DiagonalMetric, LocalMetric, ranking
from whynear.datasets import make_casebase
from whynear.ranking import matches_at

EQUAL = DiagonalMetric([1.0, 1.0])


@st.composite
def labelled(draw):
    """A few cases on a grid, where ties are frequent, of two classes with two rows at least."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    n = draw(st.integers(4, 12))
    return rng.integers(0, 3, (n, 2)).astype(float), rng.permutation(np.arange(n) % 2)


def pairs(X, y, i):
    """Distances of case i to the other cases of its class, and to those of others."""
    sq = EQUAL.sq_distances(X)[i]
    others = np.arange(len(X)) != i
    return sq[others & (y == y[i])], sq[y != y[i]]


@given(labelled(), st.integers(1, 20))
def test_mean_rank_is_that_of_all_pairs(data, m):
    X, y = data
    ranks = []
    for i in range(len(X)):
        matches, mismatches = pairs(X, y, i)
        for match in matches:
            nearer = np.mean((mismatches < match) + 0.5 * (mismatches == match))
            ranks.append((1 + m * nearer, i))
    by_query = [np.mean([rank for rank, query in ranks if query == i]) for i in range(len(X))]
    assert_allclose(ranking.mean_rank(EQUAL, X, y, n_mismatches=m), np.mean(by_query))


@given(labelled())
def test_reciprocal_rank_is_that_of_the_nearest_match(data):
    X, y = data
    values = []
    for i in range(len(X)):
        matches, mismatches = pairs(X, y, i)
        first = matches.min()
        values.append(1 / (1 + sum(mismatches < first) + sum(mismatches == first) / 2))
    assert_allclose(ranking.reciprocal_rank(EQUAL, X, y), np.mean(values))


@given(labelled())
def test_the_whole_base_depends_on_the_classes_alone(data):
    X, y = data
    shares = [np.mean(np.delete(y, i) == y[i]) for i in range(len(X))]
    assert_allclose(ranking.match_share(EQUAL, X, y, nearest=1.0), np.mean(shares))
    assert_allclose(ranking.match_share(DiagonalMetric([0.0, 0.0]), X, y, nearest=1.0), np.mean(shares))


def test_a_base_of_its_own_and_a_case_left_out_agree_with_the_table_itself():
    X, y = load_iris(return_X_y=True)
    metric = DiagonalMetric(np.ones(4))
    for measure in (ranking.mean_rank, ranking.match_share, ranking.reciprocal_rank):
        alone = measure(metric, X, y)
        assert_allclose(measure(metric, X, y, base=X, base_y=y, exclude=np.arange(150)), alone)
        assert measure(metric, X, y, base=X, base_y=y) != alone


def test_chance_and_order():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((400, 2)), rng.integers(2, size=400)
    assert_allclose(ranking.mean_rank(EQUAL, X, y, n_mismatches=100), 51, atol=3)
    X[:, 0] += 100 * y
    assert ranking.mean_rank(EQUAL, X, y) == 1.0
    assert ranking.reciprocal_rank(EQUAL, X, y) == 1.0
    assert ranking.match_share(EQUAL, X, y, nearest=0.1) == 1.0


def test_recall_of_matches_within_a_tolerance():
    base = make_casebase(600, random_state=0)
    queries, metric = np.arange(5), DiagonalMetric(1 / base.X.to_numpy().var(axis=0))
    found = matches_at(metric, base.X, queries, base.similarity, k=60, tolerance=0.05)
    sq = metric.sq_distances(base.X.iloc[queries].to_numpy(), base.X.to_numpy())
    for i in queries:
        true = base.similarity(int(i), np.arange(600))
        true[i] = sq[i, i] = np.inf
        matching = set(np.flatnonzero(true >= np.delete(true, i).max() - 0.05)) - {i}
        assert found.total[i] == len(matching)
        assert found.found[i] == len(matching & set(np.argsort(sq[i])[:60]))
    recall = wn.ranking.recall_at(metric, base.X, queries, base.similarity, k=60, tolerance=0.05)
    assert_allclose(recall, np.mean(found.found / found.total))


def test_a_local_metric_ranks_its_anchors():
    rng = np.random.default_rng(0)  # no two distances are equal, which rounding would put in either order
    X, y = rng.standard_normal((150, 4)), rng.integers(0, 3, 150)
    local = LocalMetric(X[::2], weights=np.ones((75, 4)))
    rank = ranking.mean_rank(local, X[1::2], y[1::2], base=X[::2], base_y=y[::2])
    assert_allclose(rank, ranking.mean_rank(DiagonalMetric(np.ones(4)), X[1::2], y[1::2], base=X[::2], base_y=y[::2]))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ranking.mean_rank(EQUAL, [[0, 0]], [1, 2]), "y must hold one class for each of the 1 rows, got 2"),
        (lambda: ranking.mean_rank(EQUAL, [[0, 0]], [1], base=[[1, 1]]), "base and base_y belong together"),
        (lambda: ranking.mean_rank(EQUAL, [[0, 0], [1, 1]], [1, 2]), "no rank is defined"),
        (lambda: ranking.mean_rank(EQUAL, [[0, 0]], [1], n_mismatches=0), "n_mismatches must be an integer >= 1"),
        (lambda: ranking.match_share(EQUAL, [[0, 0]], [1], nearest=0), "nearest must be above 0 and at most 1"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
