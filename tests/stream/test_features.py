import math

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tests.helpers.slow_memory import drifting_stream, learned
from whynear.stream.kernels import RAW
from whynear.stream.state import numbers_of, row_of, with_features


def test_missing_values_are_left_out_and_others_are_numbers():
    assert numbers_of({"a": 1, 2: np.float32(0.5), "gone": None, "nan": math.nan}) == {"a": 1.0, "2": 0.5}


@pytest.mark.parametrize(
    ("value", "fact"), [("red", "'red' in 'colour'"), (math.inf, "inf in 'colour'"), (1e200, "1e\\+200")]
)
def test_what_is_no_usable_number_is_refused_by_name(value, fact):
    with pytest.raises(ValueError, match=fact):
        numbers_of({"colour": value})


def test_a_feature_that_a_case_lacks_takes_the_mean():
    assert_array_equal(row_of({"b": 3.0}, ["a", "b"], np.array([7.0, 0.0])), [7.0, 3.0])


def test_new_features_change_no_distance_between_remembered_cases():
    X, y = drifting_stream(0)
    memory = learned(X, y, RAW)
    wider = with_features(memory, [5.0, -2.0], 1.0)
    assert_array_equal(wider.cases[:3], memory.cases)
    assert (wider.cases[3] == 5.0).all()
    assert (wider.long_cases[4] == -2.0).all()
    assert wider.weights.shape == wider.log_weights.shape == wider.moments[0].shape == (5,)
    assert wider.weights_before.shape == (5,)
    assert wider.cases.flags.c_contiguous
    assert memory.cases.shape[0] == 3
