"""The vote of the nearest cases, weighted by their distance."""

import numpy as np
from numpy.typing import NDArray

from whynear.metric import Metric
from whynear.metric.neighbors import NeighborSearch

Array = NDArray[np.float64]


def neighbor_votes(
    metric: Metric,
    cases: Array,
    codes: NDArray[np.intp],
    queries: Array,
    *,
    n_neighbors: int,
    n_classes: int,
    n_jobs: int | None = None,
) -> Array:
    """Share of each class in the vote of the nearest cases, each weighing 1/d; cases at distance zero vote alone.

    Where all neighbours are at distance zero, every other case at distance zero votes too: of contradicting copies none
    is left out. Time O(n m c) for n queries and m cases.
    """
    search = NeighborSearch(metric, cases, n_jobs=n_jobs)
    votes = np.zeros((len(queries), n_classes))
    waiting, k = np.arange(len(queries)), min(n_neighbors, len(cases))
    while len(waiting):
        sq, indices = search.nearest(queries[waiting], k)
        _add_votes(votes, waiting, np.sqrt(sq), codes[indices])
        # All k at distance zero: look farther, as long as there is anything to be seen.
        waiting = waiting[sq[:, -1] == 0] if k < len(cases) else waiting[:0]
        votes[waiting] = 0.0
        k = min(2 * k, len(cases))
    return votes / votes.sum(axis=1, keepdims=True)


def _add_votes(votes: Array, rows: NDArray[np.intp], distances: Array, codes: NDArray[np.intp]) -> None:
    nearest = distances[:, :1]
    with np.errstate(divide="ignore", invalid="ignore"):
        weights = np.where(nearest > 0, nearest / distances, distances == 0)
    np.add.at(votes, (rows[:, None], codes), weights)
