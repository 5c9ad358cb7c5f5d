"""Choosing how metrics are trained, by the predictions for held-out cases."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from threading import Event
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import RepeatedStratifiedKFold

from whynear.learn.lann.objective import SQ_DISTANCE_FLOOR
from whynear.learn.lann.training import Schedule, StepRule, Training, TrainingCases
from whynear.metric.evidence import votes_by_class
from whynear.search.exact import ExactSearch
from whynear.utils.arrays import Array, Indices
from whynear.utils.row_groups import split_rows
from whynear.utils.row_order import TimeOrder, n_different
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
    repeats = int(np.clip(ENOUGH_PREDICTIONS // n, 1, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # raised for classes with fewer rows than folds
        splits = (
            list(RepeatedStratifiedKFold(n_splits=folds, n_repeats=repeats, random_state=seed).split(codes, codes))
            if groups is None
            else _splits_of_groups(codes, groups, folds, repeats, seed)
        )
    if n > TWO_SPLITS_ROWS:
        splits = splits[: 2 if n <= ONE_SPLIT_ROWS else 1]
    return splits


def _splits_of_groups(codes: Indices, groups: Indices | TimeOrder, folds: int, repeats: int, seed: int) -> list[Split]:
    if n_different(groups) < 2:
        return []
    if isinstance(groups, TimeOrder):  # which no seed changes
        repeats = 1
    return [
        split
        for repeat in range(repeats)
        for split in split_rows(codes, folds, (seed + repeat) % 2**32, stratified=True, groups=groups)
    ]


def affordable(splits: list[Split], n_trials: int, work: float) -> tuple[list[Split], int]:
    """The splits and the number of trials for which the budget is enough, ``work`` being that of a trial on a split.

    Splits are repeated less at first, then there are two of them, then one, and at last only the first two trials.
    """
    for most in (len(splits), N_FOLDS, 2, 1):
        if min(most, len(splits)) * n_trials * work <= PRODUCTS_BUDGET:
            return splits[:most], n_trials
    return splits[:1], min(2, n_trials)


def most_epochs(trials: Sequence[Schedule]) -> int:
    """The most epochs that one of the trials may take."""
    return max(_tried_epochs(trial)[-1] for trial in trials)


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
    are on each split.
    """
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
