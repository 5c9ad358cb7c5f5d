"""Numbers and names as a page shows them."""

import math

from hypothesis import given
from hypothesis import strategies as st

from whynear.report.plain_numbers import STEPS, all_printable, decimals, short, steps

numbers = st.floats(-1e9, 1e9).map(lambda number: round(number, 6))


@given(numbers)
def test_short_numbers_are_near(number):
    assert math.isclose(short(number), number, rel_tol=5e-4, abs_tol=1e-12)
    assert abs(decimals(number, 2) - number) <= 0.005 + 1e-6


def test_what_is_not_finite_is_missing():
    for value in (float("nan"), float("inf"), -float("inf")):
        assert short(value) is None
        assert decimals(value, 1) is None


@given(st.lists(numbers, min_size=1, max_size=30))
def test_steps_keep_order_and_place(values):
    held = steps(values)
    assert all(0 <= step <= STEPS for step in held["steps"])
    order = sorted(range(len(values)), key=values.__getitem__)
    assert [held["steps"][k] for k in order] == sorted(held["steps"])
    width = max(values) - min(values)
    for value, step in zip(values, held["steps"], strict=True):
        assert abs(min(values) + width * step / STEPS - value) <= width / STEPS + 1e-9


def test_names_are_printable_wherever_they_stand():
    assert all_printable({"a": [("\x1b", 1.5)], "b": None}) == {"a": [["\ufffd", 1.5]], "b": None}
