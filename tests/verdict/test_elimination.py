import numpy as np
import pytest

from tests.helpers.verdicts import classes, measured, of_kind, two_of_four
from whynear.verdict import elimination
from whynear.verdict.elimination import addition_order, candidates_of, removal_order
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

    def counted(own, aim, **options):
        fits.append(own.n_features)
        return models(own, aim, **options)

    monkeypatch.setattr(elimination, "KernelModels", counted)
    order = order_of(X, classes(X[:, 0] + X[:, 1] > 0))
    assert fits[0] == 20
    assert fits[1] < 19
    assert fits[-8:] == [9, 8, 7, 6, 5, 4, 3, 2]
    assert set(order[-2:]) == {0, 1}


def test_a_column_of_one_value_is_no_candidate_unless_all_are_such():
    X, y = two_of_four()
    columns, target = feature_columns(X.assign(one_value=1.0)), classes(y)
    assert candidates_of(columns, target, information(columns, target)).tolist() == [0, 1, 2, 3]
    columns = feature_columns(np.ones((120, 2)))
    assert candidates_of(columns, target, information(columns, target)).tolist() == [0, 1]


def test_features_are_added_in_the_order_of_their_use():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((150, 6))
    columns, target = feature_columns(X), classes(3 * X[:, 4] + X[:, 2] > 0)
    prices = np.ones(6)
    assert addition_order(columns, target, np.arange(6), prices)[-2:] == [2, 4]
    prices[4] = 1000.0
    assert addition_order(columns, target, np.arange(6), prices)[-1] != 4
    assert len(addition_order(columns, target, np.array([0, 2, 5]), prices)) == 3


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


@pytest.mark.parametrize("search", [removal_order, addition_order])
def test_models_of_the_candidates_that_are_known_change_nothing(search):
    columns, target, _ = of_kind("relevance linear")
    candidates, prices = np.arange(1, columns.n_features), np.ones(columns.n_features)
    known = elimination.KernelModels(columns.only(candidates), target)
    assert search(columns, target, candidates, prices, models=known) == search(columns, target, candidates, prices)
