"""Cases, metrics of every kind, case bases in files, and a slow search among them."""

import numpy as np

from whynear import DiagonalMetric, LinearMetric, LocalMetric, MinkowskiMetric
from whynear.cases.case_base import CaseBase


def cases(n=300, d=4, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d)).round(2)


def metrics(X, seed=1):
    rng = np.random.default_rng(seed)
    d = X.shape[1]
    anchors = X.astype(np.float32).astype(float)
    return {
        "linear": LinearMetric(rng.standard_normal((d, d))),
        "flat": LinearMetric(rng.standard_normal((2, d))),
        "diagonal": DiagonalMetric(rng.exponential(size=d)),
        "sparse": DiagonalMetric(np.eye(d)[0]),
        "manhattan": MinkowskiMetric(rng.exponential(size=d), p=1),
        "third": MinkowskiMetric(rng.exponential(size=d), p=3),
        "nothing": DiagonalMetric(np.zeros(d)),
        "local": LocalMetric(anchors, weights=rng.exponential(size=X.shape)),
        "local full": LocalMetric(anchors, omegas=rng.standard_normal((len(X), 2, d))),
    }


def slow_nearest(metric, stored, query, k):
    """All distances in float64 from the vectors as they are kept, ties to the lower number."""
    if isinstance(metric, LocalMetric):
        sq = metric.sq_distances_at(query[None], metric.anchors, np.arange(len(stored))[None])[0]
    else:
        sq = metric.sq_distances_at(query[None], stored, np.arange(len(stored))[None])[0]
    order = np.lexsort((np.arange(len(sq)), sq))[:k]
    return order + 1, sq[order]


METRIC = DiagonalMetric([1.0, 2.0], ["a", "b"])


def filled(path, n=100, seed=0):
    with CaseBase(path, METRIC) as base:
        base.add(np.random.default_rng(seed).standard_normal((n, 2)), [{"row": row} for row in range(n)])
    return path
