"""What classifiers say about made-up cases, for the tests of rejection."""

import numpy as np

from whynear.reject.nearness import Nearness


def some_nearness(n=200, n_classes=3, seed=0, *, distances=True, shares=True):
    """What a classifier could say; its predictions are of the nearest class."""
    rng = np.random.default_rng(seed)
    sq = rng.gamma(2.0, size=(n, n_classes))
    odds = np.exp(-2 * sq)
    probabilities = odds / odds.sum(axis=1, keepdims=True)
    counts = rng.multinomial(25, probabilities)
    return Nearness(sq.argmin(axis=1), probabilities, sq if distances else None, counts / 25 if shares else None)


def truth_for(nearness, seed=1):
    """Classes drawn by the probabilities."""
    rng = np.random.default_rng(seed)
    drawn = rng.random((len(nearness), 1)) > np.cumsum(nearness.probabilities, axis=1)[:, :-1]
    return drawn.sum(axis=1)
