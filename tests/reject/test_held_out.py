import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris

import whynear as wn
from whynear.data.rows import split_rows
from whynear.reject.nearness import Nearness, nearness_of
from whynear.reject.option import held_out_nearness, joined


def test_each_case_is_predicted_by_a_learner_fitted_without_it():
    X, y = load_iris(return_X_y=True)
    learner, classes = wn.GRLVQ(random_state=0), np.unique(y)
    found = held_out_nearness(learner, X, y, classes, 3, seed=5)
    for train, test in split_rows(y, 3, 5, stratified=True):
        expected = nearness_of(clone(learner).fit(X[train], y[train]), X[test], classes)
        assert_allclose(found.sq_by_class[test], expected.sq_by_class)
        assert_array_equal(found.predicted[test], expected.predicted)


def test_a_class_of_one_case_is_predicted_as_another():
    X, y = load_iris(return_X_y=True)
    y = y.copy()
    y[0] = 7
    found = held_out_nearness(wn.GRLVQ(random_state=0), X, y, np.unique(y), 3, seed=0)
    assert found.predicted[0] != 3
    assert found.sq_by_class[0, 3] == np.inf


def test_parts_without_distances_leave_probabilities():
    with_distances = Nearness(np.array([0]), np.ones((1, 1)), np.ones((1, 1)), np.ones((1, 1)))
    both = joined([with_distances, Nearness(np.array([0]), np.ones((1, 1)))])
    assert len(both) == 2
    assert both.sq_by_class is None
