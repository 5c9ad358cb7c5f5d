import numpy as np
import pytest
from scipy.stats import binomtest

from whynear.study.calibration import N_BINS, calibration_of, wilson_interval

RNG = np.random.default_rng(0)
PROBABILITY = RNG.uniform(0.3, 1.0, 500)
RIGHT = RNG.random(500) < PROBABILITY


def test_every_prediction_is_in_one_bin():
    found = calibration_of(PROBABILITY, RIGHT)
    assert sum(held.count for held in found.bins) == 500
    assert sum(held.count * held.right for held in found.bins) == pytest.approx(RIGHT.sum())
    for held in found.bins:
        assert held.lower < held.probability <= held.upper
        assert held.least <= held.right <= held.most


def test_the_error_is_the_mean_gap_of_the_bins_one_by_one():
    gaps = 0.0
    for code in range(N_BINS):
        inside = (code / N_BINS < PROBABILITY) & ((code + 1) / N_BINS >= PROBABILITY)
        if inside.any():
            gaps += inside.mean() * abs(PROBABILITY[inside].mean() - RIGHT[inside].mean())
    assert calibration_of(PROBABILITY, RIGHT).error == pytest.approx(gaps)


def test_probabilities_that_hold_have_a_small_error_and_sure_ones_a_large_one():
    assert calibration_of(PROBABILITY, RIGHT).error < 0.07
    assert calibration_of(np.ones(500), RIGHT).error == pytest.approx(1 - RIGHT.mean())


def test_the_ends_belong_to_the_first_and_the_last_bin():
    first, last = calibration_of(np.array([0.0, 1.0]), np.array([False, True])).bins
    assert (first.lower, last.upper) == (0.0, 1.0)


@pytest.mark.parametrize(("right", "count"), [(0, 5), (3, 7), (40, 40)])
def test_intervals_are_those_of_wilson(right, count):
    expected = binomtest(right, count).proportion_ci(method="wilson")
    assert wilson_interval(right / count, count) == pytest.approx((expected.low, expected.high), abs=1e-6)


def test_bins_are_written_as_plain_values():
    held = calibration_of(PROBABILITY, RIGHT).to_dict()
    assert held["bins"][-1]["upper"] == 1.0
    assert set(held) == {"error", "bins"}
