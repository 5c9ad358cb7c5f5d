import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tests.helpers.verdicts import classes, two_of_four
from whynear.verdict import sufficient_sets
from whynear.verdict.feature_columns import feature_columns
from whynear.verdict.named_sets import name_set
from whynear.verdict.refits import Refits
from whynear.verdict.set_sizes import ChosenSets, JudgedSizes

LEARNER = make_pipeline(StandardScaler(), LogisticRegression())


def judged(orders, by_fold, answering=()):
    """Sizes judged as if searches had put four features in these orders, on all rows and on folds."""
    chosen = [ChosenSets(np.arange(4), given, {}, 4) for given in (orders, *by_fold)]
    return JudgedSizes({}, {2: 0}, np.arange(4), chosen[0], chosen[1:], list(answering))


def named(found, **given):
    X, y = two_of_four()
    return name_set([3, 2], 2, [], found, feature_columns(X), classes(y), 1, **given)


def test_the_set_that_predicts_best_is_named_whoever_chose_it():
    wrong, right = [0, 1, 2, 3], [2, 3, 0, 1]
    assert named(judged([wrong, wrong], [])).members == [3, 2]
    for found in (judged([wrong, right], []), judged([wrong, wrong], [[wrong, wrong], [right, wrong]])):
        best = named(found)
        assert set(best.members) == {0, 1}
        assert best.answers.score.mean() > 0.9
        assert named(found, only_this=True).members == [3, 2]
    assert named(judged([wrong, wrong], [[wrong, right]])).members == [3, 2]  # that search was not the better one


def test_models_answer_that_answered_for_sets():
    (X, y), wrong = two_of_four(), [0, 1, 2, 3]
    learner = Refits(LEARNER, X, y, classes(y), 0)
    kernel = named(judged([wrong, wrong], []), only_this=True).answers
    both = named(judged([wrong, wrong], [], [learner]), only_this=True).answers
    assert both.loss.mean() <= kernel.loss.mean()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_the_named_set_of_a_real_table_suffices_for_a_model_that_took_no_part(seed):
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    found = sufficient_sets(LEARNER, X, y, random_state=seed)
    folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=4, random_state=100 + seed)
    every, alone = (cross_val_score(LEARNER, X[names], y, cv=folds).mean() for names in (list(X), list(found.best)))
    assert every - alone < 0.025
