"""From relative distances to probabilities."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from whynear.utils.arrays import Array

MOST_CERTAINTY = 1e4  # a larger factor leaves no probability between zero and one


def relative_distances(sq: Array) -> Array:
    """For squared distances to classes, one column each, how much nearer a class is than the nearest other one.

    (d_other - d) / (d_other + d), in [-1, 1]: positive for the nearest class alone, zero for all where two are on the
    case itself.

    >>> relative_distances(np.array([[1.0, 3.0, 9.0]]))
    array([[ 0.5, -0.5, -0.8]])
    """
    two = np.partition(sq, 1, axis=1)[:, :2]
    others = np.where(np.arange(sq.shape[1]) == sq.argmin(axis=1)[:, None], two[:, 1:], two[:, :1])
    total = others + sq
    return np.divide(others - sq, total, out=np.zeros_like(total), where=total > 0)


def certainty(relative: Array, codes: NDArray[np.intp], weights: Array) -> float:
    """The factor t for which softmax(t r) fits the classes best.

    One number by maximum likelihood: the loss is convex in t and Newton's method finds it. Targets are smoothed by one
    case per class, as Platt did for his sigmoid: t would otherwise have no bound where all are predicted right.
    """
    n, n_classes = relative.shape
    targets = np.full((n, n_classes), 1.0 / (n + n_classes))
    targets[np.arange(n), codes] += n / (n + n_classes)
    wanted = weights @ (targets * relative).sum(axis=1)
    t = 1.0
    for _ in range(50):
        p = softmax(t * relative, axis=1)
        means = (p * relative).sum(axis=1)
        slope = weights @ means - wanted
        curvature = weights @ ((p * np.square(relative)).sum(axis=1) - np.square(means))
        if not curvature > 0:
            break
        moved = float(np.clip(t - slope / curvature, t / 4, 4 * t))  # curvature fades far from the optimum
        moved = min(max(moved, 1e-3), MOST_CERTAINTY)
        if abs(moved - t) <= 1e-9 * t:
            break
        t = moved
    return t
