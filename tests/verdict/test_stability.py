from importlib import import_module

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.linear_model import LogisticRegression

from tests.helpers.verdicts import classes, two_of_four
from whynear.engine.processes import Processes
from whynear.verdict import verdicts
from whynear.verdict.decisions import WORDS
from whynear.verdict.feature_columns import feature_columns
from whynear.verdict.models import KernelModels
from whynear.verdict.stability import AGREED, _part, resampled_verdicts

MODULE = import_module("whynear.verdict.verdicts")  # the package has a function of this name


def silent(_step, _share):
    pass


def resampled(X, y, n_resamples=4, seed=0, groups=None):
    columns, target = feature_columns(X), classes(y, groups)
    models = KernelModels(columns, target)
    return resampled_verdicts(columns, target, models, n_resamples, np.random.default_rng(seed), Processes(1), silent)


def test_every_resample_has_a_word_for_every_feature():
    found = resampled(*two_of_four())
    assert found.shape == (4, 4)
    assert set(found.ravel()) <= set(WORDS)
    assert (found[:, :2] == "indispensable").all()


def test_resamples_follow_the_seed():
    X = np.random.default_rng(0).standard_normal((60, 6))
    y = X[:, 0] + np.random.default_rng(1).standard_normal(60) > 0
    draws = [resampled(X, y, 6, seed) for seed in (0, 0, 1)]
    assert_array_equal(draws[0], draws[1])
    assert not np.array_equal(draws[0], draws[2])
    assert len({tuple(row) for row in draws[0]}) > 1


def test_without_resamples_there_are_none():
    assert resampled(*two_of_four(), n_resamples=0).shape == (0, 4)


def test_a_part_keeps_the_shares_of_the_classes_and_whole_groups():
    groups = np.arange(200) // 4
    y = (groups < 10).astype(int)
    rows = _part(classes(y, groups), np.random.default_rng(0))
    assert len(rows) == 160
    assert y[rows].sum() == 32
    assert set(np.bincount(groups[rows])) == {0, 4}


@pytest.mark.slow
def test_what_resamples_do_not_agree_on_is_undecided(monkeypatch):
    X, y = two_of_four()
    word = np.array(["indispensable", "indispensable", "no evidence", "no evidence"])
    other = np.array(["indispensable", "undecided", "no evidence", "no evidence"])
    for agreeing in (2, 3):
        made = np.array([word] * agreeing + [other] * (4 - agreeing))
        monkeypatch.setattr(MODULE, "resampled_verdicts", lambda *_, made=made: made)
        found = verdicts(LogisticRegression(), X, y, random_state=0, n_resamples=4)
        assert found.stability[1] == agreeing / 4
        assert found.verdict[1] == ("indispensable" if agreeing / 4 >= AGREED else "undecided")
        assert found.verdict[0] == "indispensable"


def test_the_stability_is_the_share_of_resamples_with_the_same_verdict():
    X, y = two_of_four(60)
    found = verdicts(LogisticRegression(), X, y, random_state=0, n_resamples=7)
    assert found.stability * 7 == pytest.approx(np.round(found.stability * 7))
    assert found.stability[:2].min() > AGREED
