"""The compiled memory is the slow one: the same memories, choices and predictions after every case."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests.helpers.slow_memory import SlowMemory, drifting_stream
from tests.helpers.slow_memory import nearest as slow_nearest
from tests.helpers.slow_memory import sq_distances as slow_sq_distances
from whynear.stream import kernels, memory
from whynear.stream.kernels import BASE, END, LONG_SIZE, PLAIN, RAW, STANDARD, START, Rule
from whynear.stream.memory import Compression, learn, new_memory

PAPER = {"squared_votes": False, "recent_rule": False}
PAIRS = Compression("pairs", 0)
OURS = {"squared_votes": True, "recent_rule": True}


def rule_of(kind=PLAIN, k=3, min_size=8, max_size=60, max_long=24, case_weights=False, **votes):
    learning = {"kind": kind, "step": 1.0, "decay": 0.01, "case_weights": case_weights}
    return Rule(k, min_size, max_size, max_long, **learning, **(votes or OURS))


def slow_twin(rule, compression):
    return SlowMemory(
        rule.n_neighbors, rule.min_size, rule.max_size, rule.max_long, rule.squared_votes, rule.recent_rule,
        compression.method, compression.seed, rule.kind, rule.step, rule.decay, rule.case_weights,
    )  # fmt: skip


def check_same(held, slow):
    first, last = (int(held.state[place] - held.state[BASE]) for place in (START, END))
    size, d = int(held.state[LONG_SIZE]), len(held.weights)
    assert_array_equal(held.cases[:d, first:last].T, [case.x for case in slow.short])
    if len(held.cases) > d:
        assert_allclose(held.cases[d:, first:last].T, [case.own for case in slow.short], rtol=1e-9)
        assert_allclose(held.long_cases[d:, :size].T.ravel(), np.ravel([case.own for case in slow.long]), rtol=1e-9)
    assert_array_equal(held.codes[first:last], [case.code for case in slow.short])
    assert_array_equal(held.long_numbers[:size], [case.number for case in slow.long])
    assert_array_equal(held.long_codes[:size], [case.code for case in slow.long])
    if size:
        assert_allclose(held.long_cases[:d, :size].T, [case.x for case in slow.long], rtol=1e-12, atol=1e-12)
    assert_allclose(held.weights, slow.weights, rtol=1e-9)
    assert kernels.chosen_memory(held) == slow.choice()


def compare(X, y, rule, compression=PAIRS):
    """Learn a stream case by case with both; return how often the short-term memory shrank."""
    held, slow = new_memory(X.shape[1], rule), slow_twin(rule, compression)
    found, shrinks = np.empty(1, dtype=np.int64), 0
    for i in range(len(X)):
        before = len(slow.short)
        held = learn(held, rule, compression, X[i : i + 1], y[i : i + 1], int(y.max()) + 1, found)
        assert found[0] == slow.learn(X[i], int(y[i])), f"case {i}"
        check_same(held, slow)
        shrinks += len(slow.short) < before
    return shrinks


SETTINGS = [
    pytest.param(rule_of(**PAPER), Compression("k-means", 7), id="the paper's"),
    pytest.param(rule_of(), Compression("pairs", 0), id="plain"),
    pytest.param(rule_of(RAW), Compression("pairs", 0), id="raw"),
    pytest.param(rule_of(STANDARD), Compression("pairs", 0), id="z-scores"),
    pytest.param(rule_of(RAW, case_weights=True), Compression("k-means", 7), id="weights of each case"),
    pytest.param(rule_of(STANDARD, case_weights=True), Compression("pairs", 0), id="z-scores, weights of each case"),
]


@pytest.mark.parametrize(("rule", "compression"), SETTINGS)
def test_memories_choices_and_predictions_are_those_of_the_slow_memory(rule, compression):
    assert compare(*drifting_stream(0, n=130), rule, compression) > 0
    assert compare(*drifting_stream(1, n=130, grid=True), rule, compression) > 0


@pytest.mark.slow
@pytest.mark.parametrize(("rule", "compression"), SETTINGS)
def test_they_are_the_same_on_fifty_streams(rule, compression):
    for seed in range(50):
        X, y = drifting_stream(seed, 200, d=(1, 2, 3, 5, 10)[seed % 5], grid=seed % 3 == 0, n_classes=2 + seed % 3)
        assert compare(X, y, rule, compression) > 0


def test_little_room_gives_the_same(monkeypatch):
    monkeypatch.setattr(memory, "LEAST_ROOM", 1)
    monkeypatch.setattr(memory, "CHANGES_PER_CASE", 0)
    for kind in (PLAIN, STANDARD):
        compare(*drifting_stream(3, n=120), rule_of(kind))


@pytest.mark.slow
def test_windows_of_several_blocks_give_the_same():
    X, y = drifting_stream(5, n=700, d=9, n_classes=2)
    y[:] = X[:, 0] > 0  # no drift: the window stays long
    compare(X, y, rule_of(k=5, min_size=50, max_size=600, max_long=100))


def test_a_single_class_and_copies_give_the_same():
    X = np.tile(np.arange(6.0)[:, None], (20, 2))
    compare(X, np.zeros(len(X), dtype=np.int64), rule_of())
    compare(X, np.arange(len(X)) % 2, rule_of())


@pytest.mark.parametrize(("share", "n_classes"), [(0, 2), (1, 20), (12, 30)])
def test_the_memories_are_bounded_however_small_the_long_one_is(share, n_classes):
    X, y = drifting_stream(2, n=150, n_classes=n_classes)
    rule = rule_of(max_size=20, max_long=share)
    compare(X, y, rule)
    held = learn(new_memory(3, rule), rule, Compression("pairs", 0), X, y, n_classes, np.empty(len(X), dtype=np.int64))
    assert held.state[END] - held.state[START] + held.state[LONG_SIZE] <= 20


def test_the_nearest_are_found_in_blocks_and_by_parts_of_the_features():
    rng = np.random.default_rng(0)
    for d in (1, 8, 20):
        cases, x, weights = rng.integers(0, 5, (d, 700)) * 1.0, rng.integers(0, 5, d) * 1.0, rng.uniform(0, 2, d)
        sq, at = np.empty(7), np.empty(7, dtype=np.int64)
        assert kernels.nearest(cases, 20, 690, x, weights, 7, sq, at, np.empty(kernels.BLOCK)) == 7
        expected = slow_sq_distances(cases.T[20:690], x, weights)
        assert_array_equal(at - 20, slow_nearest(expected, 7))
        assert_array_equal(sq, expected[at - 20])


def test_of_equal_votes_the_first_class_wins_and_only_copies_vote_beside_copies():
    votes = np.zeros(3)
    assert kernels.vote(np.array([1.0, 1.0]), np.array([2, 1]), 2, True, votes) == 1
    assert kernels.vote(np.array([0.0, 1e-9, 1e-9]), np.array([2, 1, 1]), 3, True, votes) == 2
    assert kernels.vote(np.array([1.0, 4.0, 4.0]), np.array([2, 1, 1]), 3, True, votes) == 2
    assert kernels.vote(np.array([1.0, 3.0, 3.0]), np.array([2, 1, 1]), 3, False, votes) == 1
    assert not votes.any()
