"""Sets of classes that contain the right one with a given probability (split conformal prediction)."""

import math

import numpy as np
from numpy.typing import NDArray

from whynear.reject.measures import own_and_best_other
from whynear.reject.nearness import Nearness
from whynear.utils.arrays import Array, Indices


def strangeness(nearness: Nearness) -> Array:
    """Return how strange each class would be for each case, of shape (n, n_classes).

    log(d / d'), for the squared distances d to the class and d' to the nearest other one; for a classifier without
    distances log(p' / p) of the probabilities. Minus infinity at distance zero, infinity for a class without cases,
    zero where both are zero.

    >>> strangeness(Nearness(np.array([0]), np.array([[0.8, 0.2]]))).round(3)
    array([[-1.386,  1.386]])
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        if nearness.sq_by_class is None:
            logs = -np.log(nearness.probabilities)
        else:
            logs = np.log(nearness.sq_by_class)
        nearest = logs.argmin(axis=1)
        own, other = own_and_best_other(-logs, nearest)
        best_other = np.repeat(-own[:, None], logs.shape[1], axis=1)
        best_other[np.arange(len(logs)), nearest] = -other
        found = logs - best_other
    return np.where(np.isnan(found), 0.0, found)


def strangeness_of_true(scores: Array, codes: Indices) -> Array:
    """Return the strangeness of the true class of each case; infinite for a class that is new to the classifier."""
    known = np.where(codes >= 0, codes, 0)
    return np.where(codes >= 0, scores[np.arange(len(scores)), known], np.inf)


def strangest_accepted(of_true: Array, coverage: float) -> float:
    """Return the limit of strangeness below which the true class of a new case lies with this probability.

    That of the k-th of n calibration cases in rising order, k = ceil((n + 1) coverage); infinite where k > n.

    >>> strangest_accepted(np.arange(1.0, 10.0), 0.8), strangest_accepted(np.arange(1.0, 10.0), 0.95)
    (8.0, inf)
    """
    place = math.ceil((len(of_true) + 1) * coverage - 1e-9)
    return float(np.sort(of_true)[place - 1]) if place <= len(of_true) else np.inf


def fewest_for_sets(coverage: float) -> int:
    """Return how many calibration cases sets of this coverage need: with fewer they hold every class.

    >>> fewest_for_sets(0.9), fewest_for_sets(0.99)
    (9, 99)
    """
    return math.ceil(coverage / (1 - coverage) - 1e-9)


def members(scores: Array, limit: float) -> NDArray[np.bool_]:
    """Return for each case which classes are in its set."""
    return scores <= limit
