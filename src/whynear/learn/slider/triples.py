"""Triples of rows to be ranked, and the task that they make."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whynear.learn.slider import objective as slider
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


SPREAD_PAIRS = 2_000  # random pairs of rows that measure how much a column varies


def spreads(X: Array, p: int, rng: np.random.Generator) -> Array:
    """The typical difference of each column, (mean |x - y|^p)^(1/p), by random pairs of rows; zero if constant."""
    first, second = rng.integers(len(X), size=(2, SPREAD_PAIRS))
    width = np.ptp(X, axis=0)
    unit = np.where(width > 0, width, 1.0)
    typical = np.mean(np.abs((X[first] - X[second]) / unit) ** p, axis=0) ** (1 / p)
    return width * np.where(typical > 0, typical, 1.0)


@dataclass(frozen=True)
class RankingTask:
    """The data of a search for weights: columns are divided by their units, and weights become shares of a distance.

    Attributes
    ----------
    columns : ndarray of shape (n_features, n_rows)
        The columns in their units.
    log_units : ndarray of shape (n_features,)
        The logarithms of |unit|^p, minus infinity for constant columns.
    triples, judges : Comparisons
        What proposes weights, and what decides between them.
    n_mismatches : int
        The size of one set of mismatches: ranks go from one to it plus one.
    p : int
        The order of the distance.
    """

    columns: Array
    log_units: Array
    triples: Comparisons
    judges: Comparisons
    n_mismatches: int
    p: int

    @classmethod
    def of(
        cls, X: Array, units: Array, triples: Comparisons, judges: Comparisons, n_mismatches: int, p: int
    ) -> RankingTask:
        """The task on a table whose columns vary by ``units``."""
        with np.errstate(divide="ignore"):
            log_units = p * np.log(units)
        columns = np.ascontiguousarray((X / np.where(units > 0, units, 1.0)).T)
        return cls(columns, log_units, triples, judges, n_mismatches, p)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.columns)

    @property
    def varies(self) -> NDArray[np.bool_]:
        """Which columns are not constant."""
        return np.isfinite(self.log_units)

    def shares_of(self, weights: Array) -> Array:
        """Shares of the distance, summing to one, for weights of the original columns."""
        with np.errstate(divide="ignore"):
            return _normalised(np.log(weights) + self.log_units)

    def weights_of(self, shares: Array) -> Array:
        """Weights of the original columns, summing to one; zero for constant columns."""
        if not self.varies.any():
            return np.full(self.n_features, 1.0 / self.n_features)
        with np.errstate(divide="ignore", invalid="ignore"):
            return _normalised(np.where(self.varies, np.log(shares) - self.log_units, -np.inf))

    def margins(self, shares: Array, comparisons: Comparisons) -> Array:
        """How much farther each mismatch is than the match."""
        margin = np.empty(comparisons.mismatches.shape)
        slider.margins(self.columns, *comparisons, self.p, shares, margin)
        return margin

    def nearer(self, shares: Array) -> float:
        """The share of mismatches nearer than the match, among the judges."""
        margin = self.margins(shares, self.judges)
        return float(slider.nearer_share(margin, 1.0, margin, 0.0)) if margin.size else 0.0

    def mean_rank(self, nearer: float) -> float:
        """The mean rank of the match among one set of mismatches, equally near ones counted half."""
        return 1.0 + self.n_mismatches * nearer


def _normalised(logs: Array) -> Array:
    peak = logs.max()
    values: NDArray[Any] = np.exp(logs - peak) if np.isfinite(peak) else np.ones_like(logs)
    return values / values.sum()
