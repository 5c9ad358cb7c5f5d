from unittest import mock

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from tests.helpers.lvq import blocks_of
from whynear.learn.lvq.prototypes import MOST_CERTAINTY, SAMPLED_ROWS, certainty, relative_distances


def test_the_nearest_class_alone_has_a_positive_relative_distance():
    rng = np.random.default_rng(0)
    sq = rng.random((50, 4))
    relative = relative_distances(sq)
    assert ((relative > 0).sum(axis=1) == 1).all()
    assert (relative.argmax(axis=1) == sq.argmin(axis=1)).all()
    assert (np.abs(relative) <= 1).all()


def test_ties_and_zeros_are_zero():
    assert_allclose(relative_distances(np.zeros((1, 3))), 0)
    assert_allclose(relative_distances(np.array([[2.0, 2.0, 6.0]])), [[0, 0, -0.5]])


@given(st.integers(0, 10**6), st.integers(2, 4), st.floats(0.0, 1.0), st.sampled_from([2, 10, SAMPLED_ROWS]))
def test_certainty_is_the_most_likely_factor_whatever_rows_it_starts_with(seed, n_classes, wrong, sampled_rows):
    rng = np.random.default_rng(seed)
    relative = relative_distances(rng.random((40, n_classes)))
    codes = np.where(rng.random(40) < wrong, rng.integers(n_classes, size=40), relative.argmax(axis=1))
    weights = rng.random(40)
    weights /= weights.sum()
    targets = np.full((40, n_classes), 1 / (40 + n_classes))
    targets[np.arange(40), codes] += 40 / (40 + n_classes)

    def loss(log_t):
        return -weights @ (targets * log_softmax(np.exp(log_t) * relative, axis=1)).sum(axis=1)

    oracle = minimize_scalar(loss, bounds=(np.log(1e-3), np.log(MOST_CERTAINTY)), method="bounded")
    with mock.patch("whynear.learn.lvq.prototypes.SAMPLED_ROWS", sampled_rows):
        found = certainty(blocks_of(relative, codes, weights, n_classes))
    assert loss(np.log(found)) <= oracle.fun + 1e-7


def test_cases_all_predicted_right_do_not_make_it_certain():
    relative = np.tile([[1.0, -1.0], [-1.0, 1.0]], (10, 1))
    t = certainty(blocks_of(relative, np.tile([0, 1], 10)))
    assert 0.9 < 1 / (1 + np.exp(-2 * t)) < 0.99
