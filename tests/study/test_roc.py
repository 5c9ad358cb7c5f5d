import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import auc, roc_auc_score

from whynear.study.roc import MOST_CURVES, roc_of

RNG = np.random.default_rng(0)


def predicted(n_rows, n_classes):
    """True classes, the probabilities of classes that follow them loosely, and the classes."""
    classes = np.array([f"class {code}" for code in range(n_classes)])
    codes = np.arange(n_rows) % n_classes
    support = RNG.gamma(1.0, size=(n_rows, n_classes))
    support[np.arange(n_rows), codes] *= 3
    return classes[codes], support / support.sum(axis=1, keepdims=True), classes


def test_the_area_of_two_classes_is_that_of_scikit_learn():
    true, probabilities, classes = predicted(100, 2)
    roc = roc_of(true, probabilities, classes)
    assert roc.area == roc_auc_score(true, probabilities[:, 1])
    (curve,) = roc.curves
    assert (curve.label, curve.area) == ("class 1", roc.area)


def test_the_mean_area_of_several_classes_is_that_of_scikit_learn():
    true, probabilities, classes = predicted(120, 4)
    roc = roc_of(true, probabilities, classes)
    assert roc.area == pytest.approx(roc_auc_score(true, probabilities, multi_class="ovr"))
    assert [curve.label for curve in roc.curves] == classes.tolist()


def test_the_area_of_a_curve_lies_under_its_points():
    for curve in roc_of(*predicted(90, 3)).curves:
        assert auc(curve.false_rate, curve.true_rate) == pytest.approx(curve.area)
        assert_allclose([curve.false_rate[[0, -1]], curve.true_rate[[0, -1]]], [[0, 1], [0, 1]])
        assert (np.diff(curve.true_rate) >= 0).all()


def test_only_the_curves_of_the_largest_classes_are_kept():
    true, probabilities, classes = predicted(90, 9)
    true[:40] = "class 8"
    roc = roc_of(true, probabilities, classes)
    assert len(roc.curves) == MOST_CURVES
    assert roc.curves[-1].label == "class 8"
    assert roc.area == pytest.approx(roc_auc_score(true, probabilities, multi_class="ovr"))


def test_curves_are_written_as_plain_values():
    held = roc_of(*predicted(60, 3)).to_dict()
    assert [curve["class"] for curve in held["curves"]] == ["class 0", "class 1", "class 2"]
    assert held["curves"][0]["true_rate"][-1] == 1.0
