"""Votes of the nearest cases, weighted by distance."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from whynear.metric.base import votes_by_class
from whynear.search.exact import ExactSearch
from whynear.utils.arrays import Array, Indices
from whynear.utils.threads import run_in_chunks

DISTANCES_AT_ONCE = 500_000  # in one compiled call


class Votes(NamedTuple):
    """The cases that vote, nearest first: squared distances, numbers, and the weights of their votes."""

    sq: Array
    indices: Indices
    weights: Array

    def by_class(self, codes: Indices, n_classes: int) -> Array:
        """Return the weights summed by class."""
        return votes_by_class(codes[self.indices], self.weights, n_classes)


def cast_votes(
    search: ExactSearch, codes: Indices, queries: Array, k: int, weigh: Callable[[Array], Array], zero: float = 0.0
) -> Votes:
    """Return the votes of the k nearest cases, or of all cases at distance zero if there are any.

    Squared distances up to ``zero`` count as zero, and ``weigh`` gives the weights for all others. If k or more cases
    are at distance zero, k of them are listed, at least one of each class, and share the votes of their class. So
    memory is O(n k) for any number of copies.
    """
    k = min(k, len(search.cases))
    sq, indices = search.find(queries, k)
    crowded = np.flatnonzero(sq[:, -1] <= zero)
    if not len(crowded) or k == len(search.cases):
        return Votes(sq, indices, vote_weights(sq, weigh, zero))
    distinct, place, group = np.unique(queries[crowded], axis=0, return_index=True, return_inverse=True)
    counts, first = _at_zero(search, codes, distinct, zero)
    width = max(k, int(np.count_nonzero(counts, axis=1).max()))
    if width > k:
        sq, indices = search.find(queries, width)
    weights = vote_weights(sq, weigh, zero)
    weights[:, k:] = 0.0
    listed = [
        _listed(sq[row], indices[row], codes, zero, *at_zero)
        for row, *at_zero in zip(crowded[place], counts, first, strict=True)
    ]
    for whole, parts in zip((sq, indices, weights), zip(*listed, strict=True), strict=True):
        whole[crowded] = np.array(parts)[group.ravel()]
    return Votes(sq, indices, weights)


def vote_weights(sq: Array, weigh: Callable[[Array], Array] = np.reciprocal, zero: float = 0.0) -> Array:
    """Return the weights of neighbours, nearest first; if some are at distance zero, 1 for these and 0 for others."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(sq[:, :1] <= zero, sq <= zero, weigh(sq))


def inverse_distances(sq: Array) -> Array:
    """Return the weights of neighbours, nearest first: 1/d, scaled so that the first is one."""
    distances = np.sqrt(sq)
    return distances[:, :1] / distances


def neighbor_votes(search: ExactSearch, codes: Indices, queries: Array, *, k: int) -> Votes:
    """Return the votes of the nearest cases, with weights 1/d that sum to one. Time O(n m c) for m cases."""
    votes = cast_votes(search, codes, queries, k, inverse_distances)
    return votes._replace(weights=votes.weights / votes.weights.sum(axis=1, keepdims=True))


def _at_zero(search: ExactSearch, codes: Indices, queries: Array, zero: float) -> tuple[Indices, Indices]:
    """Return how many cases of each class are at distance zero, and the first of them. Time O(n m c), in blocks."""
    n, n_classes = len(search.cases), int(codes.max()) + 1
    counts = np.zeros((len(queries), n_classes), dtype=np.intp)
    first = np.full((len(queries), n_classes), n, dtype=np.intp)
    everything = np.arange(n)

    def count(start: int, stop: int) -> None:
        listed = np.tile(everything, (stop - start, 1))
        sq = search.metric.sq_distances_at(queries[start:stop], search.cases, listed)
        rows, numbers = np.nonzero(sq <= zero)
        np.add.at(counts, (start + rows, codes[numbers]), 1)
        np.minimum.at(first, (start + rows, codes[numbers]), numbers)

    run_in_chunks(count, len(queries), chunk=1 + DISTANCES_AT_ONCE // n, n_jobs=search.n_jobs)
    return counts, first


def _listed(
    sq: Array, indices: Indices, codes: Indices, zero: float, counts: Indices, first: Indices
) -> tuple[Array, Indices, Array]:
    """Return one case of each class at distance zero, then the nearest others, up to len(indices), and their votes."""
    ones = first[counts > 0]
    others = ~np.isin(indices, ones)
    chosen = np.concatenate([ones, indices[others]])[: len(indices)]
    chosen_sq = np.concatenate([np.zeros(len(ones)), sq[others]])[: len(indices)]
    order = np.lexsort((chosen, chosen_sq))
    chosen, chosen_sq = chosen[order], chosen_sq[order]
    own = codes[chosen]
    at_zero = chosen_sq <= zero
    sharing = np.bincount(own[at_zero], minlength=len(counts))[own]
    votes = np.where(at_zero, counts[own] / np.maximum(sharing, 1), 0.0)
    return chosen_sq, chosen, votes
