import pickle
import time

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from whynear.data.generators import RotationSimilarity, _invariants
from whynear.datasets import make_casebase


@pytest.fixture(scope="module")
def base():
    return make_casebase(1500, random_state=0)


def test_similarity_is_the_best_correlation_over_all_rotations_one_by_one(base):
    others = np.arange(40)
    slow = [max(np.corrcoef(base.patterns[7], np.roll(base.patterns[j], s))[0, 1] for s in range(64)) for j in others]
    assert_allclose(base.similarity(7, others), slow, atol=1e-5)


def test_similarity_is_symmetric_bounded_and_one_with_itself(base):
    matrix = np.array([base.similarity(i, range(30)) for i in range(30)])
    assert_allclose(matrix, matrix.T, atol=1e-5)
    assert_allclose(np.diag(matrix), 1, atol=1e-5)
    assert np.abs(matrix).max() <= 1


def test_rotating_a_pattern_changes_no_similarity(base):
    turned = np.stack([np.roll(p, 5 * i) for i, p in enumerate(base.patterns[:20])])
    again = RotationSimilarity(turned)
    assert_allclose(again(0, range(20)), base.similarity(0, range(20)), atol=1e-5)


def test_rotating_a_pattern_changes_no_feature(base):
    c = np.fft.rfft(base.patterns, axis=1)[:, 1:11]
    turned = np.fft.rfft(np.roll(base.patterns, 9, axis=1), axis=1)[:, 1:11]
    assert_allclose(_invariants(turned), _invariants(c), atol=1e-3)


def test_relevant_features_describe_the_stored_patterns(base):
    c = np.fft.rfft(base.patterns, axis=1)[:, 1:11]
    relevant = (base.X / base.scale).loc[:, base.kind == "relevant"]
    assert_allclose(relevant, _invariants(c)[:, : relevant.shape[1]], atol=1e-3)


def test_kinds_and_scales_are_those_documented(base):
    kinds, sizes = np.unique(base.kind, return_counts=True)
    assert dict(zip(kinds, sizes, strict=True)) == {"noise": 46, "redundant": 15, "relevant": 15}
    noise, useful = base.scale[base.kind == "noise"], base.scale[base.kind != "noise"]
    assert noise.max() == pytest.approx(1e3)
    assert noise.min() == pytest.approx(1e-3)
    assert useful.min() == pytest.approx(1e-3)
    assert np.sum(useful == 1) > np.sum(useful != 1)
    assert np.sum(noise == 1) < np.sum(noise != 1)
    spread = (base.X / base.scale).std().to_numpy()
    assert spread.min() > 0.5
    assert spread.max() < 2


def test_cases_of_one_shape_match_and_others_mostly_do_not(base):
    same = base.y == base.y[0]
    similarity = base.similarity(0, np.arange(1500))
    assert np.median(similarity[same]) > 0.9
    assert np.median(similarity[~same]) < 0.7


def found(base, features, queries, top=30, tolerance=0.03):
    """Share of the true matches of the queries among the nearest ``top`` by these features."""
    hits = total = 0
    for q in queries:
        others = np.delete(np.arange(len(features)), q)
        similarity = base.similarity(q, others)
        is_match = similarity >= similarity.max() - tolerance
        near = np.argsort(((features[others] - features[q]) ** 2).sum(axis=1))[:top]
        hits, total = hits + is_match[near].sum(), total + is_match.sum()
    return hits / total


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_plain_distance_finds_far_fewer_matches_than_the_relevant_features(seed):
    base = make_casebase(1500, random_state=seed)
    raw, relevant = base.X.to_numpy(), base.kind == "relevant"
    scored = (raw - raw.mean(axis=0)) / raw.std(axis=0)
    queries = range(0, 1500, 30)
    ideal = found(base, (raw / base.scale)[:, relevant], queries)
    assert ideal > 0.6
    assert found(base, raw[:, relevant], queries) > 0.8 * ideal
    assert found(base, raw, queries) < 0.2 * ideal
    assert found(base, scored, queries) < 0.8 * ideal


def test_fifty_thousand_cases_take_little_time_and_memory():
    start = time.perf_counter()
    base = make_casebase(random_state=0)
    assert time.perf_counter() - start < 10
    assert base.X.shape == (50_000, 76)
    assert base.patterns.dtype == np.float32
    assert base.patterns.nbytes == 50_000 * 64 * 4
    assert base.similarity(0, np.arange(50_000)).shape == (50_000,)


@pytest.mark.parametrize(("n", "d"), [(2, 4), (3, 300), (120, 5)])
def test_small_and_wide_bases_are_finite(n, d):
    base = make_casebase(n, d, random_state=0)
    assert base.X.shape == (n, d)
    assert np.isfinite(base.X.to_numpy()).all()
    assert set(base.kind) == {"relevant", "redundant", "noise"}


def test_a_base_survives_being_sent_to_another_process(base):
    again = pickle.loads(pickle.dumps(base))
    assert_array_equal(again.similarity(1, [2, 3]), base.similarity(1, [2, 3]))


def test_indices_outside_of_the_base_are_refused(base):
    assert len(base.similarity(0, [])) == 0
    for i, others in [(0, [1500]), (1500, [0]), (0, [-1])]:
        with pytest.raises(ValueError, match="from 0 to 1499"):
            base.similarity(i, others)
    with pytest.raises(ValueError, match="others must be one row of case indices"):
        base.similarity(0, [0.5])
    with pytest.raises(ValueError, match="i must be an integer"):
        base.similarity(-1, [0])
