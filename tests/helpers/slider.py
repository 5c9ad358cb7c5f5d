"""Tables and triplets for the learners of ranking weights."""

import numpy as np

from whynear.learn.slider.base import RankingTask, compare_by_class, spreads


def rows(n=300, seed=0):
    """Two columns that predict the class, of very different size, and three that are large and useless."""
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


def ranking_task(n=60, p=2, constant=False, seed=0):
    """A task on a table whose triples and judges are drawn by class; a last column may be constant."""
    X, y = rows(n, seed)
    if constant:
        X = np.column_stack([X, np.full(n, 7.0)])
    rng, everything = np.random.default_rng(seed), np.arange(n)
    triples = compare_by_class(y, everything, everything, 200, 1, rng)
    judges = compare_by_class(y, everything, everything, 100, 5, rng)
    return RankingTask.of(X, spreads(X, p, rng), triples, judges, 5, p), X
