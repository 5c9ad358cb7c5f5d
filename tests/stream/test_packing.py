"""A stream can be saved and loaded anywhere in it, and goes on to the bit."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import whynear as wn
from tests.helpers.slow_memory import drifting_stream
from whynear.stream.history import COLUMNS
from whynear.stream.kernels import FIRST_SLOT, N_LEVELS
from whynear.stream.state import DERIVED_ARRAYS, packed, unpacked

SMALL = {"n_neighbors": 3, "min_size": 8, "max_size": 60, "random_state": 1}


def check_same_states(first, second):
    for mine, theirs in zip(packed(first)["memories"], packed(second)["memories"], strict=True):
        for name in mine:
            assert_array_equal(mine[name], theirs[name], name)
    assert_array_equal(first.accuracies, second.accuracies)
    assert_array_equal(first.record.lines, second.record.lines)
    assert first.record.notes == second.record.notes


@pytest.mark.parametrize("settings", [{}, {"metric": "plain", "compression": "k-means"}])
@pytest.mark.parametrize("cut", [1, 7, 100, 251])
def test_a_loaded_stream_goes_on_to_the_bit(settings, cut, tmp_path):
    X, y = drifting_stream(0, n=400)
    model = wn.SelfAdjustingMemory(**SMALL, **settings).partial_fit(X[:cut], y[:cut])
    wn.save(model, tmp_path / "stream")
    again = wn.load(tmp_path / "stream")
    check_same_states(model._state, again._state)
    assert_array_equal(again.predict_proba(X[:5]), model.predict_proba(X[:5]))
    assert_array_equal(again.prequential(X[cut:], y[cut:]), model.prequential(X[cut:], y[cut:]))
    check_same_states(model._state, again._state)


def test_windows_made_anew_are_those_that_were_kept():
    X, y = drifting_stream(5, n=300)
    model = wn.SelfAdjustingMemory(**SMALL, metric="plain").partial_fit(X, y)
    state = model._state
    again = unpacked(packed(state), state.settings, 3)
    (kept,), (made,) = state.memories, again.memories
    for level in range(kept.state[N_LEVELS]):
        slot, other = (
            (kept.state[FIRST_SLOT] + level) % len(kept.starts),
            (made.state[FIRST_SLOT] + level) % len(made.starts),
        )
        assert kept.starts[slot] == made.starts[other]
        assert kept.n_right[slot] == made.n_right[other]


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("codes", lambda array: array + 9),
        ("long_codes", lambda array: array - 1),
        ("cases", lambda array: array[:, :-1]),
        ("cases", lambda array: array * np.nan),
        ("listed", lambda array: array + 10**6),
        ("changes", lambda array: array + 1000),
        ("changes", lambda array: array * [[1, 0]] + np.arange(len(array), dtype=np.int32)[:, None] * [[0, 1]]),
        ("changes", lambda array: array[:-1]),
        ("right", lambda array: array + 2),
        ("weights", lambda array: array[:2]),
        ("memory_right", lambda array: array + 7),
        ("state", lambda array: array + 10**6),
        ("state", lambda array: -array),
        ("codes", lambda array: array.astype(float)),
    ],
)
def test_values_that_do_not_fit_together_are_refused(name, change):
    X, y = drifting_stream(0, n=200)
    state = wn.SelfAdjustingMemory(**SMALL).partial_fit(X, y)._state
    fields = packed(state)
    fields["memories"][1][name] = change(fields["memories"][1][name])
    with pytest.raises(ValueError, match="of the stream has wrong sizes or values"):
        unpacked(fields, state.settings, 3)


@pytest.mark.parametrize("column", ["metric", "memory"])
def test_a_record_of_an_unknown_metric_or_memory_is_refused(column):
    X, y = drifting_stream(0, n=2_000)
    state = wn.SelfAdjustingMemory(**SMALL).partial_fit(X, y)._state
    fields = packed(state)
    fields["record"]["lines"] = np.array(fields["record"]["lines"])
    assert len(fields["record"]["lines"])
    unpacked(fields, state.settings, 3)
    fields["record"]["lines"][0, COLUMNS.index(column)] = 9
    with pytest.raises(ValueError, match="record of the stream has wrong sizes or values"):
        unpacked(fields, state.settings, 3)


def test_what_can_be_made_again_is_not_saved():
    X, y = drifting_stream(0, n=200)
    fields = packed(wn.SelfAdjustingMemory(**SMALL).partial_fit(X, y)._state)
    assert not set(fields["memories"][0]) & set(DERIVED_ARRAYS)
