import pytest

from whynear.utils.text import beside_error, exceeds_error


@pytest.mark.parametrize(
    ("difference", "error", "exceeds"),
    [(0.3, 0.1, True), (-0.3, 0.1, True), (0.2, 0.1, False), (0.0, 0.0, False), (0.1, float("inf"), False)],
)
def test_a_difference_in_either_direction_is_compared_with_twice_its_error(difference, error, exceeds):
    assert exceeds_error(difference, error) == exceeds
    assert beside_error(difference, error, "d").startswith("difference of d is more than ") == exceeds
