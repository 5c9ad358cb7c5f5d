import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.tree import DecisionTreeClassifier

from tests.helpers.verdicts import classes, measured, of_kind, two_of_four
from whynear.utils.progress import silent
from whynear.verdict import set_sizes, sufficient_sets
from whynear.verdict.feature_columns import feature_columns
from whynear.verdict.information import information
from whynear.verdict.refits import Refits
from whynear.verdict.set_sizes import (
    SetSearch,
    addition_order,
    candidates_of,
    judge_sizes,
    kept_longest,
    removal_order,
    surely_needed,
)


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
    models = set_sizes.KernelModels

    def counted(own, aim, **options):
        fits.append(own.n_features)
        return models(own, aim, **options)

    monkeypatch.setattr(set_sizes, "KernelModels", counted)
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
    assert informed.found.sum() > set_sizes.MOST_CANDIDATES
    chosen = candidates_of(columns, target, informed)
    assert len(chosen) == len(set(chosen)) == set_sizes.MOST_CANDIDATES
    assert {0, 1, 2} <= set(chosen // 30)


@pytest.mark.parametrize("search", [removal_order, addition_order])
def test_models_of_the_candidates_that_are_known_change_nothing(search):
    columns, target, _ = of_kind("relevance linear")
    candidates, prices = np.arange(1, columns.n_features), np.ones(columns.n_features)
    known = set_sizes.KernelModels(columns.only(candidates), target)
    assert search(columns, target, candidates, prices, models=known) == search(columns, target, candidates, prices)


def judged(learner, X, y, report=silent, outside=()):
    target = classes(y)
    search = SetSearch(feature_columns(X), target, Refits(learner, X, y, target, 0), np.ones(X.shape[1]))
    return judge_sizes(search, outside, np.random.default_rng(0), report)


def stripes(n=400):
    """Twenty stripes along one of three columns, too narrow for the kernels."""
    X = pd.DataFrame(np.random.default_rng(0).random((n, 3)), columns=["across", "other", "another"])
    return X, (np.floor(20 * X["across"]) % 2).to_numpy().astype(int)


def test_sizes_go_up_to_all_features_and_two_suffice():
    X, y = two_of_four()
    found = judged(DummyClassifier(), X, y)
    assert list(found.answers) == list(found.searches) == [1, 2, 3, 4]
    losses = [found.answers[size].loss.mean() for size in (1, 2, 4)]
    assert losses[1] < losses[0]
    assert losses[1] <= losses[2]


@pytest.mark.slow
def test_a_learner_that_is_clearly_better_judges_the_sets_too():
    X, y = stripes()
    steps = []
    with_tree = judged(DecisionTreeClassifier(random_state=0), X, y, lambda step, _share: steps.append(step))
    assert with_tree.answers[3].score.mean() > 0.8
    assert "judge sets by the learner" in steps
    found = sufficient_sets(DecisionTreeClassifier(random_state=0), X, y, random_state=0)
    assert found.score_of_all > 0.8
    assert found.score > found.score_of_all - 0.05
    assert "across" in found.best


def test_a_learner_that_is_worse_is_asked_for_all_features_only():
    X, y = two_of_four()
    steps = []
    judged(DummyClassifier(), X, y, lambda step, _share: steps.append(step))
    assert "judge sets by the learner" not in steps


def test_an_outside_model_that_is_clearly_better_judges_the_sets_too():
    X, y = stripes()
    tree = Refits(DecisionTreeClassifier(random_state=0), X, y, classes(y), 0, name="a tree")
    steps = []
    found = judged(DummyClassifier(), X, y, lambda step, _share: steps.append(step), [tree])
    assert found.answering == [tree]
    assert found.answers[3].score.mean() > 0.8
    assert "judge sets by a tree" in steps


def test_surely_needed_features_are_kept_longest():
    X, y = two_of_four()
    needed = surely_needed(feature_columns(X), classes(y), 1)
    assert needed == [0, 1]
    assert kept_longest([1, 3, 2], needed) == [3, 2, 1, 0]
