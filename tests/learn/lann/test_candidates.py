import signal
import time

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import whynear as wn
from tests.helpers.lann import GIVEN, rows
from whynear.learn.lann.training import candidate_lists, local_lists, recall_of_lists, unit_of


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
