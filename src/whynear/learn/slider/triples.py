"""Comparisons to learn a ranking from: an instance, a match that should be near, mismatches that should not."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whynear.metric import DiagonalMetric
from whynear.search.exact import ExactSearch
from whynear.utils.arrays import Array, Indices

MISMATCH_DRAWS = 50  # attempts to draw a mismatch that is none of the given matches


class Comparisons(NamedTuple):
    """Row numbers: instances and matches of shape (v,), mismatches of shape (v, m)."""

    instances: Indices
    matches: Indices
    mismatches: Indices

    def __len__(self) -> int:
        return len(self.instances)

    def some(self, chosen: Indices | slice) -> Self:
        """A part of the comparisons."""
        return type(self)(*(rows[chosen] for rows in self))


def held_out(codes: Indices, share: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Which rows are held out, this share of each class up to rounding."""
    order = rng.permutation(len(codes))
    order = order[np.argsort(codes[order], kind="stable")]
    turn = np.floor((np.arange(len(codes)) + 1) * share) > np.floor(np.arange(len(codes)) * share)
    chosen = np.zeros(len(codes), dtype=bool)
    chosen[order[turn]] = True
    return chosen


def compare_by_class(
    codes: Indices,
    instances: Indices,
    pool: Indices,
    n: int,
    n_mismatches: int,
    rng: np.random.Generator,
    near: NearMatches | None = None,
) -> Comparisons:
    """Draw n comparisons: instances in turn, matches of their class and mismatches of others from the pool.

    Instances without another row of their class, or without one of another class, in the pool are left out.
    """
    pool = pool[np.argsort(codes[pool], kind="stable")]
    counts = np.bincount(codes[pool], minlength=codes.max() + 1)
    starts = np.cumsum(counts) - counts
    own = codes[instances]
    others = counts[own] - np.isin(instances, pool)
    instances = instances[(others > 0) & (counts[own] < len(pool))]
    if not len(instances):
        return Comparisons(instances, instances, np.empty((0, n_mismatches), dtype=np.intp))
    chosen = np.resize(rng.permutation(instances), n)
    own = codes[chosen]
    matches = chosen.copy()
    while (same := np.flatnonzero(matches == chosen)).size:
        matches[same] = pool[starts[own[same]] + rng.integers(counts[own[same]])]
    if near is not None:
        matches = near.draw(chosen, pool, starts, counts, own, rng)
    place = rng.integers((len(pool) - counts[own])[:, None], size=(n, n_mismatches))
    mismatches = pool[np.where(place < starts[own][:, None], place, place + counts[own][:, None])]
    return Comparisons(chosen, matches, mismatches)


class NearMatches(NamedTuple):
    """Draws matches among the nearest rows of the same class."""

    cases: Array
    n_near: int

    def draw(
        self, chosen: Indices, pool: Indices, starts: Indices, counts: Indices, own: Indices, rng: np.random.Generator
    ) -> Indices:
        """One of the nearest others of its class for each chosen row."""
        matches = np.empty_like(chosen)
        for code in np.unique(own):
            members, asking = pool[starts[code] : starts[code] + counts[code]], np.flatnonzero(own == code)
            search = ExactSearch(DiagonalMetric(np.ones(self.cases.shape[1])), self.cases[members])
            rows, back = np.unique(chosen[asking], return_inverse=True)
            exclude = np.where(np.isin(rows, members), np.searchsorted(members, rows), -1)
            k = min(self.n_near, len(members) - int((exclude >= 0).any()))
            nearest = members[search.find(self.cases[rows], k, exclude)[1]]
            matches[asking] = nearest[back, rng.integers(k, size=len(asking))]
        return matches


def checked_triplets(triplets: ArrayLike, n_rows: int) -> Indices:
    """Triplets (instance, match, mismatch) of three different rows each."""
    given = np.asarray(triplets)
    if given.ndim != 2 or given.shape[1:] != (3,) or not len(given) or given.dtype.kind not in "iu":
        raise ValueError(
            "triplets must be a table of whole numbers with the three columns instance, match and mismatch, "
            f"got shape {given.shape} of {given.dtype} instead."
        )
    if given.min() < 0 or given.max() >= n_rows:
        raise ValueError(f"triplets must hold row numbers from 0 to {n_rows - 1}, got {given.min()} to {given.max()}.")
    x, y, z = given.T
    if (wrong := np.flatnonzero((x == y) | (x == z) | (y == z))).size:
        raise ValueError(
            f"triplets must name three different rows, but triplet {wrong[0]} is {given[wrong[0]].tolist()}. Drop it."
        )
    return given.astype(np.intp)


def compare_by_triplets(
    triplets: Indices, n_rows: int, share: float, n: int | None, n_mismatches: int, rng: np.random.Generator
) -> tuple[Comparisons, Comparisons]:
    """The triplets to learn from, and comparisons to judge by: the other instances, each with random mismatches.

    These are drawn from the rows not given as matches of their instance; where all are, the given mismatch stays.
    """
    instances = rng.permutation(np.unique(triplets[:, 0]))
    judging = np.isin(triplets[:, 0], instances[: max(1, round(share * len(instances)))])
    if judging.all():
        judging = rng.permutation(len(triplets)) < max(1, share * len(triplets))
    x, y, z = triplets[judging].T
    picked = np.resize(rng.permutation(len(x)), n or len(x))
    x, y, mismatches = x[picked], y[picked], np.repeat(z[picked][:, None], n_mismatches, axis=1)
    taken = np.unique(triplets[:, 0] * n_rows + triplets[:, 1])
    missing = np.ones(mismatches.shape, dtype=bool)
    for _ in range(MISMATCH_DRAWS):
        drawn = rng.integers(n_rows, size=mismatches.shape)
        missing_here = np.isin(x[:, None] * n_rows + drawn, taken) | (drawn == x[:, None])
        mismatches = np.where(missing & ~missing_here, drawn, mismatches)
        missing &= missing_here
        if not missing.any():
            break
    learning = triplets if judging.all() else triplets[~judging]
    return Comparisons(learning[:, 0], learning[:, 1], learning[:, 2:]), Comparisons(x, y, mismatches)
