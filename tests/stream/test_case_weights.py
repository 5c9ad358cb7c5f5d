"""Weights of each remembered case: an option that changes nothing where nothing is learned."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import whynear as wn
from tests.helpers.slow_memory import drifting_stream
from whynear.stream.kernels import add_weighted, move_case_weights
from whynear.stream.state import packed, unpacked

SMALL = {"n_neighbors": 3, "min_size": 8, "max_size": 60, "random_state": 1}


def model_of(**settings):
    return wn.SelfAdjustingMemory(**SMALL, **{"case_weights": True, **settings})


def test_distances_are_by_the_shared_weights_times_those_of_the_case():
    rng = np.random.default_rng(0)
    cases, x, weights, out = rng.uniform(0.5, 2, (6, 9)), rng.standard_normal(3), rng.uniform(0, 2, 3), np.zeros(5)
    add_weighted(cases, 2, 7, x, weights, 0, 3, out)
    assert_allclose(out, (weights[:, None] * cases[3:, 2:7] * (cases[:3, 2:7] - x[:, None]) ** 2).sum(axis=0))


def test_a_hit_comes_nearer_and_a_miss_goes_farther_by_the_gradient_of_the_distance():
    x, weights = np.zeros(3), np.ones(3)
    for pull in (0.5, -0.5):
        cases = np.array([[3.0], [1.0], [0.0], [1.0], [1.0], [1.0]])
        move_case_weights(cases, 0, x, weights, pull, 1.0)
        logs = -pull * np.array([0.9, 0.1, 0.0])
        assert_allclose(np.log(cases[3:, 0]), logs - logs.mean())
        assert ((cases[3:, 0] * cases[:3, 0] ** 2).sum() < 10) == (pull > 0)


def test_weights_go_back_to_equal_ones_and_are_bounded():
    cases = np.array([[3.0], [0.0], [4.0], [0.25]])
    move_case_weights(cases, 0, np.zeros(2), np.ones(2), 0.0, 0.5)
    assert_allclose(cases[2:, 0], [2.0, 0.5])
    move_case_weights(cases, 0, np.zeros(2), np.ones(2), -1000.0, 1.0)
    assert_allclose(np.log(cases[2:, 0]), [6.0, -6.0])


def with_and_without(X, y, **settings):
    return [model_of(case_weights=own, **settings).partial_fit(X, y) for own in (True, False)]


@pytest.mark.parametrize("compression", ["pairs", "k-means"])
def test_a_step_of_zero_gives_the_memory_without_them_to_the_bit(compression):
    X, y = drifting_stream(0, n=400)
    settings = {"step": 0.0, "compression": compression}
    assert_array_equal(*(model_of(case_weights=own, **settings).prequential(X, y) for own in (True, False)))
    first, second = with_and_without(X, y, **settings)
    assert_array_equal(first.predict_proba(X), second.predict_proba(X))
    for mine, theirs in zip(packed(first._state)["memories"], packed(second._state)["memories"], strict=True):
        for name in theirs:
            held = mine[name][:3] if name in ("cases", "long_cases") else mine[name]
            assert_array_equal(held, theirs[name], name)
        assert (mine["cases"][3:] == 1.0).all()


def test_a_step_changes_predictions():
    X, y = drifting_stream(0, n=400)
    first, second = with_and_without(X, y)
    assert not np.array_equal(first.predict_proba(X), second.predict_proba(X))


def test_the_plain_metric_has_none():
    X, y = drifting_stream(1, n=300)
    found = [model_of(metric="plain", case_weights=own).prequential(X, y) for own in (False, True)]
    assert_array_equal(*found)


def test_units_do_not_matter_for_weights_learned_from_z_scores():
    X, y = drifting_stream(2, n=400)
    first, scaled = model_of(metric="z-scores"), model_of(metric="z-scores")
    units = np.array([2.0**10, 1.0, 2.0**-7])
    assert_array_equal(first.prequential(X, y), scaled.prequential(X * units, y))
    (mine,), (theirs,) = first._state.memories, scaled._state.memories
    assert not (mine.cases[3:] == 1.0).all()
    assert_array_equal(mine.cases[3:], theirs.cases[3:])


def test_the_memories_are_bounded():
    X, y = drifting_stream(3, n=900)
    model = model_of().partial_fit(X, y)
    assert sum(model.memory_sizes_.values()) <= 60
    for memory, rows in zip(model._state.memories, (3, 6, 6), strict=True):
        assert memory.cases.shape[0] == memory.long_cases.shape[0] == rows
        assert memory.cases.shape[1] <= 600


@pytest.mark.parametrize("compression", ["pairs", "k-means"])
@pytest.mark.parametrize("cut", [1, 100, 251])
def test_a_loaded_stream_goes_on_to_the_bit(compression, cut, tmp_path):
    X, y = drifting_stream(0, n=400)
    model = model_of(compression=compression).partial_fit(X[:cut], y[:cut])
    wn.save(model, tmp_path / "stream")
    again = wn.load(tmp_path / "stream")
    assert_array_equal(again.prequential(X[cut:], y[cut:]), model.prequential(X[cut:], y[cut:]))
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    for mine, theirs in zip(packed(model._state)["memories"], packed(again._state)["memories"], strict=True):
        assert_array_equal(mine["cases"], theirs["cases"])
        assert_array_equal(mine["long_cases"], theirs["long_cases"])


@pytest.mark.parametrize("change", [lambda cases: cases[:3], lambda cases: -cases])
def test_weights_that_are_missing_or_not_positive_are_refused(change):
    X, y = drifting_stream(0, n=200)
    state = model_of().partial_fit(X, y)._state
    fields = packed(state)
    fields["memories"][1]["cases"] = change(fields["memories"][1]["cases"])
    with pytest.raises(ValueError, match="cases of the stream has wrong sizes or values"):
        unpacked(fields, state.settings, 3)


@pytest.mark.parametrize("metric", ["raw", "z-scores"])
def test_evidence_and_explanations_state_the_weights_that_voted(metric):
    chosen = set()
    for seed, n in ((0, 150), (1, 210), (2, 270), (4, 390)):
        X, y = drifting_stream(seed, n=n)
        frame = pd.DataFrame(X, columns=["a", "b", "c"])
        model = model_of(metric=metric).fit(frame, y)
        evidence, local = model.evidence(frame), model.metric_
        assert isinstance(local, wn.LocalMetric)
        assert_array_equal(local.anchors, evidence.cases)
        every = local.sq_distances(X)
        assert_allclose(np.take_along_axis(every, evidence.indices, axis=1), evidence.sq_distances, atol=1e-12)
        assert_allclose(np.sort(every, axis=1)[:, :3], evidence.sq_distances, atol=1e-12)
        why = wn.explain(model, frame.iloc[7])
        assert_allclose(why.contributions.sum(axis=1), why.neighbors["sq_distance"], atol=1e-12)
        shown = local.weights[evidence.indices[7]] * (X[7] - evidence.cases[evidence.indices[7]]) ** 2
        assert_allclose(why.contributions, shown, atol=1e-12)
        chosen.add(model.chosen_memory_)
    assert len(chosen) > 1


def test_dicts_bring_new_features_whose_weights_begin_at_one():
    X, y = drifting_stream(5, n=240)
    model = model_of(metric="raw")
    for row, label in zip(X[:120, :2], y[:120], strict=True):
        model.learn_one({"a": row[0], "b": row[1]}, int(label))
    before = model.metric_.weights
    model._state.learned_row({"a": 0.0, "b": 0.0, "c": 4.0})
    assert_array_equal(model.metric_.weights[:, :2], before)
    assert (model.metric_.weights[:, 2] == 1.0).all()
    for row, label in zip(X[120:], y[120:], strict=True):
        model.learn_one(dict(zip("abc", row, strict=True)), int(label))
    assert not (model._state.memory.cases[5] == 1.0).all()
    assert model.predict_one({"a": 0.0, "b": 0.0}) in (0, 1, 2)


def test_dicts_and_tables_are_the_same_stream():
    X, y = drifting_stream(6, n=200)
    expected = model_of().prequential(pd.DataFrame(X, columns=["a", "b", "c"]), y)
    model = model_of()
    for i, (row, label) in enumerate(zip(X, y, strict=True)):
        assert i == 0 or model.predict_one(dict(zip("abc", row, strict=True))) == expected[i]
        model.learn_one(dict(zip("abc", row, strict=True)), int(label))


def test_another_value_than_true_or_false_is_refused():
    with pytest.raises(ValueError, match="case_weights must be one of False, True, got 'yes' instead"):
        model_of(case_weights="yes").partial_fit([[1.0], [2.0]], [0, 1])
