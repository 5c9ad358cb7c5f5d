import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from whynear.study.fits import aligned, of_predictions

CLASSES = np.array(["u", "v", "w"])


def test_every_class_has_a_column_and_every_row_sums_to_one():
    rng = np.random.default_rng(0)
    found = aligned(rng.normal(0.4, 0.5, (50, 2)), np.array(["w", "u"]), CLASSES)
    assert found.shape == (50, 3)
    assert (found >= 0).all()
    assert_allclose(found.sum(axis=1), 1)
    assert_array_equal(found[found[:, [0, 2]].sum(axis=1) > 0.99, 1], 0)


def test_values_outside_zero_and_one_are_clipped():
    assert_allclose(aligned(np.array([[1.5, -0.5], [0.3, 0.3]]), CLASSES[:2], CLASSES), [[1, 0, 0], [0.5, 0.5, 0]])


def test_a_row_without_any_probability_has_equal_ones():
    assert_allclose(aligned(np.array([[0.0, 0.0, 0.0], [np.nan] * 3]), CLASSES, CLASSES), 1 / 3)


def test_the_probability_of_a_prediction_is_that_of_its_class():
    shares = np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]])
    assert of_predictions(shares, np.array(["w", "v"]), CLASSES).tolist() == [0.5, 0.3]
