import numpy as np
import pytest

from tests.helpers.verdicts import classes, measured, of_kind, two_of_four
from whynear.verdict import elimination
from whynear.verdict.elimination import candidates_of, removal_order
from whynear.verdict.feature_columns import feature_columns
from whynear.verdict.information import information


def order_of(X, target, prices=None):
    columns = feature_columns(X)
    prices = np.ones(columns.n_features) if prices is None else np.array(prices)
    return removal_order(columns, target, np.arange(columns.n_features), prices)


@pytest.mark.parametrize("kind", ["relevance linear", "ring", "interaction"])
def test_strong_features_are_removed_last(kind):
    columns, target, data = of_kind(kind)
    order = removal_order(columns, target, np.arange(columns.n_features), np.ones(columns.n_features))
    assert sorted(order) == list(range(columns.n_features))
    strong = set(np.flatnonzero(data.strength == "strong"))
    assert strong <= set(order[-2:])


def test_of_two_measurements_the_stronger_is_kept_longest():
    X, _ = two_of_four()
    y = X["one"] + 3 * X["two"] + np.random.default_rng(0).normal(0, 0.5, 120)
    assert order_of(X, measured(y))[-2:] == [0, 1]


@pytest.mark.parametrize("dear_first", [False, True])
def test_the_dear_one_of_two_copies_goes_first(dear_first):
    for seed in range(4):
        X, y = two_of_four(seed=seed)
        copied = np.column_stack([X["one"], X["one"], X["two"]])
        prices = [100.0, 1.0, 1.0] if dear_first else [1.0, 100.0, 1.0]
        assert order_of(copied, classes(y), prices)[0] == (0 if dear_first else 1)


def test_unlike_features_go_together_while_many_are_left(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 20))
    fits = []
    models = elimination.KernelModels
    monkeypatch.setattr(elimination, "KernelModels", lambda own, aim: fits.append(own.n_features) or models(own, aim))
    order = order_of(X, classes(X[:, 0] + X[:, 1] > 0))
    assert fits[0] == 20
    assert fits[1] < 19
    assert fits[-8:] == [9, 8, 7, 6, 5, 4, 3, 2]
    assert set(order[-2:]) == {0, 1}


def test_few_features_are_all_candidates():
    X, y = two_of_four()
    columns, target = feature_columns(X), classes(y)
    assert candidates_of(columns, target, information(columns, target)).tolist() == [0, 1, 2, 3]


def test_of_many_informative_features_each_hidden_one_keeps_some():
    rng = np.random.default_rng(0)
    hidden = rng.standard_normal((150, 3))
    X = np.column_stack(
        [np.repeat(hidden, 30, axis=1) + 0.1 * rng.standard_normal((150, 90)), rng.standard_normal((150, 9))]
    )
    columns, target = feature_columns(X), classes(hidden @ [2.0, 1.5, 1.0] > 0)
    informed = information(columns, target)
    assert informed.found.sum() > elimination.MOST_CANDIDATES
    chosen = candidates_of(columns, target, informed)
    assert len(chosen) == len(set(chosen)) == elimination.MOST_CANDIDATES
    assert {0, 1, 2} <= set(chosen // 30)
