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
from whynear.data.rows import TimeOrder
from whynear.learn.lann.fitting import affordable, choose_schedule, grid, splits_of
from whynear.learn.lann.objective import Constraint
from whynear.learn.lann.training import Schedule, StepRule, TrainingCases


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


RULE = StepRule(5, 2, 0.3, 0.1, 0.0, Constraint.BOX, 0.01, 10.0)


def test_what_is_given_is_not_chosen():
    proposals = grid({"step": 0.5, "beta": None}, [Schedule(None, 0.1, 1.0, 0.0), Schedule(None, 0.2, 1.0, 0.0)])
    assert proposals == [Schedule(None, 0.5, 1.0, 0.0)]
    X, y = rows(100)
    model = wn.LANN(random_state=0, step=0.2, shared_epochs=3).fit(X, y)
    assert model.shared_["epochs"] == 3
    assert model.local_["step"] == 0.2


def test_the_choice_is_the_trial_that_helps_held_out_cases():
    X, y = rows(400, d=12)
    X[:, 6:] *= 3  # useless columns in the way
    cases, _ = TrainingCases.of(X, y.astype(np.intp), np.ones(400), 5, 64, 0)
    trials = [Schedule(None, 1e-9, 1.0, 0.0), Schedule(None, 0.03, 1.0, 0.0)]
    splits = splits_of(y, 0)

    def choose(trials, n_jobs=1):
        everywhere = [cases] * len(splits)
        return choose_schedule(everywhere, splits, np.ones(12), trials, RULE, shared=True, seed=0, n_jobs=n_jobs)

    chosen = choose(trials)
    assert chosen.step == 0.03
    assert chosen.epochs > 0
    assert choose(trials, n_jobs=2) == chosen
    settled = [Schedule(2, 1e-9, 1.0, 0.0), Schedule(2, 0.03, 1.0, 0.0)]
    assert choose(settled) == settled[1]


def test_held_out_cases_count_by_their_weights():
    """Training finds the feature that tells all training cases and some held-out ones; the others need the rest."""
    rng = np.random.default_rng(0)
    y, told = (np.arange(600) % 2).astype(np.intp), np.arange(600) < 500
    X = rng.standard_normal((600, 6))
    X[told, 0] += 3.0 * y[told]
    X[:, 1:] += np.where(np.arange(600) % 3 > 0, 1.0, 0.1)[:, None] * y[:, None]
    split = np.arange(400), np.arange(400, 600)
    trials = [Schedule(8, 0.0, 1.0, 0.0), Schedule(8, 0.1, 1.0, 0.0)]
    for heavy, step in ((told, 0.1), (~told, 0.0)):
        weights = np.where(heavy | (np.arange(600) < 400), 1.0, 1e-6)
        cases, _ = TrainingCases.of(X, y, weights, 5, 599, 0)
        chosen = choose_schedule([cases], [split], np.ones(6), trials, RULE, shared=True, seed=0, n_jobs=1)
        assert chosen.step == step


def test_rows_without_weight_leave_their_groups():
    X, y = rows(120)
    weights, patients = (np.arange(120) % 3 > 0).astype(float), np.char.add("p", (np.arange(120) // 4).astype(str))
    weights[:8] = 0.0
    kept = weights > 0
    some = wn.LANN(random_state=0, step=0.1, beta=0.3, decay=0.0).fit(X, y, patients, weights)
    left = wn.LANN(random_state=0, step=0.1, beta=0.3, decay=0.0).fit(X[kept], y[kept], patients[kept])
    assert some.metric_ == left.metric_
    times = np.arange(120.0)
    some = wn.LANN(random_state=0, step=0.1, beta=0.3, decay=0.0).fit(X, y, TimeOrder(times), weights)
    left = wn.LANN(random_state=0, step=0.1, beta=0.3, decay=0.0).fit(X[kept], y[kept], TimeOrder(times[kept]))
    assert some.metric_ == left.metric_


def test_splits_cover_small_tables_often_and_large_ones_once():
    assert len(splits_of(np.arange(30) % 2, 0)) == 15
    assert splits_of(np.arange(30), 0) == []
    assert len(splits_of(np.arange(1_000) % 2, 0)) == 5
    assert len(splits_of(np.arange(3_000) % 2, 0)) == 2
    assert len(splits_of(np.arange(9_000) % 2, 0)) == 1


def test_splits_keep_groups_together():
    groups = np.arange(60) // 6
    splits = splits_of(np.arange(60) % 2, 0, groups)
    assert len(splits) == 15
    assert all(not set(groups[rows]) & set(groups[held_out]) for rows, held_out in splits)
    assert splits_of(np.arange(60) % 2, 0, groups * 0) == []


@pytest.mark.slow
def test_metrics_that_only_recognise_a_group_are_trained_less():
    patients, epochs = np.repeat(np.arange(20), 8), {"alone": 0, "together": 0}
    for seed in range(4):
        rng = np.random.default_rng(seed)
        face = rng.permutation(20)[patients] + 0.05 * rng.standard_normal(160)
        X, y = np.column_stack([face, 6 * rng.standard_normal((160, 6))]), (np.arange(20) % 2)[patients]
        epochs["alone"] += wn.LANN(random_state=0).fit(X, y).local_["epochs"]
        epochs["together"] += wn.LANN(random_state=0).fit(X, y, patients).local_["epochs"]
    assert epochs["together"] < epochs["alone"] / 2


def test_groups_of_other_rows_are_refused():
    with pytest.raises(ValueError, match="groups must have as many rows as X, got 3 and 4 instead"):
        wn.LANN().fit(np.eye(4), [0, 0, 1, 1], [1, 2, 3])


def test_wide_tables_get_fewer_splits_then_fewer_settings():
    splits = splits_of(np.arange(30) % 2, 0)
    found = [affordable(splits, 6, work) for work in (1e6, 5e7, 1e8, 3e8, 1e9, 1e12)]
    assert [(len(some), most) for some, most in found] == [(15, 6), (5, 6), (2, 6), (1, 6), (1, 2), (1, 2)]
