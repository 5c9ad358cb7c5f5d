import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from tests.helpers.verdicts import two_of_four
from whynear.utils.row_order import TimeOrder
from whynear.verdict.many_rows import FOLDS, many_rows
from whynear.verdict.refits import Refits
from whynear.verdict.targets import target_of

LEARNER = KNeighborsClassifier()
USED = np.arange(0, 120, 3)


def others_of(learner, X, y, used=USED, groups=None, **given):
    return many_rows(learner, X, np.asarray(y), target_of(learner, y, groups), used, np.random.default_rng(0), **given)


def test_rows_that_were_used_have_no_answers_and_the_others_those_of_a_cross_validation():
    X, y = two_of_four()
    others = others_of(LEARNER, X, y)
    seed = int(np.random.default_rng(0).integers(2**31))
    folds = target_of(LEARNER, y).folds(seed, FOLDS)
    assert len(folds) == FOLDS
    right = cross_val_predict(LEARNER, X, y, cv=folds) == y
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
    owners = np.array([0, 0, 1, 1])
    alone = others_of(LEARNER, X, y).with_only([0, 1])
    assert_array_equal(others_of(LEARNER, X, y, owners=owners).with_only([0]).loss, alone.loss)


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
    assert not others_of(DummyClassifier(), X, y).may_object(best, target)
