"""Fault 28: features and classes that come and go, copies, and no end; handled, noted, and in bounded memory."""

import numpy as np
import pytest

import whynear as wn
from tests.helpers.slow_memory import drifting_stream
from whynear.stream import state
from whynear.stream.history import MOST_LINES, MOST_NOTES

SMALL = {"n_neighbors": 3, "min_size": 8, "max_size": 60}


def notes_of(model):
    return [note for _, note in model.history.notes]


def n_bytes(model):
    return sum(array.nbytes for memory in model._state.memories for array in memory)


def test_a_new_feature_is_used_from_its_first_case_on():
    rng = np.random.default_rng(0)
    model, right = wn.SelfAdjustingMemory(**SMALL), []
    for i in range(300):
        x = {"a": rng.standard_normal()} | ({"b": rng.standard_normal()} if i >= 100 else {})
        y = bool(x.get("b", x["a"]) > 0)
        right.append(model.predict_one(x) == y)
        model.learn_one(x, y)
    assert np.mean(right[250:]) > 0.8
    assert "new feature: 'b'" in notes_of(model)
    assert model.n_features_in_ == 2
    assert np.isnan(model.history.relevances["b"][0])


def test_a_vanished_feature_takes_its_mean_and_is_noted_once():
    rng = np.random.default_rng(1)
    model = wn.SelfAdjustingMemory(**SMALL)
    for i in range(120):
        x = {"a": rng.standard_normal()} | ({"b": 5.0 + rng.standard_normal()} if i < 60 else {})
        model.learn_one(x, x["a"] > 0)
        assert model.predict_one({"a": 1.0}) in (True, False)
    assert notes_of(model).count("missing for the first time: 'b'") == 1
    memory = model._state.memories[0]
    first, last = memory.state[1] - memory.state[0], memory.state[2] - memory.state[0]
    assert 4 < memory.cases[1, last - 1] < 6
    assert np.ptp(memory.cases[1, max(first, last - 20) : last]) == 0


def test_a_feature_that_comes_and_goes_is_noted_once():
    model = wn.SelfAdjustingMemory(**SMALL)
    for i in range(60):
        model.learn_one({"a": float(i % 7), "b": None if i % 5 == 4 else float(i)}, i % 2)
    assert sum("'b'" in note for note in notes_of(model)) == 1


def test_missing_numbers_are_none_or_nan():
    model = wn.SelfAdjustingMemory(**SMALL)
    model.learn_one({"a": 1.0, "b": 2.0}, "x")
    model.learn_one({"a": None, "b": float("nan")}, "y")
    assert "missing for the first time: 'a', 'b'" in notes_of(model)
    with pytest.raises(ValueError, match="'red' in 'a'"):
        model.learn_one({"a": "red"}, "x")
    assert model.n_seen_ == 2


def test_a_new_class_is_predicted_and_noted_and_the_others_keep_their_labels():
    X, y = drifting_stream(0, n=200, n_classes=2)
    labels = np.array(["b", "d"])[y]
    model = wn.SelfAdjustingMemory(**SMALL).partial_fit(X, labels)
    before = model.predict(X[:50])
    far = X[:5] * 0 + 1000.0
    model.partial_fit(far, ["a", "a", "a", "c", "c"])
    assert model.classes_.tolist() == ["a", "b", "c", "d"]
    assert set(model.predict(far)) <= {"a", "c"}
    assert np.mean(model.predict(X[:50]) == before) > 0.8
    assert [note for note in model.history.notes if note[0] > 200] == [(201, "new class: 'a'"), (204, "new class: 'c'")]
    assert model.predict_proba(X[:3]).shape == (3, 4)


def test_new_classes_are_noted_at_their_first_case_however_the_stream_is_cut():
    X, labels = np.arange(8.0)[:, None], np.array(["b", "b", "a", "b", "d", "a", "c", "d"])
    expected = ((3, "new class: 'a'"), (5, "new class: 'd'"), (7, "new class: 'c'"))
    for size in (1, 3, 8):
        model = wn.SelfAdjustingMemory(**SMALL)
        for first in range(0, 8, size):
            model.partial_fit(X[first : first + size], labels[first : first + size])
        assert model.history.notes == expected
    model = wn.SelfAdjustingMemory(**SMALL).partial_fit(X[:1], labels[:1], classes=["a", "b", "c"])
    assert model.partial_fit(X[1:], labels[1:]).history.notes == ((5, "new class: 'd'"),)


def test_a_note_is_of_the_next_case_or_of_the_one_that_is_named():
    model = wn.SelfAdjustingMemory(**SMALL).partial_fit([[1.0], [2.0], [3.0]], ["x", "x", "x"])
    model.note("a pause")
    model.note("repaired", case=2)
    assert model.history.notes == ((2, "repaired"), (4, "a pause"))
    with pytest.raises(ValueError, match="case must be an integer >= 1, got 0"):
        model.note("before the first", case=0)


def test_copies_are_cases_like_others_and_contradicting_ones_share_the_vote():
    model = wn.SelfAdjustingMemory(**SMALL)
    for label in ("x", "y") * 30:
        model.learn_one({"a": 1.0}, label)
    chances = model.predict_proba_one({"a": 1.0})
    assert 0 < chances["x"] < 1
    assert sum(chances.values()) == pytest.approx(1.0)


def test_the_order_of_late_cases_is_that_of_their_coming():
    X, y = drifting_stream(3, n=200)
    late = np.r_[0:100, 101:150, 100, 150:200]
    model = wn.SelfAdjustingMemory(**SMALL).partial_fit(X[late], y[late])
    again = wn.SelfAdjustingMemory(**SMALL)
    for i in late:
        again.learn_one(dict(zip(("x0", "x1", "x2"), X[i], strict=True)), y[i])
    assert np.array_equal(model.predict(X), again.predict(X))


def test_memory_is_bounded_however_long_the_stream_is():
    X, y = drifting_stream(4, n=2000)
    model = wn.SelfAdjustingMemory(**SMALL).partial_fit(X, y)
    after = n_bytes(model)
    for i in range(10):
        model.partial_fit(X, y)
        assert n_bytes(model) <= 2 * after
        assert sum(model.memory_sizes_.values()) <= 60
        model.note(f"round {i}")
    assert len(model.history.table) < MOST_LINES
    assert len(model.history.notes) <= MOST_NOTES


def test_features_without_end_are_left_out_at_a_limit(monkeypatch):
    monkeypatch.setattr(state, "MOST_FEATURES", 10)
    model = wn.SelfAdjustingMemory(**SMALL)
    for i in range(30):
        model.learn_one({f"f{i}": 1.0}, i % 2)
    assert model.n_features_in_ == 10
    assert any(note.startswith("features beyond 10 are left out") for note in notes_of(model))
