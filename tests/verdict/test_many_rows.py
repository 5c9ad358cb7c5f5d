import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from tests.helpers.verdicts import two_of_four
from whynear.utils.row_order import TimeOrder
from whynear.verdict.feature_columns import feature_columns
from whynear.verdict.many_rows import FOLDS, ManyRows, many_rows
from whynear.verdict.refits import Refits
from whynear.verdict.targets import target_of

LEARNER = KNeighborsClassifier()
LINEAR = LogisticRegression()  # than which nothing is clearly better where the classes are
USED = np.arange(0, 120, 3)


def others_of(learner, X, y, used=USED, groups=None, bands=None, **given):
    target, rng = target_of(learner, y, groups), np.random.default_rng(0)
    return many_rows(learner, X, np.asarray(y), feature_columns(X, bands), target, used, rng, **given)


def test_rows_that_were_used_have_no_answers_and_the_others_those_of_a_cross_validation():
    X, y = two_of_four()
    others = others_of(LINEAR, X, y)
    seed = int(np.random.default_rng(0).integers(2**31))
    folds = target_of(LINEAR, y).folds(seed, FOLDS)
    assert len(folds) == FOLDS
    right = cross_val_predict(LINEAR, X, y, cv=folds) == y
    assert_array_equal(others.without().score, right[np.setdiff1d(np.arange(120), USED)])


def test_with_some_features_alone_is_without_all_others():
    X, y = two_of_four()
    others = others_of(LEARNER, X, y)
    assert_array_equal(others.with_only([0, 1]).loss, others.without([2, 3]).loss)
    check = others.check([0, 1])
    assert (check.n_rows, check.n_judged) == (120, 80)
    assert check.lost == pytest.approx(check.score_of_all - check.score)
    assert check.lost_error == pytest.approx(
        (others.without().score - others.with_only([0, 1]).score).std(ddof=1) / 80**0.5
    )


def test_bands_are_left_out_as_a_whole():
    X, y = two_of_four()
    alone = others_of(LINEAR, X, y).with_only([0, 1])
    of_bands = others_of(LINEAR, X, y, bands=["a", "a", "b", "b"], owners=np.array([0, 0, 1, 1]))
    assert_array_equal(of_bands.with_only([0]).loss, alone.loss)


def test_few_other_rows_say_nothing_new():
    X, y = two_of_four()
    assert others_of(LEARNER, X, y, used=np.arange(61)) is None


@pytest.mark.parametrize("learner", [LEARNER, KNeighborsRegressor()], ids=["classes", "measured"])
def test_groups_and_times_are_respected(learner):
    X, y = two_of_four()
    y = y if learner is LEARNER else X["one"].to_numpy()
    pairs = np.repeat(np.arange(60), 2)
    grouped = others_of(learner, X, y, groups=pairs)
    assert len(grouped.without().loss) == 80
    assert np.isfinite(grouped.check([0]).lost_error)
    later = others_of(learner, X, y, groups=TimeOrder(pd.Series(np.arange(120.0)), "day"))
    assert 0 < len(later.without().loss) < 80
    assert np.isfinite(later.check([0]).lost_error)


def test_a_learner_may_object_only_if_it_is_about_as_good():
    X, y = two_of_four()
    target = target_of(LEARNER, y)
    best = Refits(LEARNER, X, y, target, 0).without()
    assert others_of(LEARNER, X, y).may_object(best, target)
    assert not ManyRows([Refits(DummyClassifier(), X, y, target, 0)], USED).may_object(best, target)


def test_models_of_another_kind_answer_where_they_are_clearly_better():
    X, y = two_of_four(n=400)
    knows, guesses = others_of(LogisticRegression(), X, y), others_of(DummyClassifier(), X, y)
    assert [model.name for model in knows.answering] == ["the learner"]
    assert [model.name for model in guesses.answering] == ["the learner", "a random forest", "logistic regression"]
    assert guesses.without().score.mean() > 0.9
    check = guesses.check([0, 1])
    assert check.models == ("the learner", "a random forest", "logistic regression")
    assert str(check).startswith(
        "The learner, a random forest and logistic regression were fitted to 400 rows in folds"
    )
    assert str(check).endswith(" with all, by the best of them.")


def test_a_better_model_on_many_rows_is_better_than_the_learner_not_than_kernel_models():
    X, y = two_of_four(n=400)
    assert others_of(LINEAR, X, y).better_model is None
    better = others_of(DummyClassifier(), X, y).better_model
    assert better.learner_only
    assert better.score > 0.9 > 0.7 > better.score_of_distances
