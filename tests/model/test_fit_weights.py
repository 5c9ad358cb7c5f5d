"""Weights of rows, passed to those who take them."""

import numpy as np
import pandas as pd
from numpy.testing import assert_array_equal
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import whynear as wn
from whynear.model.pipeline import weights_for

WEIGHTS = pd.Series([2.0, 1.0, 0.0])


def test_every_step_that_takes_weights_gets_them():
    found = weights_for(make_pipeline(StandardScaler(), wn.GRLVQ()), WEIGHTS)
    assert list(found) == ["standardscaler__sample_weight", "grlvq__sample_weight"]
    for weights in found.values():
        assert_array_equal(weights, WEIGHTS)
    assert list(weights_for(LinearRegression(), WEIGHTS)) == ["sample_weight"]
    assert weights_for(KNeighborsClassifier(), WEIGHTS) == {}


def test_weights_of_one_are_not_passed():
    assert weights_for(LinearRegression(), None) == {}
    assert weights_for(LinearRegression(), np.ones(3)) == {}
