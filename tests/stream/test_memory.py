import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans

from tests.helpers.slow_memory import drifting_stream, learned
from whynear.stream.kernels import BASE, END, LONG_SIZE, START, Rule
from whynear.stream.memory import LEAST_ROOM, Compression, k_means, learn, new_memory, pairs_joined, tight, with_room

RULE = Rule(3, 8, 60, 24, squared_votes=True, recent_rule=True, kind=0, step=1.0, decay=0.01)


def test_a_stream_in_parts_gives_the_same():
    X, y = drifting_stream(4, n=500)
    whole, parts, memory = np.empty(500, dtype=np.int64), np.empty(500, dtype=np.int64), new_memory(3, RULE)
    learn(new_memory(3, RULE), RULE, Compression("pairs", 0), X, y, 3, whole)
    for part in np.array_split(np.arange(500), [1, 2, 50, 333]):
        found = np.empty(len(part), dtype=np.int64)
        memory = learn(memory, RULE, Compression("pairs", 0), X[part], y[part], 3, found)
        parts[part] = found
    assert_array_equal(parts, whole)
    assert whole[0] == -1


def test_room_is_bounded_and_holds_the_same_cases():
    X, y = drifting_stream(4, n=900)
    memory = learned(X, y)
    assert len(memory.codes) <= LEAST_ROOM + 24
    assert memory.long_cases.shape[1] <= RULE.max_size + 1
    before = memory.cases[:, slice(*(memory.state[[START, END]] - memory.state[BASE]))].copy()
    for moved in (tight(memory), with_room(memory, RULE)):
        assert_array_equal(moved.cases[:, : before.shape[1]], before)
        assert moved.state[BASE] == moved.state[START] == memory.state[START]
        assert_array_equal(moved.long_codes[: moved.state[LONG_SIZE]], memory.long_codes[: memory.state[LONG_SIZE]])


def test_k_means_depends_on_its_seed_only():
    X, y = drifting_stream(6, n=400)
    first, again, other = (
        learn(new_memory(3, RULE), RULE, Compression("k-means", seed), X, y, 3, np.empty(400, dtype=np.int64))
        for seed in (1, 1, 2)
    )
    assert_array_equal(first.long_cases, again.long_cases)
    assert not np.array_equal(first.long_cases, other.long_cases)


def test_the_nearest_pairs_become_their_means_at_the_place_of_the_later():
    cases = np.array([[0.0, 10.0, 11.0, 100.0, 0.5]])
    remains = pairs_joined(cases, np.ones(1), 3)
    assert_array_equal(remains, [False, False, True, True, True])
    assert_array_equal(cases[0, remains], [10.5, 100.0, 0.25])


def test_passes_go_on_until_as_many_remain_as_asked():
    rng = np.random.default_rng(0)
    for n in range(1, 40):
        for n_left in {1, (n + 1) // 2, n}:
            cases = rng.standard_normal((2, n))
            mean = cases.mean(axis=1)
            remains = pairs_joined(cases, np.array([1.0, 0.3]), n_left)
            assert remains.sum() == n_left
            assert n_left < n or np.allclose(cases[:, remains].mean(axis=1), mean)


def test_the_metric_says_which_pairs_are_near():
    cases = np.array([[0.0, 0.0, 5.0], [0.0, 3.0, 0.0]])
    near, far = cases.copy(), cases.copy()
    pairs_joined(near, np.array([1.0, 1.0]), 2)
    pairs_joined(far, np.array([0.1, 1.0]), 2)
    assert_array_equal(near[:, 1], [0.0, 1.5])
    assert_array_equal(far[:, 2], [2.5, 0.0])


def test_k_means_is_that_of_scikit_learn():
    rng = np.random.default_rng(1)
    cases = rng.standard_normal((60, 3)) + 4 * rng.integers(0, 3, (60, 1))
    centres = cases[:7].T.copy()
    k_means(np.ascontiguousarray(cases.T), np.ones(3), centres, 100)
    expected = KMeans(7, init=cases[:7], n_init=1, algorithm="lloyd", tol=0.0).fit(cases)
    assert_allclose(centres.T, expected.cluster_centers_)


def test_a_centre_that_is_nearest_to_no_case_stays():
    centres = np.array([[0.0, 50.0]])
    k_means(np.array([[1.0, 3.0]]), np.ones(1), centres, 100)
    assert_array_equal(centres, [[2.0, 50.0]])
