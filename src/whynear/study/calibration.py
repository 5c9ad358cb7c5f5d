"""Whether predictions with a probability of 0.8 are right in 80 of 100 rows."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whynear.utils.arrays import Array

N_BINS = 10
TWO_SIDED_95 = 1.959964  # quantile of the normal distribution


@dataclass(frozen=True)
class CalibrationBin:
    """Predictions whose probability is between two values.

    Attributes
    ----------
    lower, upper : float
        The ends of the bin; the upper one belongs to it.
    probability : float
        The mean probability of its predictions.
    right : float
        The share of them that is right.
    least, most : float
        The 95% interval of that share (Wilson).
    count : int
        The number of predictions.
    """

    lower: float
    upper: float
    probability: float
    right: float
    least: float
    most: float
    count: int


@dataclass(frozen=True)
class ProbabilityCalibration:
    """The probabilities of predictions, compared with the shares that are right.

    Attributes
    ----------
    bins : tuple of CalibrationBin
        Bins of equal width between 0 and 1; those without predictions are left out.
    error : float
        The expected calibration error: the mean over predictions of abs(probability - right) of their bin.
    """

    bins: tuple[CalibrationBin, ...]
    error: float

    def to_dict(self) -> dict[str, Any]:
        """Return the error and the bins."""
        return {"error": self.error, "bins": [asdict(held) for held in self.bins]}


def calibration_of(probability: Array, right: NDArray[np.bool_]) -> ProbabilityCalibration:
    """Return the calibration of predictions with these probabilities, of which some are right.

    >>> calibration_of(np.array([0.75, 0.75, 0.75, 0.75]), np.array([True, True, True, False])).error
    0.0
    """
    codes = np.clip(np.ceil(N_BINS * probability).astype(int) - 1, 0, N_BINS - 1)
    bins = tuple(_bin(int(code), probability[codes == code], right[codes == code]) for code in np.unique(codes))
    gaps = sum(held.count * abs(held.probability - held.right) for held in bins)
    return ProbabilityCalibration(bins, gaps / len(probability))


def _bin(code: int, probability: Array, right: NDArray[np.bool_]) -> CalibrationBin:
    share, count = float(right.mean()), len(right)
    least, most = wilson_interval(share, count)
    return CalibrationBin(code / N_BINS, (code + 1) / N_BINS, float(probability.mean()), share, least, most, count)


def wilson_interval(share: float, count: int) -> tuple[float, float]:
    """Return the 95% interval of a share of independent rows (Wilson 1927).

    >>> least, most = wilson_interval(0.5, 10)
    >>> f"{least:.3f} {most:.3f}"
    '0.237 0.763'
    """
    z = TWO_SIDED_95**2 / count
    centre = (share + z / 2) / (1 + z)
    half = np.sqrt(z * share * (1 - share) + z**2 / 4) / (1 + z)
    return max(0.0, float(centre - half)), min(1.0, float(centre + half))
