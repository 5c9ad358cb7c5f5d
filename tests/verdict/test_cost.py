from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import whynear as wn
from tests.helpers.verdicts import classes, of_kind, two_of_four
from whynear.verdict import cost as cost_module
from whynear.verdict.cost import blocks, cost_of, costs_without, leave_out
from whynear.verdict.kernel_ridge import KernelModels
from whynear.verdict.table import RowLosses, feature_columns, target_of


def noisy_copies(n=100, hidden=4, copies=5, seed=0):
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, hidden))
    X = np.repeat(Z, copies, axis=1) + 0.2 * rng.standard_normal((n, hidden * copies))
    order = rng.permutation(hidden * copies)
    return X[:, order], np.repeat(np.arange(hidden), copies)[order]


@pytest.mark.parametrize(("n", "hidden"), [(100, 4), (15, 6)])
def test_blocks_hold_every_feature_once(n, hidden):
    X, _ = noisy_copies(n, hidden)
    made = blocks(feature_columns(X))
    assert sorted(np.concatenate(made).tolist()) == list(range(X.shape[1]))


def test_blocks_are_the_noisy_copies_of_one_column():
    X, source = noisy_copies()
    made = blocks(feature_columns(np.column_stack([X, np.ones(100), X[:, 0]])))
    sizes = sorted(map(len, made))
    assert sizes == [1, 5, 5, 5, 6]  # the column without variation is alone
    for block in made:
        assert len(set(source[block[block < 20]])) <= 1


def test_equal_answers_cost_nothing():
    _, y = two_of_four()
    target = classes(y)
    guess = target.guessed()
    cost = cost_of(guess, guess, target)
    assert (cost.loss, cost.error, cost.deviation, cost.most) == (0, 0, 0, 0)


def test_rounding_errors_are_no_costs():
    target = classes([0, 1] * 10)
    guess = target.guessed()
    nearly = RowLosses(guess.loss + np.linspace(0.9e-16, 1.1e-16, 20), guess.score, guess.expected)
    assert cost_of(nearly, guess, target).deviation == 0


def test_costs_are_points_and_deviations_of_the_differences_by_row():
    target = classes([0, 1] * 10)
    rng = np.random.default_rng(0)
    full, without = (RowLosses(*rng.random((3, 20))) for _ in range(2))
    cost = cost_of(without, full, target)
    differences = without.loss - full.loss
    assert cost.loss == pytest.approx(100 * (full.score - without.score).mean())
    assert cost.deviation == pytest.approx(differences.mean() / (differences.std(ddof=1) / np.sqrt(20)))
    expected = full.expected - without.expected
    assert cost.most == pytest.approx(100 * (expected.mean() + 1.645 * expected.std(ddof=1) / np.sqrt(20)))


def test_costs_are_high_for_needed_features_and_low_for_noise():
    columns, target, data = of_kind("relevance linear")
    costs = costs_without(KernelModels(columns, target))
    strong, others = data.strength == "strong", data.strength != "strong"
    assert costs.p_values[strong].max() < 1e-6
    assert costs.losses[strong].min() > 10 > 3 > np.abs(costs.losses[others]).max()
    assert costs.p_values[others].min() > 1e-3


def test_quick_costs_are_those_at_the_ridge_of_all_features():
    X, y = two_of_four()
    models = KernelModels(feature_columns(X), classes(y))
    costs = costs_without(models, quick=True)
    expected = [cost_of(models.without([j]), models.best, models.target).loss for j in range(4)]
    assert_allclose(costs.losses, expected)


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_the_number_of_threads_changes_nothing(n_jobs):
    X, y = two_of_four()
    models = KernelModels(feature_columns(X), classes(y))
    assert_array_equal(costs_without(models, n_jobs=n_jobs).deviations, costs_without(models).deviations)


def test_with_many_features_the_costs_of_strong_ones_are_those_of_leaving_them_out_alone(monkeypatch):
    X, _ = noisy_copies(hidden=8)
    strong = np.random.default_rng(1).standard_normal((100, 2))
    y = strong.sum(axis=1) + X[:, 0] > 0
    models = KernelModels(feature_columns(np.column_stack([X, strong])), classes(y))
    one_by_one = costs_without(models)
    monkeypatch.setattr(cost_module, "MOST_ONE_BY_ONE", 10)
    in_blocks = costs_without(models)
    assert_allclose(in_blocks.losses[-2:], one_by_one.losses[-2:])
    assert_allclose(in_blocks.deviations[-2:], one_by_one.deviations[-2:])
    assert one_by_one.p_values[-2:].max() < 1e-3
    assert in_blocks.p_values[:-2].min() > 1e-3


def test_two_hundred_features_are_left_out_in_blocks():
    X, _ = noisy_copies(150, 40)
    strong = np.random.default_rng(1).standard_normal((150, 2))
    models = KernelModels(feature_columns(np.column_stack([X, strong])), classes(strong.sum(axis=1) > 0))
    costs = costs_without(models)
    for j in (200, 201):
        alone = cost_of(models.without([j], tune=True), models.best, models.target)
        assert costs.losses[j] == pytest.approx(alone.loss)
        assert costs.deviations[j] == pytest.approx(alone.deviation)


def test_progress_ends_with_everything_left_out():
    X, y = two_of_four()
    steps = []
    costs_without(KernelModels(feature_columns(X), classes(y)), report=lambda step, share: steps.append((step, share)))
    assert steps[-1] == ("leave out features, 4 of 4", 1.0)


def sum_of_two(n=160, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.standard_normal((n, 4)), columns=list("abcd"))
    return X, np.where(X["a"] + X["b"] + 0.3 * rng.standard_normal(n) > 0, "u", "v")


def test_scores_are_those_of_a_plain_cross_validation_on_the_same_folds():
    X, y = sum_of_two()
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
    X, y = sum_of_two()
    found = leave_out(LogisticRegression(), X, y, ["a"], n_jobs=1, random_state=0)
    n, p = len(y), found.without
    assert found.without_error == pytest.approx(np.sqrt(p * (1 - p) / (n - 1)), rel=1e-6)
    assert found.lost_error < np.hypot(found.without_error, found.with_all_error) + 1e-12


def test_a_feature_of_noise_costs_nothing_and_several_are_left_out_together():
    X, y = sum_of_two()
    noise = leave_out(LogisticRegression(), X, y, ["c", "d"], n_jobs=1, random_state=0)
    assert noise.kept == ("a", "b")
    assert not noise.exceeds_error
    both = leave_out(LogisticRegression(), X, y, ["b", "a"], n_jobs=1, random_state=0)
    assert both.features == ("a", "b")
    assert both.without < 0.65


def test_a_gain_is_no_loss_but_a_difference_that_may_be_clear():
    found = replace(leave_out(LogisticRegression(), *sum_of_two(), ["c"], n_jobs=1, random_state=0), lost_error=0.01)
    gain, loss = replace(found, lost=-0.05), replace(found, lost=0.05)
    assert (gain.exceeds_error, loss.exceeds_error) == (False, True)
    assert "The difference of -5.0 ± 1.0 points is more than twice its standard error." in str(gain)
    assert "The difference of 5.0 ± 1.0 points is more than twice its standard error." in str(loss)


def test_the_same_seed_gives_the_same_result_and_the_learner_is_not_changed():
    X, y = sum_of_two()
    learner = wn.GRLVQ(random_state=0)
    first = leave_out(learner, X, y, ["a"], n_jobs=1, random_state=7)
    assert first == leave_out(learner, X, y, ["a"], n_jobs=1, random_state=7)
    assert not hasattr(learner, "metric_")


def test_a_measured_target_is_scored_by_r2():
    X, _ = sum_of_two()
    y = 3 * X["a"] + X["b"]
    found = leave_out(LinearRegression(), X, y, ["b"], n_jobs=1, random_state=0)
    assert found.measure == "R2"
    assert found.with_all == pytest.approx(1.0)
    assert found.without == pytest.approx(0.9, abs=0.05)


def test_groups_are_held_out_together():
    X, y = sum_of_two()
    groups = np.repeat(np.arange(20), 8)
    found = leave_out(LogisticRegression(), X, y, ["a"], groups=groups, n_jobs=1, random_state=0)
    assert found.with_all > found.without


def test_the_result_is_read_as_a_table_and_as_plain_values():
    X, y = sum_of_two()
    found = leave_out(LogisticRegression(), X.to_numpy(), y, ["x0"], n_jobs=1, random_state=0)
    assert found.frame()["features"].tolist() == ["all features", "without", "lost"]
    assert found.to_dict()["kept"] == ["x1", "x2", "x3"]
    assert "Without 'x0', the 3 other features reach" in str(found)


@pytest.mark.parametrize(
    ("features", "words"),
    [(["z"], "features has 'z', which X does not have"), ([], "at least one"), (list("abcd"), "leave at least one")],
)
def test_wrong_features_are_refused(features, words):
    X, y = sum_of_two()
    with pytest.raises(ValueError, match=words):
        leave_out(LogisticRegression(), X, y, features, n_jobs=1)


def test_a_list_of_rows_is_taken_as_its_array():
    X, y = sum_of_two(60)
    found = leave_out(LogisticRegression(), X.to_numpy().tolist(), list(y), ["x0"], n_jobs=1, random_state=0)
    assert found == leave_out(LogisticRegression(), X.to_numpy(), y, ["x0"], n_jobs=1, random_state=0)
