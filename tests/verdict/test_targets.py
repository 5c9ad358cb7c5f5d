import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax
from sklearn.metrics import accuracy_score, r2_score
from sklearn.neighbors import KNeighborsClassifier

from tests.helpers.verdicts import classes, measured
from whynear.data.rows import TimeOrder
from whynear.verdict.table import SLOPES, target_of

Y3 = np.array([0, 1, 2, 2] * 10)


def log_loss_of(losses):
    """For two classes half the Brier score is the square of the probability of the wrong one."""
    return -np.log(np.maximum(1 - np.sqrt(losses.loss), 1e-12)).mean()


def test_perfect_answers_lose_nothing():
    target = classes(Y3)
    losses = target.losses(target.Y)
    assert losses.loss.max() < 1e-6
    assert losses.score.min() == 1
    assert losses.expected.min() > 0.999


def test_guessing_says_the_class_shares():
    losses = classes(Y3).guessed()
    shares = np.array([0.25, 0.25, 0.5])
    expected = [0.5 * np.square(shares - np.eye(3)[k]).sum() for k in Y3]
    assert_allclose(losses.loss, expected)
    assert_allclose(losses.score, Y3 == 2)
    assert_allclose(losses.expected, 0.5)


def test_the_score_is_the_accuracy_of_the_largest_prediction_beside_its_share():
    y = np.arange(60) % 2
    target = classes(y)
    first = np.clip(y + np.random.default_rng(0).normal(0, 0.7, 60), -1, 2)
    losses = target.losses(np.column_stack([1 - first, first]))
    assert losses.score.mean() == accuracy_score(y, first > 0.5)


@given(st.integers(0, 10_000))
def test_calibrated_answers_are_never_worse_than_the_class_shares(seed):
    rng = np.random.default_rng(seed)
    y = np.append([0, 1], rng.integers(0, 2, 28))
    target = classes(y)
    first = rng.standard_normal(30) * 3
    losses = target.losses(np.column_stack([1 - first, first]))
    assert log_loss_of(losses) <= log_loss_of(target.guessed()) + 1e-9


@given(st.integers(0, 10_000))
def test_no_other_slope_makes_probabilities_more_likely(seed):
    rng = np.random.default_rng(seed)
    target = classes(np.append([0, 1, 2], rng.integers(0, 3, 27)))
    predicted = rng.uniform(0, 1) * target.Y + 0.3 * rng.standard_normal(target.Y.shape)
    shares = target.Y.mean(axis=0)
    likeliest = max(
        (softmax(slope * (predicted - shares) + np.log(shares), axis=1) for slope in SLOPES),
        key=lambda probabilities: np.log((probabilities * target.Y).sum(axis=1)).sum(),
    )
    assert_allclose(target.losses(predicted).expected, likeliest.max(axis=1))


def test_calibration_does_not_mind_how_loud_a_model_is():
    y = np.arange(80) % 2
    target = classes(y)
    away = y - 0.5 + np.random.default_rng(0).normal(0, 1, 80)
    losses = [target.losses(0.5 + loud * np.column_stack([-away, away])).loss.mean() for loud in (1, 0.3)]
    assert losses[0] == pytest.approx(losses[1], rel=0.02)


def test_the_loss_of_a_measurement_is_one_minus_r2():
    y, guess = np.random.default_rng(0).normal(5, 3, (2, 50))
    target = measured(y)
    losses = target.losses(((guess - y.mean()) / y.std())[:, None])
    assert losses.loss.mean() == pytest.approx(1 - r2_score(y, guess))
    assert losses.score.mean() == pytest.approx(r2_score(y, guess))
    assert target.guessed().loss.mean() == pytest.approx(1)


def test_the_error_without_groups_is_that_of_a_mean():
    values = np.random.default_rng(0).normal(3, 2, 40)
    mean, error = classes(np.arange(40) % 2).mean_and_error(values)
    assert mean == pytest.approx(values.mean())
    assert error == pytest.approx(values.std(ddof=1) / np.sqrt(40))


@given(st.integers(0, 10_000), st.integers(2, 9))
def test_the_error_with_groups_adds_up_the_rows_of_each(seed, n_groups):
    rng = np.random.default_rng(seed)
    groups = np.append(np.arange(n_groups), rng.integers(0, n_groups, 30))
    values = rng.normal(0, 1, len(groups))
    of_groups = [sum(v - values.mean() for v, g in zip(values, groups, strict=True) if g == k) for k in range(n_groups)]
    expected = np.sqrt(n_groups / (n_groups - 1) * sum(s**2 for s in of_groups)) / len(values)
    assert measured(values, groups).mean_and_error(values)[1] == pytest.approx(expected)


def test_copies_of_rows_in_groups_add_no_certainty():
    values = np.random.default_rng(0).normal(0, 1, 30)
    alone = measured(values).mean_and_error(values)[1]
    copied = measured(np.repeat(values, 5), np.repeat(np.arange(30), 5)).mean_and_error(np.repeat(values, 5))[1]
    assert copied == pytest.approx(alone)


def test_of_one_group_nothing_is_certain():
    target = measured([1.0, 2.0, 3.0]).rows(np.array([0]))
    assert target.mean_and_error(np.array([1.0]))[1] == np.inf


def test_some_rows_have_their_own_groups_and_classes():
    target = classes(["a", "b", "c", "a"], groups=["u", "v", "v", "w"]).rows(np.array([0, 2, 3]))
    assert_array_equal(target.Y, [[1, 0], [0, 1], [1, 0]])
    assert_array_equal(target.groups, [0, 1, 2])
    assert not target.grouped


def test_groups_of_any_kind_are_numbered():
    target = classes([0, 1, 0, 1], groups=["p", "q", "p", "r"])
    assert target.grouped
    assert_array_equal(target.groups, [0, 1, 0, 2])
    assert_array_equal(target.strata, [0, 1, 0, 1])


@pytest.mark.parametrize("make", [classes, measured])
def test_a_target_must_vary(make):
    with pytest.raises(ValueError, match=r"^y must .* got"):
        make([1.0, 1.0, 1.0])


def test_missing_measurements_are_refused():
    with pytest.raises(ValueError, match=r"^y must .* missing .* row 2 "):
        measured([1.0, np.nan, 3.0])


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([0, 1], "as many rows"),
        ([7, 7, 7], "at least two groups"),
        (pd.Series([7, 7, 7], index=[4, 5, 6]), "at least two groups"),
    ],
)
def test_groups_that_fit_no_table_are_refused(groups, message):
    with pytest.raises(ValueError, match=f"^groups must have {message}"):
        classes([0, 1, 0], groups)


def test_a_regressor_measures_and_any_other_learner_has_classes():
    assert measured([1, 2, 3]).measured
    assert not classes([1, 2, 3]).measured
    assert_allclose(measured([1, 2, 3]).Y.std(), 1)


def test_in_time_answers_are_those_of_later_rows():
    y = np.tile(["u", "v"], 30)
    target = target_of(KNeighborsClassifier(), y, TimeOrder(np.arange(60), "day"))
    assert target.held_out.tolist() == list(range(10, 60))
    assert target.folds(0) == target.folds(1) == target.forward
    losses = target.losses(target.Y)
    assert len(losses.loss) == len(losses.score) == len(target.guessed().expected) == 50
    values = np.random.default_rng(0).standard_normal(50)
    assert target.mean_and_error(values) == pytest.approx((values.mean(), values.std(ddof=1) / 50**0.5))
    some = target.rows(np.arange(0, 60, 2))
    assert some.order.times.tolist() == list(range(0, 60, 2))
    assert not some.grouped
    assert target.rows(np.array([3])).forward is None
    with pytest.raises(ValueError, match="groups must have at least two times, got"):
        target_of(KNeighborsClassifier(), y, TimeOrder(np.zeros(60)))
    with pytest.raises(ValueError, match="groups must have as many rows as y, got 3 and 60"):
        target_of(KNeighborsClassifier(), y, TimeOrder(np.arange(3)))
