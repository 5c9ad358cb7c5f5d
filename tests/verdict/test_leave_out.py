from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import whynear as wn
from whynear.verdict.leave_out import leave_out
from whynear.verdict.targets import target_of


def two_of_four(n=160, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.standard_normal((n, 4)), columns=list("abcd"))
    return X, np.where(X["a"] + X["b"] + 0.3 * rng.standard_normal(n) > 0, "u", "v")


def test_scores_are_those_of_a_plain_cross_validation_on_the_same_folds():
    X, y = two_of_four()
    learner = make_pipeline(StandardScaler(), LogisticRegression())
    found = leave_out(learner, X, y, ["b"], n_jobs=1, random_state=3)
    seed = int(np.random.default_rng(3).integers(2**31))
    folds = target_of(learner, y).folds(seed)
    with_all = accuracy_score(y, cross_val_predict(learner, X, y, cv=folds))
    without = accuracy_score(y, cross_val_predict(learner, X.assign(b=0.0), y, cv=folds))
    assert_allclose(
        [found.with_all, found.without], [with_all, without], atol=0.013
    )  # two rows: probabilities are calibrated
    assert found.lost == pytest.approx(found.with_all - found.without)
    assert found.exceeds_error


def test_errors_are_those_of_means_over_rows():
    X, y = two_of_four()
    found = leave_out(LogisticRegression(), X, y, ["a"], n_jobs=1, random_state=0)
    n, p = len(y), found.without
    assert found.without_error == pytest.approx(np.sqrt(p * (1 - p) / (n - 1)), rel=1e-6)
    assert found.lost_error < np.hypot(found.without_error, found.with_all_error) + 1e-12


def test_a_feature_of_noise_costs_nothing_and_several_are_left_out_together():
    X, y = two_of_four()
    noise = leave_out(LogisticRegression(), X, y, ["c", "d"], n_jobs=1, random_state=0)
    assert noise.kept == ("a", "b")
    assert not noise.exceeds_error
    both = leave_out(LogisticRegression(), X, y, ["b", "a"], n_jobs=1, random_state=0)
    assert both.features == ("a", "b")
    assert both.without < 0.65


def test_a_gain_is_no_loss_but_a_difference_that_may_be_clear():
    found = replace(leave_out(LogisticRegression(), *two_of_four(), ["c"], n_jobs=1, random_state=0), lost_error=0.01)
    gain, loss = replace(found, lost=-0.05), replace(found, lost=0.05)
    assert (gain.exceeds_error, loss.exceeds_error) == (False, True)
    assert "The difference of -5.0 ± 1.0 points is more than twice its standard error." in str(gain)
    assert "The difference of 5.0 ± 1.0 points is more than twice its standard error." in str(loss)


def test_the_same_seed_gives_the_same_result_and_the_learner_is_not_changed():
    X, y = two_of_four()
    learner = wn.GRLVQ(random_state=0)
    first = leave_out(learner, X, y, ["a"], n_jobs=1, random_state=7)
    assert first == leave_out(learner, X, y, ["a"], n_jobs=1, random_state=7)
    assert not hasattr(learner, "metric_")


def test_a_measured_target_is_scored_by_r2():
    X, _ = two_of_four()
    y = 3 * X["a"] + X["b"]
    found = leave_out(LinearRegression(), X, y, ["b"], n_jobs=1, random_state=0)
    assert found.measure == "R2"
    assert found.with_all == pytest.approx(1.0)
    assert found.without == pytest.approx(0.9, abs=0.05)


def test_groups_are_held_out_together():
    X, y = two_of_four()
    groups = np.repeat(np.arange(20), 8)
    found = leave_out(LogisticRegression(), X, y, ["a"], groups=groups, n_jobs=1, random_state=0)
    assert found.with_all > found.without


def test_the_result_is_read_as_a_table_and_as_plain_values():
    X, y = two_of_four()
    found = leave_out(LogisticRegression(), X.to_numpy(), y, ["x0"], n_jobs=1, random_state=0)
    assert found.frame()["features"].tolist() == ["all features", "without", "lost"]
    assert found.to_dict()["kept"] == ["x1", "x2", "x3"]
    assert "Without 'x0', the 3 other features reach" in str(found)


@pytest.mark.parametrize(
    ("features", "words"),
    [(["z"], "features has 'z', which X does not have"), ([], "at least one"), (list("abcd"), "leave at least one")],
)
def test_wrong_features_are_refused(features, words):
    X, y = two_of_four()
    with pytest.raises(ValueError, match=words):
        leave_out(LogisticRegression(), X, y, features, n_jobs=1)


def test_a_list_of_rows_is_taken_as_its_array():
    X, y = two_of_four(60)
    found = leave_out(LogisticRegression(), X.to_numpy().tolist(), list(y), ["x0"], n_jobs=1, random_state=0)
    assert found == leave_out(LogisticRegression(), X.to_numpy(), y, ["x0"], n_jobs=1, random_state=0)
