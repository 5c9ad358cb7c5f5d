import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tests.helpers.slow_memory import drifting_stream, learned
from whynear.stream.kernels import BASE, END, LONG_SIZE, START
from whynear.stream.state import joined_classes, recode


def test_classes_stay_sorted_and_keep_their_kind():
    assert joined_classes(np.array([3, 1]), np.array([2, 3])).tolist() == [1, 2, 3]
    assert joined_classes(np.array([True]), np.array([False])).dtype == bool
    assert joined_classes(np.array(["b"]), np.array(["a long name"])).tolist() == ["a long name", "b"]


def test_classes_that_cannot_be_sorted_together_are_refused():
    with pytest.raises(TypeError, match="kinds int and str"):
        joined_classes(np.array([1, 2]), np.array(["a"]))


def test_remembered_cases_keep_their_class_when_codes_change():
    X, y = drifting_stream(0, n_classes=2)
    memory = learned(X, y)
    before = memory.codes.copy(), memory.long_codes.copy()
    recode([memory], np.array(["b", "d"]), np.array(["a", "b", "c", "d"]))
    live, size = slice(*(memory.state[[START, END]] - memory.state[BASE])), memory.state[LONG_SIZE]
    assert_array_equal(memory.codes[live], 1 + 2 * before[0][live])
    assert_array_equal(memory.long_codes[:size], 1 + 2 * before[1][:size])
