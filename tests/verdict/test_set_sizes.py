import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.tree import DecisionTreeClassifier

from tests.helpers.verdicts import classes, two_of_four
from whynear.utils.progress import silent
from whynear.verdict import sufficient_sets
from whynear.verdict.feature_columns import feature_columns
from whynear.verdict.refits import Refits
from whynear.verdict.set_sizes import judge_sizes, kept_longest, surely_needed


def judged(learner, X, y, report=silent, outside=()):
    target = classes(y)
    return judge_sizes(
        feature_columns(X), target, np.ones(X.shape[1]), protect=False, refits=Refits(learner, X, y, target, 0),
        outside=outside, rng=np.random.default_rng(0), report=report,
    )  # fmt: skip


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
