"""Distances by their definition, to compare searches with."""

import numpy as np

from whynear import LinearMetric, LocalMetric


def all_sq_distances(metric, X, Y):
    """Every distance by its definition, one pair at a time."""
    sq = np.empty((len(X), len(Y)))
    for n, x in enumerate(X):
        for i, y in enumerate(Y):
            one = metric[i] if isinstance(metric, LocalMetric) else metric
            mapped = one.omega @ (x - y) if isinstance(one, LinearMetric) else np.sqrt(one.weights) * (x - y)
            sq[n, i] = mapped @ mapped
    return sq
