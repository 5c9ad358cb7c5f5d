"""Tables and triplets for the learners of ranking weights."""

import numpy as np


def rows(n=300, seed=0):
    """Two columns that tell the class, of very different size, and three that are large and useless."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    X = rng.standard_normal((n, 5)) * [1, 1e-3, 30, 30, 30]
    X[:, 0] += 4 * (y == 1)
    X[:, 1] += 4e-3 * (y == 2)
    return X, y


def every_triplet(y, rng, n=4000):
    """For every pair of one class a random mismatch: then the rows not given as matches are those of other classes."""
    first, second = np.nonzero((y[:, None] == y) & ~np.eye(len(y), dtype=bool))
    third = [rng.choice(np.flatnonzero(y != y[i])) for i in first]
    return np.column_stack([first, second, third])
