"""Fitting of a metric for each case: common weights first, then the metric of each case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from whynear.learn.lann.candidates import EXACT_LIST_CASES, local_lists, recall_of_lists, unit_of
from whynear.learn.lann.choice import Split, affordable, choose_schedule, grid, holds_among_all, most_epochs, splits_of
from whynear.learn.lann.training import Schedule, StepRule, Training, TrainingCases
from whynear.learn.lmnn.large_margin import Settings, Start, learn_map
from whynear.learn.solvers import Callback, Step
from whynear.search.exact import ExactSearch
from whynear.search.near_lists import neighborly_order
from whynear.utils.arrays import Array, Indices
from whynear.utils.row_order import TimeOrder

SHARED_TRIALS = tuple(Schedule(None, step, beta, 0.0) for beta in (1.0, 3.0) for step in (0.01, 0.03))
LOCAL_TRIALS = tuple(
    Schedule(None, step, beta, decay) for decay in (0.0, 0.03) for step, beta in ((0.1, 0.3), (0.3, 0.3), (0.3, 1.0))
)
MARGIN_ITERATIONS = 100  # of the map that a low-rank form starts from
RECALL_TO_KEEP_LISTS = 0.9  # half-way: with less, lists are made anew by the metrics trained so far


@dataclass(frozen=True)
class FitSettings:
    """The settings given by the user; None for those to choose."""

    rule: StepRule
    shared: dict[str, Any]
    local: dict[str, Any]
    n_components: int | None
    n_candidates: int


@dataclass(frozen=True)
class FittedMetrics:
    """Metrics ``lam`` of cases whose columns are multiplied by ``factors``, and how they were trained."""

    factors: Array
    start: Array
    lam: Array
    shared: Schedule
    local: Schedule
    recall: float
    loss_curve: list[float]


def fit_local_metrics(
    X: Array,
    codes: Indices,
    weights: Array,
    settings: FitSettings,
    *,
    seed: int,
    watch: Callback,
    n_jobs: int | None = None,
    groups: Indices | TimeOrder | None = None,
) -> FittedMetrics:
    """Choose the open settings on held-out cases, then train on all; many cases are first sorted by nearness.

    The weights of cases are above zero, and only their ratios count.
    """
    weights = weights / weights.mean()
    if len(X) <= EXACT_LIST_CASES:
        return _fit_in_order(X, codes, weights, groups, settings, seed, watch, n_jobs)
    order = neighborly_order(X, seed)
    in_order = None if groups is None else groups[order]
    fitted = _fit_in_order(X[order], codes[order], weights[order], in_order, settings, seed, watch, n_jobs)
    return replace(fitted, lam=fitted.lam[np.argsort(order)])


def _fit_in_order(
    X: Array,
    codes: Indices,
    weights: Array,
    groups: Indices | TimeOrder | None,
    settings: FitSettings,
    seed: int,
    watch: Callback,
    n_jobs: int | None,
) -> FittedMetrics:
    rule, curve, centred = settings.rule, LossCurve(watch), X - X.mean(axis=0)
    cases, unit = TrainingCases.of(centred, codes, weights, rule.n_neighbors, settings.n_candidates, seed, n_jobs)
    trials = _affordable_trials(cases, groups, settings, seed)

    shared = _choose_shared(cases, trials, rule, seed, n_jobs)
    factors = _train_shared(cases, np.arange(len(X)), shared, rule, seed, curve)
    stretched, second_unit = cases.stretched(factors, rule.n_neighbors, seed, n_jobs)

    start = _start(stretched, settings.n_components, rule.n_neighbors)
    by_split = [
        replace(stretched, X=cases.X * _train_shared(cases, rows, shared, rule, seed) / second_unit)
        for rows, _ in (trials.splits if trials.chooses_local else ())
    ]
    local = _choose_local(by_split, trials, start, rule, seed, n_jobs)
    lam, recall = train_local(stretched, start, local, rule, seed, curve)
    return FittedMetrics(factors / (unit * second_unit), start, lam, shared, local, recall, curve.losses)


class LossCurve:
    """The loss of each epoch, passed on to the callback."""

    def __init__(self, watch: Callback) -> None:
        self.losses: list[float] = []
        self.watch = watch

    def add(self, loss: float) -> None:
        """Note the loss of one more epoch."""
        self.losses.append(loss)
        self.watch(Step(len(self.losses), loss))


# What is tried


@dataclass(frozen=True)
class _Trials:
    """The splits to choose by, and the schedules to try on them: a single one if none is to be chosen."""

    splits: list[Split]
    shared: list[Schedule]
    local: list[Schedule]
    chooses_shared: bool
    chooses_local: bool
    chooses_epochs: bool  # of each case's own metric


def _affordable_trials(
    cases: TrainingCases, groups: Indices | TimeOrder | None, settings: FitSettings, seed: int
) -> _Trials:
    """Return the splits and trials that the budget allows."""
    shared, local = grid(settings.shared, SHARED_TRIALS), grid(settings.local, LOCAL_TRIALS)
    chooses_shared, chooses_local = _is_open(settings.shared), _is_open(settings.local)
    splits = splits_of(cases.codes, seed, groups) if chooses_shared or chooses_local else []
    if splits:
        stages = (shared, 1, chooses_shared), (local, settings.n_components or 1, chooses_local)
        open_trials = [(trials, rank) for trials, rank, chooses in stages if chooses]
        epochs = max(most_epochs(trials) * rank for trials, rank in open_trials)
        n_trials = max(len(trials) for trials, _ in open_trials)
        splits, most = affordable(splits, n_trials, cases.lists.size * cases.X.shape[1] * epochs)
        shared, local = shared[:most], local[:most]
    chooses = bool(splits)
    return _Trials(
        splits, shared, local, chooses and chooses_shared, chooses and chooses_local, settings.local["epochs"] is None
    )


def _is_open(given: dict[str, Any]) -> bool:
    """Whether a setting is to be chosen: none if there is no training."""
    return None in given.values() and given["epochs"] != 0


def _first(trials: Sequence[Schedule]) -> Schedule:
    return replace(trials[0], epochs=trials[0].epochs or 0)


# Common weights


def _choose_shared(cases: TrainingCases, trials: _Trials, rule: StepRule, seed: int, n_jobs: int | None) -> Schedule:
    if not trials.chooses_shared:
        return _first(trials.shared)
    everywhere, start = [cases] * len(trials.splits), np.ones(cases.X.shape[1])
    return choose_schedule(everywhere, trials.splits, start, trials.shared, rule, shared=True, seed=seed, n_jobs=n_jobs)


def _train_shared(
    cases: TrainingCases, rows: Indices, schedule: Schedule, rule: StepRule, seed: int, curve: LossCurve | None = None
) -> Array:
    """Factors of the columns that are the same for all cases, learned from some of them."""
    start = np.ones(cases.X.shape[1])
    training = Training(cases, rows, start, schedule.applied_to(rule), seed=seed, shared=True)
    for _ in range(schedule.epochs or 0):
        loss = training.train_epoch()
        if curve is not None:
            curve.add(loss)
    return training.lam[0]


# The metric of each case


def _start(cases: TrainingCases, n_components: int | None, k: int) -> Array:
    """Return ones, or a map with large margins between the classes, which principal directions could lose."""
    if n_components is None:
        return np.ones(cases.X.shape[1])
    init: Start = "identity" if n_components == cases.X.shape[1] else "pca"
    settings = Settings(k, n_components, init, 0.5, 1.0, 1, MARGIN_ITERATIONS, 1e-3, None)
    omega, _ = learn_map(cases.X, cases.codes, cases.weights, settings, lambda _step: None)
    return omega / unit_of(cases.X @ omega.T, cases.lists, k)


def _choose_local(
    by_split: Sequence[TrainingCases], trials: _Trials, start: Array, rule: StepRule, seed: int, n_jobs: int | None
) -> Schedule:
    """The schedule that helps held-out cases; no epochs where it does not hold among all cases."""
    if not trials.chooses_local:
        return _first(trials.local)
    chosen = choose_schedule(by_split, trials.splits, start, trials.local, rule, shared=False, seed=seed, n_jobs=n_jobs)
    if not (trials.chooses_epochs and chosen.epochs):
        return chosen
    holds = holds_among_all(by_split, trials.splits, start, chosen, rule, seed)
    return chosen if holds else replace(chosen, epochs=0)


def train_local(
    cases: TrainingCases, start: Array, schedule: Schedule, rule: StepRule, seed: int, curve: LossCurve
) -> tuple[Array, float]:
    """The metric of each case, and the share of true neighbours that stood in the lists at the end."""
    training = Training(cases, np.arange(len(cases)), start, schedule.applied_to(rule), seed=seed, shared=False)

    def recall() -> float:
        metric = training.metric()
        search = ExactSearch(metric, metric.anchors)
        return recall_of_lists(search, training.cases.lists, rule.n_neighbors, seed)

    epochs = schedule.epochs or 0
    for epoch in range(epochs):
        if epoch and epoch == epochs // 2 and recall() < RECALL_TO_KEEP_LISTS:
            lists = local_lists(training.metric(), cases.lists.shape[1], seed)
            training.cases = replace(cases, lists=lists)
        curve.add(training.train_epoch())
    return training.lam, recall()
