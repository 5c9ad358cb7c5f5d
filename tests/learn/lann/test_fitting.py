import time

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler

import whynear as wn
from tests.helpers.lann import GIVEN, rows


def test_lists_that_miss_neighbours_are_made_anew(monkeypatch):
    X, y = rows(150)
    settings = {**GIVEN, "epochs": 10, "step": 0.3}
    recalls = []
    for enough in (0.0, 1.0):
        monkeypatch.setattr("whynear.learn.lann.fitting.RECALL_TO_KEEP_LISTS", enough)
        recalls.append(wn.LANN(random_state=0, n_candidates=6, **settings).fit(X, y).candidate_recall_)
    assert recalls[1] > recalls[0] + 0.05


@pytest.mark.parametrize("n_components", [None, 2])
def test_weights_in_another_unit_change_nothing(n_components):
    X, y = rows(80)
    weights = np.random.default_rng(0).uniform(0.2, 3.0, 80)
    models = [
        wn.LANN(random_state=0, n_components=n_components, **GIVEN).fit(X, y, sample_weight=factor * weights)
        for factor in (0.0625, 1, 2)
    ]
    assert models[0].metric_ == models[1].metric_ == models[2].metric_
    assert models[1].metric_ != wn.LANN(random_state=0, n_components=n_components, **GIVEN).fit(X, y).metric_


def test_weights_of_sorted_cases_stay_with_their_cases(monkeypatch):
    X, y = rows(120)
    weights = np.where(np.arange(120) < 60, 1.0, 1e-9)
    monkeypatch.setattr("whynear.learn.lann.training.EXACT_LIST_CASES", 100)
    settings = {**GIVEN, "epochs": 1, "shared_epochs": 0, "n_candidates": 119}
    model = wn.LANN(random_state=0, **settings).fit(X, y, sample_weight=weights)
    # With one epoch a metric moves only if its case is a neighbour of a heavy one.
    nearest = NearestNeighbors(n_neighbors=30).fit(X).kneighbors(X[:60], return_distance=False)
    light = np.setdiff1d(np.arange(60, 120), nearest)
    moved = np.abs(model.metric_.weights / model.metric_.weights[light].mean(axis=0) - 1).max(axis=1)
    assert moved[light].max() < 1e-6 < 1e-3 < np.median(moved[:60])


@pytest.mark.slow
def test_every_case_of_a_large_table_keeps_its_own_metric(monkeypatch):
    X, y = rows(400)
    monkeypatch.setattr("whynear.learn.lann.training.EXACT_LIST_CASES", 100)
    ordered = wn.LANN(random_state=0, **GIVEN).fit(X, y)
    assert_array_equal(ordered.metric_.anchors, wn.LANN(random_state=0, **GIVEN).fit(X, y).metric_.anchors)
    monkeypatch.undo()
    plain = wn.LANN(random_state=0, **GIVEN).fit(X, y)
    alike = np.corrcoef(np.log(ordered.metric_.weights).ravel(), np.log(plain.metric_.weights).ravel())[0, 1]
    shuffled = np.random.default_rng(0).permutation(plain.metric_.weights)
    by_chance = np.corrcoef(np.log(ordered.metric_.weights).ravel(), np.log(shuffled).ravel())[0, 1]
    assert alike > by_chance + 0.2
    assert np.mean(ordered.predict(X) == plain.predict(X)) > 0.9


@pytest.mark.parametrize("epochs", [0, 1, 3])
def test_given_epochs_are_made_whatever_else_is_chosen(epochs):
    X, y = load_iris(return_X_y=True)
    local = wn.LANN(epochs=epochs, shared_epochs=0, random_state=0).fit(X, y)
    assert (local.shared_["epochs"], local.local_["epochs"], local.n_iter_) == (0, epochs, epochs)
    shared = wn.LANN(epochs=0, shared_epochs=epochs, random_state=0).fit(X, y)
    assert (shared.shared_["epochs"], shared.local_["epochs"], shared.n_iter_) == (epochs, 0, epochs)


def test_given_epochs_are_made_where_nothing_can_be_held_out():
    model = wn.LANN(epochs=2, random_state=0).fit(np.eye(4), np.arange(4))
    assert (model.shared_["epochs"], model.local_["epochs"]) == (0, 2)


@pytest.mark.slow
def test_nothing_is_learned_from_labels_that_mean_nothing():
    learned = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        model = wn.LANN(random_state=0).fit(rng.standard_normal((120, 8)), rng.integers(2, size=120))
        learned.append(model.shared_["epochs"] + model.local_["epochs"] > 0)
    assert np.mean(learned) < 0.8  # of many looks, chance makes one look like a gain at times


def test_a_wide_table_does_not_take_minutes():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 5_000)), np.arange(60) % 2
    X[:, :100] += y[:, None]
    start = time.process_time()
    wn.LANN(random_state=0).fit(X, y)
    assert time.process_time() - start < 40


@pytest.mark.slow
def test_what_lists_do_not_show_is_not_taken_for_a_gain(real_data):
    """Once a setting that looked best within the lists let shrunken cases vote everywhere: 0.90 instead of 0.99."""
    data = wn.datasets.load("pendigits", real_data)
    X, y = data.X.to_numpy(), np.asarray(data.y)
    train, test = list(StratifiedKFold(10, shuffle=True, random_state=0).split(X, y))[3]
    scaler = StandardScaler().fit(X[train])
    model = wn.LANN(random_state=0).fit(scaler.transform(X[train]), y[train])
    assert model.score(scaler.transform(X[test]), y[test]) > 0.99
    assert model.candidate_recall_ > 0.9
