"""Relevances as shares: each map's made to sum to one, because maps leave their scale free."""

import numpy as np

from whynear.utils.arrays import Array


def mean_share(relevances: Array, weights: Array) -> Array:
    """The weighted mean of rows of relevances, each made to sum to one; itself sums to one, unless all are zero.

    ``weights`` is one weight per row, or several such rows, one for each mean wanted.

    >>> mean_share(np.array([[1.0, 1.0], [30.0, 10.0]]), np.array([1.0, 1.0]))
    array([0.625, 0.375])
    """
    mean = weights @ _to_one(relevances)
    return _to_one(mean)


def _to_one(rows: Array) -> Array:
    total = rows.sum(axis=-1, keepdims=True)
    return rows / np.where(total > 0, total, 1.0)
