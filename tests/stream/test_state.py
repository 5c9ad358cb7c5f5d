import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

import whynear as wn
from tests.helpers.slow_memory import drifting_stream

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
