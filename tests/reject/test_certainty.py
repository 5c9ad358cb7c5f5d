from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

from tests.helpers.nearness import some_nearness, truth_for
from whynear.reject.calibration import (
    CertaintyRule,
    ClassScales,
    calibrated,
    certainty_folds,
    class_scales,
    fit_certainty,
    fit_logistic,
)
from whynear.reject.nearness import MEASURES, measures_of


@pytest.fixture(scope="module")
def held():
    nearness = some_nearness(2000)
    return measures_of(nearness), nearness.predicted, truth_for(nearness) == nearness.predicted


def test_the_certainty_of_calibrated_probabilities_is_the_probability(held):
    measures, predicted, right = held
    model = fit_certainty(measures, predicted, right, ("probability",), 3)
    true = 1 / (1 + np.exp(-measures["probability"]))
    assert np.abs(model.certainty(measures, predicted) - true).mean() < 0.03


def test_one_measure_keeps_its_order(held):
    measures, predicted, right = held
    certainty = fit_certainty(measures, predicted, right, ("relative_distance",), 3).certainty(measures, predicted)
    order = np.argsort(measures["relative_distance"])
    assert (np.diff(certainty[order]) >= 0).all()


def test_units_of_measures_do_not_count(held):
    measures, predicted, right = held
    shifted = {name: 1e3 * values + 5 for name, values in measures.items()}
    models = [fit_certainty(some, predicted, right, MEASURES, 3) for some in (measures, shifted)]
    assert_allclose(models[0].certainty(measures, predicted), models[1].certainty(shifted, predicted), atol=1e-6)


def test_a_class_that_is_often_wrong_is_less_certain_and_a_rare_one_barely(held):
    measures, predicted, right = held
    often_wrong = right & ~((predicted == 1) & (np.arange(len(right)) % 2 == 0))
    often = fit_certainty(measures, predicted, often_wrong, MEASURES, 3).intercepts
    assert often[1] < often[0] - 0.5
    one = np.flatnonzero(predicted == 1)[0]
    rarely = np.where(predicted == 1, 0, predicted)
    rarely[one] = 1
    wrong_once = right.copy()
    wrong_once[one] = False
    rare = fit_certainty(measures, rarely, wrong_once, MEASURES, 3).intercepts
    assert abs(rare[1] - rare[0]) < 0.5


def test_infinite_and_constant_measures_do_no_harm(held):
    measures, predicted, right = held
    odd = {**measures, "nearest_distance": np.where(predicted == 0, np.inf, 1.0), "margin": np.full(len(right), 3.0)}
    model = fit_certainty(odd, predicted, right, MEASURES, 3)
    assert np.isfinite(model.certainty(odd, predicted)).all()
    assert np.isfinite(model.slopes).all()


def test_folds_hold_groups_together_and_every_case_out_once():
    right, groups = np.arange(30) > 3, np.arange(30) // 3
    for separate in (None, groups):
        folds = certainty_folds(right, separate, seed=0)
        assert sorted(np.concatenate([test for _, test in folds]).tolist()) == list(range(30))
    assert [test.tolist() for _, test in certainty_folds(right[:1], None, seed=0)] == [[0]]
    assert all(not set(groups[train]) & set(groups[test]) for train, test in folds)


CLASSES = np.array(["a", "b", "c"])


def of_prototypes(n=600, seed=0):
    """What prototypes say about cases, and coordinates in which the classes lie apart as the distances do not show."""
    nearness = some_nearness(n, seed=seed, shares=False)
    true = truth_for(nearness, seed + 1)
    centres = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]])
    return replace(nearness, seen=np.random.default_rng(seed + 2).normal(size=(n, 2)) + centres[true]), true


def test_near_cases_of_other_classes_lower_the_certainty():
    nearness, true = of_prototypes()
    rule = calibrated(nearness, CLASSES[true], CLASSES)[0].rule
    new, of_new = of_prototypes(seed=10)
    right = of_new == new.predicted
    certainty = rule.certainty_of(new)
    assert certainty[right].mean() > certainty[~right].mean() + 0.4
    alone = calibrated(replace(nearness, seen=None), CLASSES[true], CLASSES)[0].rule.certainty_of(new)
    assert alone[right].mean() < alone[~right].mean() + 0.3


def test_a_case_farther_than_twice_the_farthest_is_not_certain():
    nearness, true = of_prototypes()
    rule = calibrated(nearness, CLASSES[true], CLASSES)[0].rule
    row = nearness.rows([0])
    at = [replace(row, sq_by_class=np.full((1, 3), (share * rule.farthest) ** 2)) for share in (1.99, 2.01)]
    assert rule.certainty_of(at[0]) > 0
    assert rule.certainty_of(at[1]) == 0


def test_plain_values_give_the_same_rule():
    for nearness in (of_prototypes()[0], some_nearness(distances=False, shares=False)):
        true = CLASSES[truth_for(nearness)]
        rule = calibrated(nearness, true, CLASSES)[0].rule
        again = CertaintyRule.from_dict(rule.to_dict())
        assert again == rule
        assert_array_equal(again.certainty_of(nearness), rule.certainty_of(nearness))


@pytest.mark.parametrize(
    ("part", "name", "value"),
    [
        ("model", "scale", [10**400, 1.0]),
        ("model", "scale", np.zeros(2)),
        ("model", "slopes", np.ones(3)),
        ("model", "mean", np.array([np.nan, 0.0])),
        ("model", "intercepts", "abc"),
        ("near", "codes", np.array([0, 3])),
        ("near", "codes", np.array([0.5, 1.0])),
        ("near", "cases", np.ones((3, 2))),
    ],
)
def test_a_rule_that_does_not_fit_together_is_refused_by_name(part, name, value):
    two = np.array([0.0, 1.0])
    arrays = {"low": two, "high": two, "mean": two, "scale": two + 1, "slopes": two, "intercepts": np.zeros(3)}
    near = {"cases": np.ones((2, 2)), "codes": np.array([0, -1])}
    held = {"model": {"names": ["margin", "share"], **arrays}, "scales": [], "near": near, "farthest": None}
    CertaintyRule.from_dict(held)
    held[part][name] = value
    with pytest.raises(ValueError, match=rf"damaged: its ({name}|codes)"):
        CertaintyRule.from_dict(held)


def test_scales_and_distances_that_are_no_numbers_are_refused():
    nearness, true = of_prototypes()
    held = calibrated(nearness, CLASSES[true], CLASSES)[0].rule.to_dict()
    for wrong in ({"scales": [np.ones((3, 2))]}, {"farthest": 10**400}, {"farthest": -1.0}):
        with pytest.raises((ValueError, TypeError), match=r"scales|farthest"):
            CertaintyRule.from_dict({**held, **wrong})


def two_classes(n=2000, seed=0):
    """Class 1 is right with the probability ``certainty``, class 0 always above one half."""
    rng = np.random.default_rng(seed)
    certainty, predicted = rng.random(n), rng.integers(2, size=n)
    right = np.where(predicted == 1, rng.random(n) < certainty, certainty > 0.5)
    return certainty, predicted, right


def wrong_accepted(scores, right, n_accepted):
    order = np.argsort(-scores, kind="stable")
    return np.count_nonzero(~right[order[:n_accepted]])


def test_thresholds_of_classes_reject_more_wrong_cases_than_one():
    certainty, predicted, right = two_classes()
    scaled = class_scales(certainty, predicted, right, 2).scaled(certainty, predicted)
    fresh = two_classes(seed=1)
    of_fresh = class_scales(certainty, predicted, right, 2).scaled(fresh[0], fresh[1])
    for n_accepted in (400, 800, 1200):
        assert wrong_accepted(scaled, right, n_accepted) < wrong_accepted(certainty, right, n_accepted)
        assert wrong_accepted(of_fresh, fresh[2], n_accepted) < wrong_accepted(fresh[0], fresh[2], n_accepted)


def test_they_are_as_good_as_the_best_pair_of_thresholds():
    certainty, predicted, right = two_classes(300)
    scaled = class_scales(certainty, predicted, right, 2).scaled(certainty, predicted)
    counts = {}
    grid = np.linspace(-0.01, 1, 60)
    for low in grid:
        for high in grid:
            accepted = certainty > np.where(predicted == 1, high, low)
            n = np.count_nonzero(accepted)
            counts[n] = min(counts.get(n, 300), np.count_nonzero(accepted & ~right))
    for n, wrong in counts.items():
        assert wrong_accepted(scaled, right, n) <= wrong + 6  # between two corners of the hull


def test_scales_rise_with_the_certainty():
    certainty, predicted, right = two_classes()
    scales = class_scales(certainty, predicted, right, 2)
    line = np.linspace(0, 1, 500)
    for code in (0, 1):
        assert (np.diff(scales.scaled(line, np.full(500, code))) >= 0).all()


def test_classes_with_few_cases_or_no_error_stay_as_they_are():
    certainty, predicted, right = two_classes()
    predicted[:10], right[:10] = 2, False
    right[predicted == 0] = True
    scales = class_scales(certainty, predicted, right, 4)
    for code in (0, 2, 3):
        assert_array_equal(scales.scaled(certainty, np.full(len(certainty), code)), certainty)


def test_without_scales_certainty_stays_as_it_is():
    certainty = np.array([0.1, 0.9])
    assert_array_equal(ClassScales(()).scaled(certainty, np.array([0, 1])), certainty)


def cases(n=120, m=4, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    Z = np.column_stack([np.ones(n), rng.normal(size=(n, m - 1))])
    codes = rng.integers(n_classes, size=n)
    odds = Z @ np.linspace(1, -1, m) + codes
    return Z, rng.random(n) < 1 / (1 + np.exp(-odds)), codes


def slow(Z, right, penalties, codes, n_classes, class_penalty):
    """All coefficients at once, with a column for each class."""
    Z = np.column_stack([Z, np.eye(n_classes)[codes]])
    penalties = np.concatenate([penalties, np.full(n_classes, class_penalty)])
    n_right = right.sum()
    targets = np.where(right, (n_right + 1) / (n_right + 2), 1 / ((~right).sum() + 2))

    def loss(w):
        shares = 1 / (1 + np.exp(-Z @ w))
        cross = targets * np.log(shares) + (1 - targets) * np.log(1 - shares)
        return -cross.sum() + (penalties * w**2).sum() / 2

    found = minimize(loss, np.zeros(Z.shape[1]), tol=1e-12).x
    return found[:-n_classes], found[-n_classes:]


@pytest.mark.parametrize("seed", range(3))
def test_it_minimises_the_loss(seed):
    Z, right, codes = cases(seed=seed)
    given = Z, right, np.array([1e-3, 1.0, 2.0, 5.0]), codes, 4, 5.0  # one class has no case
    for found, expected in zip(fit_logistic(*given), slow(*given), strict=True):
        assert_allclose(found, expected, atol=1e-4)


def test_a_large_penalty_holds_coefficients_at_zero():
    Z, right, codes = cases()
    w, b = fit_logistic(Z, right, np.array([1e-6, 1e9, 1.0, 1.0]), codes, 3, 1e9)
    assert abs(w[1]) < 1e-6 < abs(w[3])
    assert np.abs(b).max() < 1e-6


@pytest.mark.parametrize("right", [np.ones(50, dtype=bool), np.zeros(50, dtype=bool), np.arange(50) > 24])
def test_separable_cases_give_finite_coefficients(right):
    Z = np.column_stack([np.ones(50), np.arange(50.0) * 1e3])
    w, b = fit_logistic(Z, right, np.array([1e-6, 1e-6]), np.zeros(50, dtype=int), 1, 5.0)
    assert np.isfinite(w).all()
    shares = 1 / (1 + np.exp(-(Z @ w + b[0])))
    assert ((shares > 0.5) == right).mean() > 0.9
