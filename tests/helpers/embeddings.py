"""Random cases and local metrics to embed."""

import numpy as np

from whynear import LocalMetric


def random_cases(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def local_metric(n=200, d=3, seed=0, full=False):
    rng = np.random.default_rng(seed)
    maps = {"omegas": rng.normal(size=(n, 2, d))} if full else {"weights": rng.random((n, d)) ** 2}
    return LocalMetric(random_cases(n, d, seed), **maps)
