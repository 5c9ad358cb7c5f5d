import numpy as np
from numpy.testing import assert_array_equal

from whynear.reject.certainty import ClassScales, class_scales


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
