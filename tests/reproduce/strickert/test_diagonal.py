import numpy as np
import pytest

from whynear import LinearMetric
from whynear.reproduce.strickert.diagonal import diagonal, peaks, roughness


def test_the_diagonal_is_that_of_lambda():
    omega = np.array([[1.0, -2.0, 0.0], [3.0, 0.5, 1.0]])
    assert diagonal(omega.tolist()) == pytest.approx(np.diag(omega.T @ omega))
    assert diagonal(omega.tolist()) == pytest.approx(LinearMetric(omega).relevances())


def test_equal_entries_are_smooth():
    assert roughness(np.ones(5)) == 0
    assert roughness(np.array([1.0, 0, 1, 0])) == pytest.approx(1.5)
    assert roughness(np.array([2.0, 0, 2, 0])) == pytest.approx(1.5)


def test_peaks_are_the_two_highest_local_maxima():
    assert peaks(np.array([0.0, 2, 1, 5, 0, 3, 4, 1])) == [4, 7]
