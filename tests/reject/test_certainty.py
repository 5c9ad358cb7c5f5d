import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.helpers.nearness import some_nearness, truth_for
from whynear.reject.certainty import certainty_folds, fit_certainty
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
