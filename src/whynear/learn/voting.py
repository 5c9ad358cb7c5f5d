"""The vote of the nearest cases, weighted by their distance."""

import numpy as np
from numpy.typing import NDArray

from whynear.metric import NeighborSearch

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


def voters(search: NeighborSearch, queries: Array, k: int) -> tuple[Array, Indices]:
    """Squared distances and numbers of the k nearest cases, of more where k are at distance zero.

    Of contradicting copies none is left out: as long as all that were found for some query are at distance zero, twice
    as many are looked for.
    """
    k = min(k, len(search.cases))
    sq, indices = search.nearest(queries, k)
    while k < len(search.cases) and (sq[:, -1] == 0).any():
        k = min(2 * k, len(search.cases))
        sq, indices = search.nearest(queries, k)
    return sq, indices


def inverse_distances(distances: Array, k: int) -> Array:
    """The weights of neighbours in rising order of distance: 1/d for the first k, the nearest one's scaled to one.

    Cases at distance zero vote alone, all of them.
    """
    nearest = distances[:, :1]
    with np.errstate(divide="ignore", invalid="ignore"):
        weights = np.where(nearest > 0, nearest / distances, distances == 0)
    weights[:, k:] *= distances[:, k:] == 0
    return weights


def neighbor_votes(search: NeighborSearch, codes: Indices, queries: Array, *, k: int, n_classes: int) -> Array:
    """Share of each class in the vote of the nearest cases, each weighing 1/d. Time O(n m c) for m cases."""
    votes = np.zeros((len(queries), n_classes))
    k = min(k, len(search.cases))
    sq, indices = search.nearest(queries, k)
    np.add.at(votes, (np.arange(len(queries))[:, None], codes[indices]), inverse_distances(np.sqrt(sq), k))
    crowded = np.flatnonzero(sq[:, -1] == 0)
    if len(crowded):
        sq, indices = voters(search, queries[crowded], k)
        votes[crowded] = 0.0
        np.add.at(votes, (crowded[:, None], codes[indices]), inverse_distances(np.sqrt(sq), k))
    return votes / votes.sum(axis=1, keepdims=True)
