import numpy as np
from numpy.testing import assert_array_equal

from tests.helpers.slow_memory import drifting_stream, learned
from whynear.stream.kernels import BASE, END, LONG_SIZE, START, Rule
from whynear.stream.memory import LEAST_ROOM, Compression, learn, new_memory, tight, with_room

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
