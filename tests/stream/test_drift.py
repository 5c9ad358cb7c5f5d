"""Which feature replaces which: found where the truth is known, and not found where nothing drifts."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import whynear as wn
from whynear.stream.history import replacements

NAMES = ["a", "b", "c"]
CASES = np.arange(100, 2100, 100)
CLEAR = np.tile([30.0, 5.0], (20, 1))


def shares_of(*periods):
    return np.vstack([np.tile(shares, (n, 1)) for n, shares in periods])


def test_a_feature_that_leads_after_another_replaces_it():
    shares = shares_of((10, [0.9, 0.02, 0.08]), (10, [0.03, 0.9, 0.07]))
    (found,) = replacements(CASES, shares, CLEAR, NAMES)
    assert str(found) == "from case 1,100 on, 'b' replaces 'a'"


@pytest.mark.parametrize(
    "shares",
    [
        shares_of((20, [0.9, 0.05, 0.05])),
        shares_of((10, [0.6, 0.4, 0.0]), (10, [0.4, 0.6, 0.0])),  # both matter
        shares_of((17, [0.9, 0.02, 0.08]), (3, [0.0, 0.9, 0.1])),  # for a moment
        shares_of((10, [0.9, 0.02, 0.08]), (10, [0.26, 0.28, 0.46])),  # nothing leads
        np.full((20, 3), np.nan),
    ],
)
def test_other_changes_are_no_replacement(shares):
    assert replacements(CASES, shares, CLEAR, NAMES) == ()


def test_without_an_advantage_of_the_learned_metric_nothing_is_said():
    shares = shares_of((10, [0.9, 0.02, 0.08]), (10, [0.03, 0.9, 0.07]))
    assert replacements(CASES, shares, np.tile([20.0, 20.0], (20, 1)), NAMES) == ()
    assert replacements(CASES[:0], shares[:0], CLEAR[:0], NAMES) == ()


def noisy(seed, n):
    """Cases of seven features, none or some of which decide, and one label in ten drawn at random."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 7))
    decided = [X[:, 0] > 0, X[:, 0] + X[:, 1] > 0, X[:, 0] * X[:, 1] > 0, rng.random(n) < 0.5][seed % 4]
    return X, np.where(rng.random(n) < 0.1, rng.random(n) < 0.5, decided)


@pytest.mark.slow
def test_a_stationary_stream_gives_no_sentence():
    for seed in range(20):
        model = wn.SelfAdjustingMemory().partial_fit(*noisy(seed, 4000))
        assert model.history.sentences() == [], seed


def test_a_known_drift_gives_its_sentence():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((3000, 6))
    y = np.where(np.arange(3000) < 1500, X[:, 2] > 0, X[:, 4] > 0)
    history = wn.SelfAdjustingMemory().partial_fit(X, y).history
    (found,) = history.replacements
    assert (found.new, found.old) == ("x4", "x2")
    assert 1500 < found.case <= 2000


@pytest.mark.slow
def test_the_price_in_victoria_takes_turns_with_the_day_once_it_is_known_and_replaces_nothing(real_data):
    """Until row 17,424 of elec2 that column is constant."""
    data = wn.datasets.load("elec2", real_data)
    X = data.X[["day", "period", "nswdemand", "vicprice", "vicdemand", "transfer"]]
    history = wn.SelfAdjustingMemory().partial_fit(X, data.y).history
    cases, price = history.table["case"], history.relevances["vicprice"]
    assert price[cases <= 17_400].max() < 1e-9
    assert price[(cases > 17_424) & (cases < 19_000)].max() > 0.3
    later = history.relevances[cases > 20_000]
    assert (later.idxmax(axis=1) == "vicprice").mean() > 0.3
    assert (later.idxmax(axis=1) == "day").mean() > 0.3
    assert history.sentences() == []
    assert_array_equal(np.diff(cases), cases[0])
