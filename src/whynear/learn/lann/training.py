"""Teaching anchors their metrics: the case-by-case rule over lists of candidates, in pieces that can be interrupted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from threading import Event
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from whynear.learn.lann import objective as lann
from whynear.metric import DiagonalMetric, LocalMetric
from whynear.search import CandidateSearch, NeighborSearch
from whynear.search.near_lists import near_lists
from whynear.utils.arrays import Array, Indices
from whynear.utils.threads import n_threads, row_blocks

EXACT_LISTS = 30_000  # cases; for more, the lists are approximate
AT_ONCE = 4_000_000  # products in one compiled call: well under 0.2 s
STILL_GOOD = 0.95  # share of the true neighbours in lists that are kept when columns are stretched
ASKED = 200  # cases whose true neighbours are looked for in the lists
SEARCHED_AT_ONCE = 200_000_000  # products of a thread in one call of the search


@dataclass(frozen=True)
class Rule:
    """How a step is made; see the parameters of LANN."""

    n_neighbors: int
    n_classes: int
    beta: float
    step: float
    decay: float
    constraint: lann.Constraint
    low: float
    high: float

    @property
    def of_a_step(self) -> tuple[int, float, float, float, int, float, float]:
        """What the compiled rule takes, in its order."""
        return self.n_classes, self.beta, self.step, self.decay, self.constraint, self.low, self.high


@dataclass(frozen=True)
class School:
    """Cases that teach and are taught, scaled so that the k-th neighbour is typically at distance one.

    ``lists`` holds the candidates for the neighbours of each case.
    """

    X: Array
    codes: Indices
    lists: Indices

    @classmethod
    def of(
        cls, X: Array, codes: Indices, k: int, n_candidates: int, seed: int, n_jobs: int | None = None
    ) -> tuple[Self, float]:
        """The cases divided by one number, and that number."""
        return cls(X, codes, candidate_lists(X, n_candidates, seed, n_jobs))._scaled(k)

    def stretched(self, factors: Array, k: int, seed: int, n_jobs: int | None = None) -> tuple[Self, float]:
        """The cases with their columns multiplied, divided by one number, and that number.

        Lists are made anew where they would miss too many of the neighbours: making them takes most of the time.
        """
        X, lists = self.X * factors, self.lists
        if recall_of_lists(NeighborSearch(DiagonalMetric(np.ones(X.shape[1])), X), lists, k, seed) < STILL_GOOD:
            lists = candidate_lists(X, lists.shape[1], seed, n_jobs)
        return replace(self, X=X, lists=lists)._scaled(k)

    def _scaled(self, k: int) -> tuple[Self, float]:
        unit = unit_of(self.X, self.lists, k)
        return replace(self, X=self.X / unit), unit

    def __len__(self) -> int:
        return len(self.X)

    def teach(
        self,
        order: Indices,
        own: Indices,
        lam: Array,
        start: Array,
        active: NDArray[np.bool_],
        rule: Rule,
        stop: Event | None = None,
    ) -> float:
        """Show cases in this order, once, until stopped; ``lam`` moves. The mean of their losses."""
        total = 0.0
        for part in self._parts(order, lam):
            if stop is not None and stop.is_set():
                break
            total += lann.learn(
                part, self.X, self.codes, self.lists, own, lam, start, active, rule.n_neighbors, *rule.of_a_step
            )
        return total / max(1, len(order))

    def judge(self, cases: Indices, own: Indices, lam: Array, active: NDArray[np.bool_], rule: Rule) -> Judgement:
        """How well each case is predicted by its active neighbours."""
        right, losses = np.empty(len(cases), dtype=bool), np.empty(len(cases))
        done = 0
        for part in self._parts(cases, lam):
            to = slice(done, done + len(part))
            lann.judge(
                part, self.X, self.codes, self.lists, own, lam, active, rule.n_neighbors, rule.n_classes, rule.beta,
                right[to], losses[to],
            )  # fmt: skip
            done += len(part)
        return Judgement(right, losses)

    def _parts(self, cases: Indices, lam: Array) -> list[Indices]:
        work = self.lists.shape[1] * int(np.prod(lam.shape[1:]))
        return np.array_split(cases, max(1, len(cases) * work // AT_ONCE)) if len(cases) else []


class Judgement(NamedTuple):
    """Whether cases are predicted right, and their losses."""

    right: NDArray[np.bool_]
    losses: Array


def candidate_lists(X: Array, n_candidates: int, seed: int, n_jobs: int | None = None) -> Indices:
    """The nearest other cases of each case: all of them, or ``n_candidates``; an interrupt is answered at once."""
    n = len(X)
    length = min(n_candidates, n - 1)
    if n > EXACT_LISTS:
        return near_lists(X, length, seed, n_jobs)
    threads = n_threads(n_jobs)
    search = NearestNeighbors(n_neighbors=length + 1, algorithm="brute", n_jobs=threads).fit(X)
    found = np.empty((n, length + 1), dtype=np.intp)
    with threadpool_limits(threads):
        for rows in row_blocks(n, row_bytes=X.size, budget=SEARCHED_AT_ONCE * threads):
            found[rows] = search.kneighbors(X[rows], return_distance=False)
    itself = found == np.arange(n)[:, None]
    itself[~itself.any(axis=1), -1] = True  # pushed out by copies of it
    return np.ascontiguousarray(found[~itself].reshape(n, length), dtype=np.intp)


def unit_of(X: Array, lists: Indices, k: int) -> float:
    """The typical distance to the k-th neighbour, among those that are not zero."""
    columns = [min(k, lists.shape[1]) - 1, lists.shape[1] - 1]
    for column in columns:
        sq = np.square(X - X[lists[:, column]]).sum(axis=1)
        if (sq > 0).any():
            return float(np.sqrt(np.median(sq[sq > 0])))
    return 1.0


def local_metric(anchors: Array, lam: Array, names: tuple[str, ...] | None = None) -> LocalMetric:
    """The metrics as a value."""
    maps = {"weights": np.square(lam)} if lam.ndim == 2 else {"omegas": lam}
    return LocalMetric(anchors, **maps, feature_names=names)


def local_lists(metric: LocalMetric, n_candidates: int, seed: int) -> Indices:
    """The nearest other anchors of each anchor, each by its own metric."""
    if len(metric) > EXACT_LISTS:
        return CandidateSearch(metric, n_candidates=n_candidates, random_state=seed).lists
    return NeighborSearch(metric).nearest(metric.anchors, n_candidates, exclude=np.arange(len(metric)))[1]


def recall_of_lists(search: NeighborSearch, lists: Indices, k: int, seed: int) -> float:
    """The share of the true k nearest other cases, of some of the searched ones, that stand in their lists."""
    asked = np.sort(np.random.default_rng(seed).permutation(len(lists))[:ASKED])
    _, true = search.nearest(search.cases[asked], k, exclude=asked)
    return float(np.mean((true[:, :, None] == lists[asked][:, None, :]).any(axis=2)))
