"""Measures of how certain a prediction is; each is larger for more certain ones."""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.special import logit

from whynear.reject.nearness import Nearness
from whynear.utils.arrays import Array, Indices

Measure = Literal["relative_distance", "nearest_distance", "probability", "near_share", "margin"]
MEASURES: tuple[Measure, ...] = ("relative_distance", "nearest_distance", "probability", "near_share", "margin")
PROTOTYPE_MEASURES: tuple[Measure, ...] = ("relative_distance", "nearest_distance", "probability")
PROBABILITY_MEASURES: tuple[Measure, ...] = ("probability", "margin")
LEAST_PROBABILITY = 1e-4  # of a prediction and of its complement


def usual_measures(nearness: Nearness) -> tuple[Measure, ...]:
    """Return the measures that are combined: all for training cases, fewer for prototypes and for probabilities.

    Distances that cannot be compared with each other are left out.
    """
    if nearness.sq_by_class is None:
        return PROBABILITY_MEASURES
    names = PROTOTYPE_MEASURES if nearness.near_shares is None else MEASURES
    return names if nearness.same_units else tuple(name for name in names if name != "nearest_distance")


def measures_of(nearness: Nearness) -> dict[Measure, Array]:
    """Return every measure that a classifier has, one value for each case.

    - ``relative_distance``: (d' - d) / (d' + d), for the squared distances d to the predicted class and d' to the
      nearest other one (Fischer, Hammer, Wersing 2015).
    - ``nearest_distance``: -log of the squared distance to the nearest prototype or case; infinite at distance zero.
    - ``probability``: log p / (1 - p) of the prediction.
    - ``near_share``: the share of the predicted class among the 25 nearest training cases.
    - ``margin``: the probability of the prediction, less that of the most probable other class.
    """
    predicted = nearness.predicted
    own, other = own_and_best_other(nearness.probabilities, predicted)
    found: dict[Measure, Array] = {}
    if nearness.sq_by_class is not None:
        negative, negative_other = own_and_best_other(-nearness.sq_by_class, predicted)
        found["relative_distance"] = relative_distance(-negative, -negative_other)
        with np.errstate(divide="ignore"):
            found["nearest_distance"] = -np.log(nearness.sq_by_class.min(axis=1))
    found["probability"] = logit(np.clip(own, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY))
    if nearness.near_shares is not None:
        found["near_share"] = own_and_best_other(nearness.near_shares, predicted)[0]
    found["margin"] = own - np.maximum(other, 0.0)
    return found


def relative_distance(sq: Array, sq_other: Array) -> Array:
    """Return (d' - d) / (d' + d): one where d' is infinite, minus one where d is, zero where both are zero or infinite.

    >>> relative_distance(np.array([1.0, 0.0, 2.0]), np.array([3.0, 0.0, np.inf]))
    array([0.5, 0. , 1. ])
    """
    with np.errstate(all="ignore"):
        ratio = sq / sq_other
        relative = (1 - ratio) / (1 + ratio)
    relative = np.where(np.isinf(ratio), -1.0, relative)
    return np.where(np.isnan(relative), 0.0, relative)


def own_and_best_other(values: Array, places: Indices) -> tuple[Array, Array]:
    """Return from each row of a table the value at a place, and the largest at any other place (-inf for none).

    >>> own_and_best_other(np.array([[0.2, 0.7, 0.1]]), np.array([1]))
    (array([0.7]), array([0.2]))
    """
    rows = np.arange(len(values))
    others = values.copy()
    others[rows, places] = -np.inf
    return values[rows, places], others.max(axis=1)
