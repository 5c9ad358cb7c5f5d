import numpy as np
import pytest

from whynear.embed.embedding import embedded_classes


def test_classes_are_numbered_in_their_order():
    points, classes, codes = embedded_classes([[0, 1], [2, 3], [4, 5]], ["b", "a", "b"])
    assert points.dtype == float
    assert classes.tolist() == ["a", "b"]
    assert codes.tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("points", "y", "message"),
    [
        (np.zeros((3, 2)), ["a", "b"], "one class for each of the 3 points, got 2"),
        (np.zeros((2, 2)), ["a", None], "y lacks the class of 1 point"),
        (np.full((2, 2), np.nan), ["a", "b"], "embedding contains NaN"),
    ],
)
def test_points_and_classes_that_do_not_fit_are_refused(points, y, message):
    with pytest.raises(ValueError, match=message):
        embedded_classes(points, y)
