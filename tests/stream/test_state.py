import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import whynear as wn
from tests.helpers.slow_memory import drifting_stream, learned
from whynear.stream.kernels import BASE, END, LONG_SIZE, RAW, START
from whynear.stream.state import guarded, joined_classes, numbers_of, recode, row_of, with_features

SMALL = {"n_neighbors": 3, "min_size": 8, "max_size": 60}


def test_the_guard_answers_by_the_memory_of_the_best_faded_accuracy():
    X, y = drifting_stream(0, n=400)
    guarded = wn.SelfAdjustingMemory(**SMALL)
    answers = guarded.prequential(X, y)
    alone = {name: wn.SelfAdjustingMemory(metric=name, **SMALL) for name in ("plain", "raw", "z-scores")}
    found = {name: model.prequential(X, y) for name, model in alone.items()}
    accuracies = dict.fromkeys(found, 0.0)
    for i in range(len(X)):
        best = max(accuracies, key=accuracies.get)
        assert answers[i] == found[best][i]
        for name, own in found.items():
            accuracies[name] += (1 - 0.5 ** (1 / 1000)) * ((own[i] == y[i] and i > 0) - accuracies[name])
    assert guarded.chosen_metric_ == max(accuracies, key=accuracies.get)


def test_the_votes_are_those_of_the_remembered_cases_under_the_metric():
    for seed in range(4):
        X, y = drifting_stream(seed, n=150 + 60 * seed)
        for votes in ("squared", "inverse"):
            model = wn.SelfAdjustingMemory(votes=votes, **SMALL).fit(X, y)
            queries = np.vstack([X[:20], X[:20] + 0.1])
            evidence = model.evidence(queries)
            sq = model.metric_.sq_distances_at(queries, evidence.cases, evidence.indices)
            assert_allclose(evidence.sq_distances, sq, rtol=1e-9)
            everything = model.metric_.sq_distances(queries, evidence.cases)
            assert_allclose(evidence.sq_distances, np.sort(everything, axis=1)[:, :3], rtol=1e-6, atol=1e-12)
            assert_array_equal(model.classes_[evidence.support().argmax(axis=1)], model.predict(queries))
            sizes = model.memory_sizes_
            expected = {"short-term": sizes["short-term"], "long-term": sizes["long-term"], "both": sum(sizes.values())}
            assert len(evidence.labels) == expected[model.chosen_memory_]
            kinds = {name.split()[0] for name in evidence.row_names}
            assert kinds == ({"short-term", "long-term"} if model.chosen_memory_ == "both" else {model.chosen_memory_})


def test_names_are_numbers_in_the_stream():
    X, y = drifting_stream(1, n=150)
    model = wn.SelfAdjustingMemory(**SMALL).fit(X, y)
    evidence = model.evidence(X[-1:])
    for name, case in zip(evidence.row_names, evidence.cases, strict=True):
        if name.startswith("short-term"):
            assert_array_equal(case, X[int(name.split()[1]) - 1])


def test_shares_are_those_of_the_mean_squared_distance():
    X, y = drifting_stream(2, n=300)
    model = wn.SelfAdjustingMemory(metric="raw", **SMALL).fit(X, y)
    parts = model.metric_.relevances() * X.var(axis=0)
    assert_allclose(model._state.shares(), parts / parts.sum())


def test_the_metric_of_z_scores_is_stated_per_standard_deviation():
    X, y = drifting_stream(3, n=300)
    X[:, 2] = 4.0
    model = wn.SelfAdjustingMemory(metric="z-scores", **SMALL).partial_fit(X, y)
    metric = model.metric_
    assert metric.units == "per standard deviation"
    assert_allclose(metric.scale[:2], X[:, :2].std(axis=0))
    assert metric.relevances()[2] == 0


def test_classes_stay_sorted_and_keep_their_kind():
    assert joined_classes(np.array([3, 1]), np.array([2, 3])).tolist() == [1, 2, 3]
    assert joined_classes(np.array([True]), np.array([False])).dtype == bool
    assert joined_classes(np.array(["b"]), np.array(["a long name"])).tolist() == ["a long name", "b"]


def test_classes_that_cannot_be_sorted_together_are_refused():
    with pytest.raises(TypeError, match="kinds int and str"):
        joined_classes(np.array([1, 2]), np.array(["a"]))


def test_remembered_cases_keep_their_class_when_codes_change():
    X, y = drifting_stream(0, n_classes=2)
    memory = learned(X, y)
    before = memory.codes.copy(), memory.long_codes.copy()
    recode([memory], np.array(["b", "d"]), np.array(["a", "b", "c", "d"]))
    live, size = slice(*(memory.state[[START, END]] - memory.state[BASE])), memory.state[LONG_SIZE]
    assert_array_equal(memory.codes[live], 1 + 2 * before[0][live])
    assert_array_equal(memory.long_codes[:size], 1 + 2 * before[1][:size])


def test_missing_values_are_left_out_and_others_are_numbers():
    assert numbers_of({"a": 1, 2: np.float32(0.5), "gone": None, "nan": math.nan}) == {"a": 1.0, "2": 0.5}


@pytest.mark.parametrize(
    ("value", "fact"), [("red", "'red' in 'colour'"), (math.inf, "inf in 'colour'"), (1e200, "1e\\+200")]
)
def test_what_is_no_usable_number_is_refused_by_name(value, fact):
    with pytest.raises(ValueError, match=fact):
        numbers_of({"colour": value})


def test_a_feature_that_a_case_lacks_takes_the_mean():
    assert_array_equal(row_of({"b": 3.0}, ["a", "b"], np.array([7.0, 0.0])), [7.0, 3.0])


def test_new_features_change_no_distance_between_remembered_cases():
    X, y = drifting_stream(0)
    memory = learned(X, y, RAW)
    wider = with_features(memory, [5.0, -2.0], 1.0)
    assert_array_equal(wider.cases[:3], memory.cases)
    assert (wider.cases[3] == 5.0).all()
    assert (wider.long_cases[4] == -2.0).all()
    assert wider.weights.shape == wider.log_weights.shape == wider.moments[0].shape == (5,)
    assert wider.weights_before.shape == (5,)
    assert wider.cases.flags.c_contiguous
    assert memory.cases.shape[0] == 3


def test_the_memory_with_the_best_faded_accuracy_answers():
    rng = np.random.default_rng(0)
    codes, fading = rng.integers(0, 3, 300), 0.5 ** (1 / 20)
    found = rng.integers(0, 3, (3, 300))
    found[1, :100], found[2, 150:] = codes[:100], codes[150:]
    answers, chosen = np.empty(300, dtype=np.intp), np.empty(300, dtype=np.intp)
    accuracies = np.zeros(3)
    guarded(found, codes, accuracies, fading, answers, chosen)
    expected = np.zeros(3)
    for i, code in enumerate(codes):
        assert chosen[i] == expected.argmax()
        assert answers[i] == found[chosen[i], i]
        expected = fading * expected + (1 - fading) * (found[:, i] == code)
    assert_allclose(accuracies, expected)
    assert (chosen[50:100] == 1).all()
    assert (chosen[250:] == 2).all()


def test_it_goes_on_where_a_part_ended():
    rng = np.random.default_rng(1)
    codes, found = rng.integers(0, 2, 80), rng.integers(0, 2, (2, 80))
    whole, parts = np.empty(80, dtype=np.intp), np.empty(80, dtype=np.intp)
    chosen, accuracies, again = np.empty(80, dtype=np.intp), np.zeros(2), np.zeros(2)
    guarded(found, codes, accuracies, 0.9, whole, chosen)
    for part in (slice(0, 33), slice(33, 80)):
        guarded(found[:, part], codes[part], again, 0.9, parts[part], chosen[part])
    assert_array_equal(parts, whole)
    assert_array_equal(again, accuracies)
