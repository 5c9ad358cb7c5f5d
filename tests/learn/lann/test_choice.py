import numpy as np
import pytest

import whynear as wn
from tests.helpers.lann import rows
from whynear.data.rows import TimeOrder
from whynear.learn.lann.fitting import affordable, choose_schedule, grid, splits_of
from whynear.learn.lann.objective import Constraint
from whynear.learn.lann.training import Schedule, StepRule, TrainingCases

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
