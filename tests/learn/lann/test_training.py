import numpy as np
from numpy.testing import assert_array_equal

from tests.helpers.lann import rows
from whynear.learn.lann.candidates import candidate_lists
from whynear.learn.lann.training import TrainingCases


def test_lists_outlive_a_stretch_that_keeps_the_neighbours():
    X, y = rows(150)
    cases, _ = TrainingCases.of(X, y, 5, 12, seed=0)
    assert cases.stretched(np.full(X.shape[1], 2.0), 5, 0)[0].lists is cases.lists
    strong = cases.stretched(np.r_[1.0, np.full(X.shape[1] - 1, 1e-3)], 5, 0)[0]
    assert_array_equal(strong.lists, candidate_lists(strong.X, 12, 0))
