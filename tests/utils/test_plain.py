import json
from datetime import date

import numpy as np
import pytest

from whynear.utils.arrays import plain_values, python_value


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (np.float64(0.5), 0.5),
        (np.int32(3), 3),
        (np.bool_(True), True),
        (np.array([[1.0, np.nan]]), [[1.0, None]]),
        ((1, [2, np.inf]), [1, [2, None]]),
        ({1: np.str_("a"), "b": None}, {"1": "a", "b": None}),
        (date(2020, 1, 2), "2020-01-02"),
    ],
)
def test_values_are_of_types_that_json_returns_unchanged(value, plain):
    assert plain_values(value) == plain
    assert json.loads(json.dumps(plain_values(value), allow_nan=False)) == plain


@pytest.mark.parametrize(
    ("value", "kind"), [(np.int64(3), int), (np.float32(0.5), float), (np.str_("a"), str), (np.bool_(True), bool)]
)
def test_scalars_of_numpy_become_those_of_python_and_others_stay(value, kind):
    assert type(python_value(value)) is kind
    assert python_value(value) == value
    held = [value]
    assert python_value(held) is held
