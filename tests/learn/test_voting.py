import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.decomposition import PCA

import whynear as wn
from whynear.learn.voting import cast_votes, inverse_distances
from whynear.metric import DiagonalMetric
from whynear.search import NeighborSearch

GIVEN = {"epochs": 1, "step": 0.1, "beta": 0.3, "decay": 0.0, "shared_step": 0.01, "shared_epochs": 1}


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


@pytest.mark.parametrize("learner", [wn.LANN(random_state=0, **GIVEN), wn.LMNN(max_iter=2, tol=0.9)], ids=str)
def test_a_crowd_of_copies_needs_no_square_of_memory(learner):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12_000, 4))
    X[:6_000] = 0.0
    y = rng.integers(3, size=12_000)
    small = learner.fit(X[::20], y[::20])
    few = X[[0, 1, -1]]
    assert_array_equal(small.predict(few), small.evidence(few).support().argmax(axis=1))
    shares = np.bincount(y[:6_000:20], minlength=3) / 300
    assert_allclose(small.predict_proba(few)[:2], [shares, shares])
    metric = wn.LocalMetric(X, weights=np.ones_like(X)) if isinstance(learner, wn.LANN) else small.metric_
    small.metric_, small.cases_, small.codes_ = metric, X, y
    tracemalloc.start()
    small.predict(X[4_500:7_500])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 150 << 20  # 3,000 times 6,000 numbers and distances are 288 MB


def test_next_to_nothing_is_distance_zero():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 0.0], [0.0, 2.0]])
    model = wn.LANN(n_neighbors=2, random_state=0, **GIVEN).fit(X, [0, 1, 0, 1, 0, 1])
    for tiny in (1e-156, 1e-80, 1e-12):
        assert_allclose(model.predict_proba([[tiny, 0.0], [9.0, 9.0]])[0], [1.0, 0.0])


def test_contradicting_copies_share_the_vote_behind_a_rotation():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5))
    X[:12], y = X[0], np.arange(60) % 3
    pca = PCA().fit(X)
    model = wn.LANN(random_state=0, **GIVEN).fit(np.vstack([pca.transform(row[None]) for row in X]), y)
    together = model.predict_proba(pca.transform(X))
    alone = np.vstack([model.predict_proba(pca.transform(row[None])) for row in X])
    assert_allclose(together[:12], np.full((12, 3), 1 / 3))
    assert_allclose(alone[:12], together[:12])
