"""From cases to a metric for each of them: common weights first, then what every case adds of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from whynear.learn.lann.choice import Choice, Split, affordable, choose, grid, holds_up, most_epochs, splits_of
from whynear.learn.lann.training import EXACT_LISTS, Rule, School, local_lists, local_metric, recall_of_lists, unit_of
from whynear.learn.lmnn.large_margin import Settings, Start, learn_map
from whynear.learn.solvers import Callback, Step
from whynear.search import NeighborSearch
from whynear.search.near_lists import neighborly_order
from whynear.utils.arrays import Array, Indices

SHARED = tuple(Choice(None, step, beta, 0.0) for beta in (1.0, 3.0) for step in (0.01, 0.03))
LOCAL = tuple(
    Choice(None, step, beta, decay) for decay in (0.0, 0.03) for step, beta in ((0.1, 0.3), (0.3, 0.3), (0.3, 1.0))
)
MARGIN_ITERATIONS = 100  # of the map that a low-rank form starts from
ENOUGH_RECALL = 0.9  # of them in the lists; with less, lists are made anew half-way


@dataclass(frozen=True)
class Plan:
    """What the user settled; None for what is to be chosen."""

    rule: Rule
    shared: dict[str, Any]
    local: dict[str, Any]
    n_components: int | None
    n_candidates: int
    most_trials: int | None = None  # of the settings proposed

    @property
    def chooses(self) -> bool:
        """Whether anything is left to choose."""
        return _is_open(self.shared) or _is_open(self.local)


def _is_open(given: dict[str, Any]) -> bool:
    """Whether a setting is to be chosen: none is where nothing is to be learned."""
    return None in given.values() and given["epochs"] != 0


@dataclass(frozen=True)
class Learned:
    """Metrics ``lam`` of cases whose columns are multiplied by ``factors``, and how they came about."""

    factors: Array
    start: Array
    lam: Array
    shared: Choice
    local: Choice
    recall: float
    loss_curve: list[float]


def learn_locally(
    X: Array, codes: Indices, plan: Plan, *, seed: int, watch: Callback, n_jobs: int | None = None
) -> Learned:
    """Choose what is not settled on held-out cases, then learn from all of them; many cases in a neighbourly order."""
    if len(X) <= EXACT_LISTS:
        return _learn_in_order(X, codes, plan, seed, watch, n_jobs)
    order = neighborly_order(X, seed)
    learned = _learn_in_order(X[order], codes[order], plan, seed, watch, n_jobs)
    return replace(learned, lam=learned.lam[np.argsort(order)])


def _learn_in_order(X: Array, codes: Indices, plan: Plan, seed: int, watch: Callback, n_jobs: int | None) -> Learned:
    k, curve = plan.rule.n_neighbors, _Curve(watch)
    splits = splits_of(codes, seed) if plan.chooses else []
    first, unit = School.of(X - X.mean(axis=0), codes, k, plan.n_candidates, seed, n_jobs)
    splits, plan = _within_budget(first, splits, plan)
    shared = _shared_choice(first, splits, plan, seed, n_jobs)
    stretch = _shared_weights(first, np.arange(len(X)), shared, plan.rule, seed, curve)
    school, second = first.stretched(stretch, k, seed, n_jobs)
    stretched = [
        replace(school, X=first.X * _shared_weights(first, taught, shared, plan.rule, seed) / second)
        for taught, _ in splits
    ]
    start = _start(school, plan.n_components, k)
    local = _local_choice(school, stretched, splits, start, plan, seed, n_jobs)
    lam, recall = _local_metrics(school, start, local, plan.rule, seed, curve)
    return Learned(stretch / (unit * second), start, lam, shared, local, recall, curve.losses)


def _within_budget(school: School, splits: list[Split], plan: Plan) -> tuple[list[Split], Plan]:
    """As many splits and trials as can be tried in time."""
    sides = [(plan.shared, SHARED, 1), (plan.local, LOCAL, plan.n_components or 1)]
    grids = [(grid(given, proposals), rank) for given, proposals, rank in sides if _is_open(given)]
    if not splits or not grids:
        return splits, plan
    n_trials = max(len(trials) for trials, _ in grids)
    products = school.lists.size * school.X.shape[1] * max(most_epochs(trials) * rank for trials, rank in grids)
    splits, most = affordable(splits, n_trials, products)
    return splits, replace(plan, most_trials=most)


class _Curve:
    """The loss of each epoch, told to whoever watches."""

    def __init__(self, watch: Callback) -> None:
        self.losses: list[float] = []
        self.watch = watch

    def add(self, loss: float) -> None:
        self.losses.append(loss)
        self.watch(Step(len(self.losses), loss))


def _start(school: School, n_components: int | None, k: int) -> Array:
    """Ones, or a map with large margins between the classes: few directions of the data would lose what matters."""
    if n_components is None:
        return np.ones(school.X.shape[1])
    init: Start = "identity" if n_components == school.X.shape[1] else "pca"
    settings = Settings(k, n_components, init, 0.5, 1.0, 1, MARGIN_ITERATIONS, 1e-3, None)
    omega, _ = learn_map(school.X, school.codes, settings, lambda _step: None)
    unit = unit_of(school.X @ omega.T, school.lists, k)
    return omega / unit


def _shared_choice(school: School, splits: Sequence[Split], plan: Plan, seed: int, n_jobs: int | None) -> Choice:
    trials = grid(plan.shared, SHARED)[: plan.most_trials]
    if not _is_open(plan.shared) or not splits:
        return replace(trials[0], epochs=trials[0].epochs or 0)
    own, start = np.zeros(len(school), dtype=np.intp), np.ones(school.X.shape[1])
    return choose([school] * len(splits), splits, own, start, trials, plan.rule, seed=seed, n_jobs=n_jobs)


def _local_choice(
    school: School,
    stretched: Sequence[School],
    splits: Sequence[Split],
    start: Array,
    plan: Plan,
    seed: int,
    n_jobs: int | None,
) -> Choice:
    trials = grid(plan.local, LOCAL)[: plan.most_trials]
    if not _is_open(plan.local) or not splits:
        return replace(trials[0], epochs=trials[0].epochs or 0)
    own = np.arange(len(school))
    choice = choose(stretched, splits, own, start, trials, plan.rule, seed=seed, n_jobs=n_jobs)
    chosen = plan.local["epochs"] is None and bool(choice.epochs)
    if chosen and not holds_up(stretched, splits, start, choice, plan.rule, seed):
        return replace(choice, epochs=0)
    return choice


def _shared_weights(
    school: School, taught: Indices, choice: Choice, rule: Rule, seed: int, curve: _Curve | None = None
) -> Array:
    """Factors of the columns that are the same for all cases, learned from some of them."""
    rng, own = np.random.default_rng(seed), np.zeros(len(school), dtype=np.intp)
    start = np.ones(school.X.shape[1])
    lam, active = start[None].copy(), np.zeros(len(school), dtype=bool)
    active[taught] = True
    for _ in range(choice.epochs or 0):
        loss = school.teach(rng.permutation(taught), own, lam, start, active, choice.rule(rule))
        if curve is not None:
            curve.add(loss)
    return lam[0]


def _local_metrics(
    school: School, start: Array, choice: Choice, rule: Rule, seed: int, curve: _Curve
) -> tuple[Array, float]:
    """The metric of each case, and the share of true neighbours that stood in the lists at the end."""
    n, k, rng = len(school), rule.n_neighbors, np.random.default_rng(seed)
    own, active, lam = np.arange(n), np.ones(n, dtype=bool), np.repeat(start[None], n, axis=0)

    def recall() -> float:
        return recall_of_lists(NeighborSearch(local_metric(school.X, lam)), school.lists, k, seed)

    epochs = choice.epochs or 0
    for epoch in range(epochs):
        if epoch and epoch == epochs // 2 and recall() < ENOUGH_RECALL:
            school = replace(school, lists=local_lists(local_metric(school.X, lam), school.lists.shape[1], seed))
        curve.add(school.teach(rng.permutation(n), own, lam, start, active, choice.rule(rule)))
    return lam, recall()
