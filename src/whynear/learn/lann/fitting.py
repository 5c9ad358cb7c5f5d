"""Fitting LANN: a shared diagonal, then deviations of each point, with the steps chosen on inner folds."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from threading import Event
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import RepeatedStratifiedKFold

from whynear.data.rows import TimeOrder, n_different, split_rows
from whynear.learn.lann.objective import SQ_DISTANCE_FLOOR
from whynear.learn.lann.training import (
    EXACT_LIST_CASES,
    Schedule,
    StepRule,
    Training,
    TrainingCases,
    local_lists,
    recall_of_lists,
    unit_of,
)
from whynear.learn.lmnn.large_margin import Settings, Start, learn_map
from whynear.learn.solvers import Callback, Step
from whynear.metric.base import votes_by_class
from whynear.search.approximate import neighborly_order
from whynear.search.exact import ExactSearch
from whynear.utils.arrays import Array, Indices
from whynear.utils.threads import run_in_chunks

Split = tuple[Indices, Indices]  # rows to train on, rows held out

TRIED_EPOCHS = (1, 2, 4, 8, 14, 20)  # after which held-out cases are predicted
HOPELESS_EPOCHS = 8  # after which a trial that is worse than no training ends
N_FOLDS = 5
ENOUGH_PREDICTIONS = 300  # smaller tables are split several times
TWO_SPLITS_ROWS, ONE_SPLIT_ROWS = 2_000, 6_000  # beyond which two splits, or one, are enough
PRODUCTS_BUDGET = 2e9  # products that choosing a schedule may take
VERIFIED_CASES = 2_000  # held-out cases that verify a choice among all cases
CAUTION_ERRORS = 1.0  # standard errors by which a trial must do better than no training


def splits_of(codes: Indices, seed: int, groups: Indices | TimeOrder | None = None) -> list[Split]:
    """Rows to train on and rows held out, classes in proportion and groups together, or later rows held out.

    There is no split where no class has two rows, or where one group has all rows.
    """
    n, largest = len(codes), int(np.bincount(codes).max())
    if largest < 2:
        return []
    folds = min(N_FOLDS, largest)
    repeats = 1 if isinstance(groups, TimeOrder) else int(np.clip(ENOUGH_PREDICTIONS // n, 1, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # raised for classes with fewer rows than folds
        if groups is None:
            splitter = RepeatedStratifiedKFold(n_splits=folds, n_repeats=repeats, random_state=seed)
            splits = list(splitter.split(codes, codes))
        else:
            seeds = [(seed + repeat) % 2**32 for repeat in range(repeats if n_different(groups) > 1 else 0)]
            splits = [s for each in seeds for s in split_rows(codes, folds, each, stratified=True, groups=groups)]
    if n > TWO_SPLITS_ROWS:
        splits = splits[: 2 if n <= ONE_SPLIT_ROWS else 1]
    return splits


def affordable(splits: list[Split], n_trials: int, work: float) -> tuple[list[Split], int]:
    """The splits and the number of trials for which the budget is enough, ``work`` being that of a trial on a split.

    Splits are repeated less at first, then there are two of them, then one, and at last only the first two trials.
    """
    for most in (len(splits), N_FOLDS, 2, 1):
        if min(most, len(splits)) * n_trials * work <= PRODUCTS_BUDGET:
            return splits[:most], n_trials
    return splits[:1], min(2, n_trials)


def grid(given: dict[str, Any], proposals: Sequence[Schedule]) -> list[Schedule]:
    """Return the proposals with the values given by the user, each once."""
    settled = {name: value for name, value in given.items() if value is not None}
    return list(dict.fromkeys(replace(proposal, **settled) for proposal in proposals))


def choose_schedule(
    cases: Sequence[TrainingCases],
    splits: Sequence[Split],
    start: Array,
    trials: Sequence[Schedule],
    rule: StepRule,
    *,
    shared: bool,
    seed: int,
    n_jobs: int | None,
) -> Schedule:
    """The trial, and the number of its epochs, after which most held-out cases, by weight, are predicted correctly.

    It must be better than no training by CAUTION_ERRORS standard errors of the difference, in which only the cases
    count that one of the two predicts wrong. Of equally good ones the first with the fewest epochs. Trials that have
    their number of epochs already are only compared with each other, after that number. ``cases`` are given as they
    are on each split. Without splits it is the first trial.
    """
    if not splits:
        return replace(trials[0], epochs=trials[0].epochs or 0)
    runs = [(trial, split) for trial in trials for split in range(len(splits))]
    known = [of_split.among(rows) for of_split, (rows, _) in zip(cases, splits, strict=True)]
    correct: list[list[NDArray[np.bool_]]] = [[] for _ in runs]
    stop = Event()

    def work(first: int, last: int) -> None:
        for place in range(first, last):
            trial, split = runs[place]
            rows, held_out = splits[split]
            training = Training(known[split], rows, start, trial.applied_to(rule), seed=seed, shared=shared)
            correct[place] = _correct_by_epochs(training, held_out, _tried_epochs(trial), stop)

    run_in_chunks(work, len(runs), chunk=1, n_jobs=n_jobs, stop=stop)
    repeats = sum(len(held_out) for _, held_out in splits) / len(cases[0])
    weights = np.concatenate([cases[0].weights[held_out] for _, held_out in splits])
    settled = trials[0].epochs is not None
    best, choice = (-np.inf, trials[0]) if settled else (0.0, replace(trials[0], epochs=0))
    for number, trial in enumerate(trials):
        by_split = correct[number * len(splits) : (number + 1) * len(splits)]
        for tried in range(1, max(map(len, by_split))):
            after = np.concatenate([run[min(tried, len(run) - 1)] for run in by_split])
            before = np.concatenate([run[0] for run in by_split])
            gain, changed = weights @ after - weights @ before, np.square(weights) @ (after != before)
            doubt = CAUTION_ERRORS * np.sqrt(changed * max(1.0, repeats))
            if gain > (best if settled else max(best, doubt)):
                best, choice = float(gain), replace(trial, epochs=_tried_epochs(trial)[tried - 1])
    return choice


def holds_among_all(
    cases: Sequence[TrainingCases], splits: Sequence[Split], start: Array, schedule: Schedule, rule: StepRule, seed: int
) -> bool:
    """Whether held-out cases are predicted no worse than without training when all trained rows may be neighbours.

    Lists of candidates do not show this: a case whose weights shrink comes near to others whose lists lack it.
    """
    gain = 0.0
    for of_split, (rows, held_out) in zip(cases, splits, strict=True):
        some = np.sort(np.random.default_rng(seed).permutation(held_out)[: VERIFIED_CASES // len(splits)])
        training = Training(of_split, rows, start, schedule.applied_to(rule), seed=seed, shared=False)
        before = _correct_among_all(training, some)
        training.train_epochs(schedule.epochs or 0)
        gain += _correct_among_all(training, some) - before
    return gain >= 0


def _tried_epochs(trial: Schedule) -> tuple[int, ...]:
    """The epochs after which a trial is judged: after its own number of them, if it has one."""
    return TRIED_EPOCHS if trial.epochs is None else (trial.epochs,)


def _correct_by_epochs(
    training: Training, held_out: Indices, epochs: Sequence[int], stop: Event
) -> list[NDArray[np.bool_]]:
    """Which held-out cases are correct before training and after these epochs; no more after two falls in a row."""
    weights = training.cases.weights[held_out]
    correct, done, falls = [training.held_out_correct(held_out)], 0, 0
    right = first = weights @ correct[0]
    for until in epochs:
        training.train_epochs(until - done, stop)
        done, before = until, right
        correct.append(training.held_out_correct(held_out))
        right = weights @ correct[-1]
        falls = falls + 1 if right < before else 0
        if falls == 2 or (done >= HOPELESS_EPOCHS and right < first) or stop.is_set():
            break
    return correct


def _correct_among_all(training: Training, held_out: Indices) -> float:
    """The weight of the held-out cases that get most support for their class from the nearest of all trained rows."""
    cases, rows, rule = training.cases, training.rows, training.rule
    metric = training.metric(rows)
    sq, near = ExactSearch(metric, metric.anchors).find(cases.X[held_out], min(rule.n_neighbors, len(rows)))
    support = votes_by_class(cases.codes[rows][near], 1.0 / np.maximum(sq, SQ_DISTANCE_FLOOR), rule.n_classes)
    return float(cases.weights[held_out] @ (support.argmax(axis=1) == cases.codes[held_out]))


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
    weights, order = weights / weights.mean(), np.arange(len(X))
    if len(X) > EXACT_LIST_CASES:
        order = neighborly_order(X, seed)
        X, codes, weights = X[order], codes[order], weights[order]
        groups = None if groups is None else groups[order]
    rule, curve, centred = settings.rule, LossCurve(watch), X - X.mean(axis=0)
    cases, unit = TrainingCases.of(centred, codes, weights, rule.n_neighbors, settings.n_candidates, seed, n_jobs)
    splits, shared_trials, local_trials = _affordable_trials(cases, groups, settings, seed)

    open_splits, ones = splits if _is_open(settings.shared) else [], np.ones(X.shape[1])
    everywhere = [cases] * len(open_splits)
    shared = choose_schedule(everywhere, open_splits, ones, shared_trials, rule, shared=True, seed=seed, n_jobs=n_jobs)
    factors = _train_shared(cases, np.arange(len(X)), shared, rule, seed, curve)
    stretched, second_unit = cases.stretched(factors, rule.n_neighbors, seed, n_jobs)

    start = _start(stretched, settings.n_components, rule.n_neighbors)
    open_splits = splits if _is_open(settings.local) else []
    by_split = [
        replace(stretched, X=cases.X * _train_shared(cases, rows, shared, rule, seed) / second_unit)
        for rows, _ in open_splits
    ]
    local = choose_schedule(by_split, open_splits, start, local_trials, rule, shared=False, seed=seed, n_jobs=n_jobs)
    if open_splits and settings.local["epochs"] is None and local.epochs:
        holds = holds_among_all(by_split, open_splits, start, local, rule, seed)
        local = local if holds else replace(local, epochs=0)
    lam, recall = train_local(stretched, start, local, rule, seed, curve)
    lam = lam[np.argsort(order)]
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


def _affordable_trials(
    cases: TrainingCases, groups: Indices | TimeOrder | None, settings: FitSettings, seed: int
) -> tuple[list[Split], list[Schedule], list[Schedule]]:
    """Return the splits, and the trials of common weights and of each case's own, that the budget allows."""
    shared, local = grid(settings.shared, SHARED_TRIALS), grid(settings.local, LOCAL_TRIALS)
    stages = (shared, 1, settings.shared), (local, settings.n_components or 1, settings.local)
    open_trials = [(trials, rank) for trials, rank, given in stages if _is_open(given)]
    splits = splits_of(cases.codes, seed, groups) if open_trials else []
    if splits:
        epochs = max(_tried_epochs(trial)[-1] * rank for trials, rank in open_trials for trial in trials)
        n_trials = max(len(trials) for trials, _ in open_trials)
        splits, most = affordable(splits, n_trials, cases.lists.size * cases.X.shape[1] * epochs)
        shared, local = shared[:most], local[:most]
    return splits, shared, local


def _is_open(given: dict[str, Any]) -> bool:
    """Whether a setting is to be chosen: none if there is no training."""
    return None in given.values() and given["epochs"] != 0


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


def _start(cases: TrainingCases, n_components: int | None, k: int) -> Array:
    """Return ones, or a map with large margins between the classes, which principal directions could lose."""
    if n_components is None:
        return np.ones(cases.X.shape[1])
    init: Start = "identity" if n_components == cases.X.shape[1] else "pca"
    settings = Settings(k, n_components, init, 0.5, 1.0, 1, MARGIN_ITERATIONS, 1e-3, None)
    omega, _ = learn_map(cases.X, cases.codes, cases.weights, settings, lambda _step: None)
    return omega / unit_of(cases.X @ omega.T, cases.lists, k)


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
