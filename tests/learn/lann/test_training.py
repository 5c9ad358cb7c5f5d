import signal
import time
from dataclasses import replace
from threading import Event

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import whynear as wn
from tests.helpers.lann import GIVEN, rows
from whynear.learn.lann import training as candidates
from whynear.learn.lann import training as module
from whynear.learn.lann.objective import Constraint
from whynear.learn.lann.training import (
    BLOCK_CASES,
    SHARED_CASES,
    StepRule,
    Training,
    TrainingCases,
    candidate_lists,
    local_lists,
    local_metric,
    recall_of_lists,
    unit_of,
)
from whynear.search.approximate import near_lists


def test_lists_outlive_a_stretch_that_keeps_the_neighbours():
    X, y = rows(150)
    cases, _ = TrainingCases.of(X, y, np.ones(len(X)), 5, 12, seed=0)
    assert cases.stretched(np.full(X.shape[1], 2.0), 5, 0)[0].lists is cases.lists
    strong = cases.stretched(np.r_[1.0, np.full(X.shape[1] - 1, 1e-3)], 5, 0)[0]
    assert_array_equal(strong.lists, candidate_lists(strong.X, 12, 0))


@pytest.mark.parametrize(("recall", "improved"), [(0.93, True), (0.5, False)])
def test_lists_that_hold_most_neighbours_are_improved_and_others_made_anew(monkeypatch, recall, improved):
    monkeypatch.setattr(candidates, "EXACT_LIST_CASES", 100)
    monkeypatch.setattr(module, "recall_of_lists", lambda *_: recall)
    X, y = rows(400)
    cases, _ = TrainingCases.of(X, y, np.ones(len(X)), 5, 12, seed=0)
    factors = np.linspace(0.5, 2.0, X.shape[1])
    known = cases.lists if improved else None
    expected = near_lists(cases.X * factors, 12, 0, known=known)
    assert_array_equal(cases.stretched(factors, 5, 0)[0].lists, expected)


def training(shared, n=60, step=0.1):
    X, y = rows(n)
    cases, _ = TrainingCases.of(X, y.astype(np.intp), np.ones(n), 3, 20, seed=0)
    rule = StepRule(3, 2, 0.3, step, 0.0, Constraint.BOX, 0.01, 10.0)
    return Training(cases, np.arange(0, n, 2), np.ones(X.shape[1]), rule, seed=0, shared=shared)


def test_the_kth_neighbour_is_typically_at_distance_one():
    X, y = rows(100)
    cases, unit = TrainingCases.of(X, y, np.ones(len(X)), 5, 20, seed=0)
    assert_allclose(cases.X * unit, X)
    sq = np.sort(np.square(cases.X[:, None] - cases.X).sum(axis=2), axis=1)[:, 5]
    assert_allclose(np.median(sq), 1.0)


def test_only_rows_that_are_trained_on_change_their_metrics():
    one = training(shared=False)
    losses = [one.train_epoch() for _ in range(3)]
    moved = (one.lam != 1).any(axis=1)
    assert moved[::2].any()
    assert not moved[1::2].any()
    assert np.isfinite(losses).all()
    assert len(one.metric(one.rows)) == 30


def test_the_loss_of_an_epoch_is_a_weighted_mean():
    light, heavy = training(shared=True, step=0.0), training(shared=True, step=0.0)
    heavy.cases = replace(heavy.cases, weights=np.where(np.arange(60) < 30, 1.0, 3.0))
    parts = []
    for half in (np.arange(0, 30, 2), np.arange(30, 60, 2)):
        part = training(shared=True, step=0.0)
        part.rows = half
        parts.append(part.train_epoch())
    assert_allclose(light.train_epoch(), np.mean(parts))
    assert_allclose(heavy.train_epoch(), np.average(parts, weights=[1, 3]))


def test_a_shared_metric_is_one_for_all_and_no_step_leaves_it():
    assert training(shared=True).lam.shape == (1, 6)
    still = training(shared=True, step=0.0)
    still.train_epoch()
    assert_array_equal(still.lam, 1.0)


def test_a_set_event_stops_an_epoch():
    one, stop = training(shared=False), Event()
    stop.set()
    assert one.train_epoch(stop) == 0.0
    assert_array_equal(one.lam, 1.0)


def test_held_out_rows_are_predicted_by_the_trained_rows():
    one, held_out = training(shared=True), np.arange(1, 60, 2)
    cases = one.cases
    sq = np.square(cases.X[held_out, None] - cases.X[one.rows]).sum(axis=2)
    near = np.argsort(sq, axis=1)[:, :3]
    votes = 1 / np.take_along_axis(sq, near, axis=1)
    support = np.array([np.bincount(cases.codes[one.rows[i]], w, 2) for i, w in zip(near, votes, strict=True)])
    found = one.held_out_correct(held_out)
    listed = np.array([np.isin(one.rows[i], cases.lists[h]).all() for i, h in zip(near, held_out, strict=True)])
    assert listed.any()
    assert_array_equal(found[listed], (support.argmax(axis=1) == cases.codes[held_out])[listed])


def test_roots_become_weights_and_maps_stay_maps():
    anchors, lam = np.zeros((2, 3)), np.full((2, 3), 3.0)
    assert_array_equal(local_metric(anchors, lam, ("a", "b", "c")).weights, 9.0)
    assert_array_equal(local_metric(anchors, lam[:, None]).omegas, 3.0)


def orders(n, shared, epochs=2):
    """The orders of the steps of two epochs."""
    X, lists = np.zeros((n, 1)), np.zeros((n, 1), dtype=np.intp)
    cases = TrainingCases(X, np.zeros(n, dtype=np.intp), np.ones(n), lists)
    rule = StepRule(1, 2, 0.3, 0.1, 0.0, Constraint.BOX, 0.01, 10.0)
    one = Training(cases, np.arange(n), np.ones(1), rule, seed=0, shared=shared)
    return [one._random_order() for _ in range(epochs)]


def test_each_metric_of_a_large_table_learns_from_every_case_in_blocks_of_random_order():
    n = 20 * BLOCK_CASES
    for order in orders(n, shared=False):
        assert_array_equal(np.sort(order), np.arange(n))
        blocks = order.reshape(20, BLOCK_CASES) // BLOCK_CASES
        assert (blocks == blocks[:, :1]).all()
        assert not np.array_equal(blocks[:, 0], np.arange(20))
        assert (np.diff(order[:BLOCK_CASES]) != 1).mean() > 0.9
    first, second = orders(n, shared=False)
    assert not np.array_equal(first, second)


def test_a_metric_of_all_cases_learns_from_a_random_part_of_many():
    first, second = orders(2 * SHARED_CASES, shared=True)
    assert len(first) == len(np.unique(first)) == SHARED_CASES
    assert abs(first.mean() / SHARED_CASES - 1) < 0.01
    assert len(np.setdiff1d(second, first)) > SHARED_CASES / 3


def test_lists_hold_the_nearest_others():
    X, _ = rows(70)
    lists = candidate_lists(X, 10, 0)
    sq = wn.LinearMetric(np.eye(6)).sq_distances(X)
    np.fill_diagonal(sq, np.inf)
    assert_array_equal(np.sort(lists, axis=1), np.sort(np.argsort(sq, axis=1)[:, :10], axis=1))
    assert candidate_lists(X[:4], 10, 0).shape == (4, 3)
    copies = candidate_lists(np.ones((9, 2)), 3, 0)
    assert (copies != np.arange(9)[:, None]).all()


def test_lists_are_the_same_in_pieces_and_on_any_number_of_threads(monkeypatch):
    X, _ = rows(300)
    whole = candidate_lists(X, 10, 0)
    monkeypatch.setattr("whynear.learn.lann.training.SEARCH_PRODUCTS_AT_ONCE", 20 * X.size)
    assert_array_equal(candidate_lists(X, 10, 0, 1), whole)
    assert_array_equal(candidate_lists(X, 10, 0, 2), whole)


def test_an_interrupt_stops_the_search_for_lists():
    X = np.random.default_rng(0).standard_normal((30_000, 60))
    raised = []

    def interrupt(signum, frame):
        raised.append(time.perf_counter())
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        start = time.perf_counter()
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(KeyboardInterrupt):
            candidate_lists(X, 64, 0)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert raised[0] - start < 20  # a second, on a busy machine


def test_recall_is_one_for_lists_by_the_metrics_themselves():
    X, y = rows(150)
    model = wn.LANN(random_state=0, n_candidates=8, **GIVEN).fit(X, y)
    assert 0.3 < model.candidate_recall_ <= 1
    assert recall_of_lists(wn.NeighborSearch(model.metric_), local_lists(model.metric_, 8, 0), 5, 0) == 1
    assert wn.LANN(random_state=0, **GIVEN).fit(X, y).candidate_recall_ > 0.95


def test_unit_of_copies_is_that_of_the_others():
    X = np.repeat([[0.0, 0.0], [3.0, 4.0]], 10, axis=0)
    assert unit_of(X, candidate_lists(X, 15, 0), 5) == 5.0
    assert unit_of(np.ones((4, 2)), candidate_lists(np.ones((4, 2)), 3, 0), 2) == 1.0
