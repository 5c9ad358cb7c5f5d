"""A threshold of the certainty for each predicted class, after Fischer, Hammer and Wersing (2016)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.isotonic import IsotonicRegression

from whynear.utils.arrays import Array, Indices
from whynear.utils.values import ByValue

TIE_SHARE = 1e-6  # of the certainty itself, by which cases of equal shares are ordered
FEWEST_CASES = 20  # of a class, and one error: with fewer its certainty stays as it is


@dataclass(frozen=True, eq=False)
class ClassScales(ByValue):
    """For each predicted class the share of right predictions at each certainty, between knots.

    One threshold of these shares is another threshold of the certainty in each class. ``knots`` has two rows for each
    class, certainties and shares; none for a class whose certainty stays as it is.
    """

    knots: tuple[Array, ...]

    def scaled(self, certainty: Array, predicted: Indices) -> Array:
        """Return the share that is right at the certainty of each case in its predicted class."""
        found = certainty.copy()
        for code, knots in enumerate(self.knots):
            if knots.size:
                own = predicted == code
                shares = np.interp(certainty[own], knots[0], knots[1])
                found[own] = (1 - TIE_SHARE) * shares + TIE_SHARE * certainty[own]
        return found


def class_scales(certainty: Array, predicted: Indices, right: NDArray[np.bool_], n_classes: int) -> ClassScales:
    """Fit the scales of classes to cases.

    Of all thresholds t_c, those that reject most wrong cases at the price of p right ones for each wrong one are, for
    every p, where the share of right cases of class c passes p / (1 + p) on the convex hull of its cases by certainty.
    That share is the isotonic regression of right on certainty: the optimal thresholds of Fischer, Hammer and Wersing
    (2016) on the hull, where they are nested. Between the middles of the steps it is interpolated.
    """
    return ClassScales(tuple(_knots(certainty, right, predicted == code) for code in range(n_classes)))


def _knots(certainty: Array, right: NDArray[np.bool_], own: NDArray[np.bool_]) -> Array:
    if np.count_nonzero(own) < FEWEST_CASES or right[own].all():
        return np.empty((2, 0))
    fitted = IsotonicRegression().fit(certainty[own], right[own])
    shares, at = _middles(fitted.y_thresholds_, fitted.X_thresholds_)
    return np.array([at, shares])


def _middles(shares: Array, certainty: Array) -> tuple[Array, Array]:
    """Return each share once, at the middle of the certainties that have it."""
    distinct, first, counts = np.unique(shares, return_index=True, return_counts=True)
    ends: Sequence[Array] = (certainty[first], certainty[first + counts - 1])
    return distinct, (ends[0] + ends[1]) / 2
