"""The diagonal of the matrix of a metric over the channels of spectra: its roughness and its peaks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.signal import argrelmax

from whynear.utils.arrays import Array


def diagonal(omega: Sequence[Sequence[float]]) -> Array:
    """The diagonal of Lambda = Omega^T Omega, from the map Omega."""
    return np.square(np.array(omega)).sum(axis=0)


def roughness(values: Array) -> float:
    """The sum of the absolute differences of neighbouring entries, divided by the sum of the entries."""
    return float(np.abs(np.diff(values)).sum() / values.sum())


def peaks(values: Array) -> list[int]:
    """The places of the two highest local maxima, counted from 1, in ascending order."""
    places = argrelmax(values)[0]
    return sorted(int(place) + 1 for place in places[np.argsort(-values[places])[:2]])
