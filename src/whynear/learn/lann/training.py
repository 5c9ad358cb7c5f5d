"""Training local weights over lists of candidates."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from threading import Event
from typing import Self

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from whynear.learn.lann import objective as lann
from whynear.metric import DiagonalMetric, LocalMetric
from whynear.search import CandidateSearch
from whynear.search.approximate import near_lists
from whynear.search.exact import ExactSearch
from whynear.utils.arrays import Array, Indices
from whynear.utils.threads import openmp_threads, row_blocks

EXACT_LIST_CASES = 30_000  # for more cases, the lists are approximate
RECALL_CASES = 200  # whose true neighbours are looked for in their lists
SEARCH_PRODUCTS_AT_ONCE = 200_000_000  # of a thread in one call of the search


def candidate_lists(
    X: Array, n_candidates: int, seed: int, n_jobs: int | None = None, known: Indices | None = None
) -> Indices:
    """The nearest other cases of each case: all of them, or ``n_candidates``; an interrupt ends it at once.

    Approximate lists are improved ones, where lists that hold most of the nearest are known.
    """
    n = len(X)
    length = min(n_candidates, n - 1)
    if n > EXACT_LIST_CASES:
        return near_lists(X, length, seed, n_jobs, known)
    threads = openmp_threads(n_jobs)
    search = NearestNeighbors(n_neighbors=length + 1, algorithm="brute", n_jobs=threads).fit(X)
    found = np.empty((n, length + 1), dtype=np.intp)
    with threadpool_limits(threads):
        for rows in row_blocks(n, row_bytes=X.size, budget=SEARCH_PRODUCTS_AT_ONCE * threads):
            found[rows] = search.kneighbors(X[rows], return_distance=False)
    itself = found == np.arange(n)[:, None]
    itself[~itself.any(axis=1), -1] = True  # pushed out by copies of it
    return np.ascontiguousarray(found[~itself].reshape(n, length), dtype=np.intp)


def local_lists(metric: LocalMetric, n_candidates: int, seed: int) -> Indices:
    """The nearest other anchors of each anchor, each by its own metric."""
    if len(metric) > EXACT_LIST_CASES:
        return CandidateSearch(metric, n_candidates=n_candidates, random_state=seed).lists
    return ExactSearch(metric, metric.anchors).find(metric.anchors, n_candidates, np.arange(len(metric)))[1]


def recall_of_lists(search: ExactSearch, lists: Indices, k: int, seed: int) -> float:
    """The share of the true k nearest other cases, of some of the searched ones, that stand in their lists."""
    some = np.sort(np.random.default_rng(seed).permutation(len(lists))[:RECALL_CASES])
    _, true = search.find(search.cases[some], k, some)
    return float(np.mean((true[:, :, None] == lists[some][:, None, :]).any(axis=2)))


def unit_of(X: Array, lists: Indices, k: int) -> float:
    """The typical distance to the k-th neighbour, among those that are not zero."""
    columns = [min(k, lists.shape[1]) - 1, lists.shape[1] - 1]
    for column in columns:
        sq = np.square(X - X[lists[:, column]]).sum(axis=1)
        if (sq > 0).any():
            return float(np.sqrt(np.median(sq[sq > 0])))
    return 1.0


PRODUCTS_AT_ONCE = 4_000_000  # in one compiled call: well under 0.2 s
LARGE_TABLE_CASES, BLOCK_CASES = 30_000, 2_000
SHARED_CASES = 100_000  # in an epoch of one metric for all cases, which learns little from more
RECALL_TO_KEEP_LISTS = 0.95  # when columns are stretched: the share of the true neighbours in the lists
RECALL_TO_IMPROVE_LISTS = 0.9  # with less, they are made anew


@dataclass(frozen=True)
class StepRule:
    """How a step is made; see the parameters of LANN."""

    n_neighbors: int
    n_classes: int
    beta: float
    step: float
    decay: float
    constraint: lann.Constraint
    low: float
    high: float

    @cached_property
    def compiled(self) -> lann.Rule:
        """The rule as a tuple for the compiled code, always with the same types."""
        beta, step, decay, low, high = map(float, (self.beta, self.step, self.decay, self.low, self.high))
        return self.n_classes, beta, step, decay, int(self.constraint), low, high


@dataclass(frozen=True)
class Schedule:
    """How metrics are trained: for how many epochs, with which step, steepness and decay.

    No epochs: not at all. None for their number: to be chosen.
    """

    epochs: int | None
    step: float
    beta: float
    decay: float

    def applied_to(self, rule: StepRule) -> StepRule:
        """The rule with these settings."""
        return replace(rule, step=self.step, beta=self.beta, decay=self.decay)


@dataclass(frozen=True)
class TrainingCases:
    """Labelled cases, scaled so that the k-th neighbour is typically at distance one.

    ``lists`` holds the candidates for the neighbours of each case, and ``weights`` how much its loss counts.
    """

    X: Array
    codes: Indices
    weights: Array
    lists: Indices

    @classmethod
    def of(
        cls, X: Array, codes: Indices, weights: Array, k: int, n_candidates: int, seed: int, n_jobs: int | None = None
    ) -> tuple[Self, float]:
        """The cases divided by one number, and that number."""
        return cls(X, codes, weights, candidate_lists(X, n_candidates, seed, n_jobs))._scaled(k)

    def stretched(self, factors: Array, k: int, seed: int, n_jobs: int | None = None) -> tuple[Self, float]:
        """The cases with their columns multiplied, divided by one number, and that number.

        Lists are improved, or made anew, where they would miss too many of the neighbours: making them takes most of
        the time.
        """
        X, lists = self.X * factors, self.lists
        search = ExactSearch(DiagonalMetric(np.ones(X.shape[1])), X)
        recall = recall_of_lists(search, lists, k, seed)
        if recall < RECALL_TO_KEEP_LISTS:
            known = lists if recall >= RECALL_TO_IMPROVE_LISTS else None
            lists = candidate_lists(X, lists.shape[1], seed, n_jobs, known)
        return replace(self, X=X, lists=lists)._scaled(k)

    def among(self, rows: Indices) -> Self:
        """The cases with lists in which only these rows stand, first: those of many cases stay as they are.

        Their neighbours among these rows are the same, and found in less time.
        """
        if len(self) >= LARGE_TABLE_CASES or len(rows) == len(self):
            return self
        wanted = np.zeros(len(self) + 1, dtype=bool)  # the last place is that of -1, no case
        wanted[rows] = True
        kept = wanted[self.lists]
        order = np.argsort(~kept, axis=1, kind="stable")
        return replace(self, lists=np.take_along_axis(np.where(kept, self.lists, -1), order, axis=1))

    def _scaled(self, k: int) -> tuple[Self, float]:
        unit = unit_of(self.X, self.lists, k)
        return replace(self, X=self.X / unit), unit

    def __len__(self) -> int:
        return len(self.X)


class Training:
    """Metrics while they are trained on some rows of the cases: one for all cases, or one for each.

    ``lam`` holds them; see the objective.
    """

    def __init__(
        self, cases: TrainingCases, rows: Indices, start: Array, rule: StepRule, *, seed: int, shared: bool
    ) -> None:
        self.cases, self.rows, self.start, self.rule = cases, rows, start, rule
        self.own = np.zeros(len(cases), dtype=np.intp) if shared else np.arange(len(cases))
        self.lam = np.repeat(start[None], 1 if shared else len(cases), axis=0)
        self.active = np.zeros(len(cases), dtype=bool)
        self.active[rows] = True
        self.rng = np.random.default_rng(seed)

    def train_epoch(self, stop: Event | None = None) -> float:
        """Take a step for each row, in random order, until stopped; the weighted mean of their losses."""
        order = self._random_order()
        return self._train(order, stop) / (float(self.cases.weights[order].sum()) or 1.0)

    def train_epochs(self, n_epochs: int, stop: Event | None = None) -> None:
        """Take the steps of several epochs."""
        for _ in range(n_epochs):
            self._train(self._random_order(), stop)

    def _train(self, order: Indices, stop: Event | None) -> float:
        """Take the steps of these rows; the weighted sum of their losses."""
        total, cases, rule = 0.0, self.cases, self.rule
        for part in self._parts(order):
            if stop is not None and stop.is_set():
                break
            total += lann.learn_cases(
                part, cases.X, cases.codes, cases.weights, cases.lists, self.own, self.lam, self.start, self.active,
                rule.n_neighbors, rule.compiled,
            )  # fmt: skip
        return total

    def _random_order(self) -> Indices:
        """The rows of an epoch in random order; in large tables block by block, so that memory is read faster.

        The cases of a block are near each other. Blocks may come in any order, because distant cases do not move the
        same metrics; a metric that all cases share is moved by all of them.
        """
        if len(self.lam) == 1:
            return self.rng.permutation(self.rows)[:SHARED_CASES]
        if len(self.rows) < LARGE_TABLE_CASES:
            return self.rng.permutation(self.rows)
        blocks = np.array_split(self.rows, len(self.rows) // BLOCK_CASES)
        return np.concatenate([self.rng.permutation(blocks[b]) for b in self.rng.permutation(len(blocks))])

    def held_out_correct(self, held_out: Indices) -> NDArray[np.bool_]:
        """Which held-out cases their neighbours among the trained rows predict correctly."""
        correct, done, cases = np.empty(len(held_out), dtype=bool), 0, self.cases
        for part in self._parts(held_out):
            lann.predicted_correctly(
                part, cases.X, cases.codes, cases.lists, self.own, self.lam, self.active, self.rule.n_neighbors,
                correct[done : done + len(part)],
            )  # fmt: skip
            done += len(part)
        return correct

    def metric(self, rows: Indices | slice = slice(None)) -> LocalMetric:
        """The metrics of these cases as a value, where each case has its own."""
        return local_metric(self.cases.X[rows], self.lam[rows])

    def _parts(self, rows: Indices) -> list[Indices]:
        n_parts = len(rows) * self.cases.lists.shape[1] * (self.lam.size // len(self.lam)) // PRODUCTS_AT_ONCE
        if n_parts <= 1:
            return [rows] if len(rows) else []
        return np.array_split(rows, n_parts)


def train_stream(
    X: Array,
    codes: Indices,
    weights: Array,
    lam: Array,
    start: Array,
    n_known: int,
    window: int,
    rule: StepRule,
    n_neighbors: int,
) -> float:
    """Take a step for each row after the known ones, among the ``window`` rows before it; the sum of their losses."""
    total, at_once = 0.0, max(1, PRODUCTS_AT_ONCE // lam[:1].size // len(X))
    for first in range(n_known, len(X), at_once):
        last = min(first + at_once, len(X))
        total += lann.learn_stream(first, last, window, X, codes, weights, lam, start, n_neighbors, rule.compiled)
    return total


def local_metric(anchors: Array, lam: Array, names: tuple[str, ...] | None = None) -> LocalMetric:
    """The metrics as a value."""
    maps = {"weights": np.square(lam)} if lam.ndim == 2 else {"omegas": lam}
    return LocalMetric(anchors, **maps, feature_names=names)
