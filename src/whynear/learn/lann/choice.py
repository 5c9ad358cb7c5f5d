"""Choosing how anchors are taught, by neighbours that were held out."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from threading import Event
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import RepeatedStratifiedKFold

from whynear.learn.lann.objective import FLOOR
from whynear.learn.lann.training import Rule, School, local_metric
from whynear.search import NeighborSearch
from whynear.utils.arrays import Array, Indices
from whynear.utils.threads import run_in_chunks

Split = tuple[Indices, Indices]

EPOCHS = (1, 2, 4, 8, 14, 20)  # after which held-out cases are asked
HOPELESS = 8  # epochs after which a trial that does worse than nothing is given up
FOLDS = 5
ENOUGH = 300  # judgements; smaller sets are split several times
FEW_SPLITS = 2_000, 6_000  # cases beyond which two splits, then one, tell enough
BUDGET = 2e9  # products that a choice may take
VERIFIED = 2_000  # held-out cases that a choice is tried on among all cases
CAUTION = 1.0  # standard errors by which a trial must do better than to learn nothing


@dataclass(frozen=True)
class Choice:
    """How to teach: for how many epochs, with which step, steepness and decay.

    No epochs: not at all. None for their number: to be chosen.
    """

    epochs: int | None
    step: float
    beta: float
    decay: float

    def rule(self, rule: Rule) -> Rule:
        """The rule with these settings."""
        return replace(rule, step=self.step, beta=self.beta, decay=self.decay)


def splits_of(codes: Indices, seed: int) -> list[Split]:
    """Parts that learn and parts that are held out, classes in proportion; none where no class has two rows."""
    n, largest = len(codes), int(np.bincount(codes).max())
    if largest < 2:
        return []
    folds = min(FOLDS, largest)
    repeats = int(np.clip(ENOUGH // n, 1, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of classes with fewer rows than folds: they count as they can
        splits = list(RepeatedStratifiedKFold(n_splits=folds, n_repeats=repeats, random_state=seed).split(codes, codes))
    if n > FEW_SPLITS[0]:
        splits = splits[: 2 if n <= FEW_SPLITS[1] else 1]
    return splits


def affordable(splits: list[Split], n_trials: int, work: float) -> tuple[list[Split], int]:
    """The splits and the number of trials for which the budget is enough, ``work`` being that of a trial on a split.

    Splits are repeated less at first, then there are two of them, then one, and at last only the first two trials.
    """
    for most in (len(splits), FOLDS, 2, 1):
        if min(most, len(splits)) * n_trials * work <= BUDGET:
            return splits[:most], n_trials
    return splits[:1], min(2, n_trials)


def most_epochs(trials: Sequence[Choice]) -> int:
    """The most epochs that one of the trials may take."""
    return max(_looks(trial)[-1] for trial in trials)


def choose(
    schools: Sequence[School],
    splits: Sequence[Split],
    own: Indices,
    start: Array,
    trials: Sequence[Choice],
    rule: Rule,
    *,
    seed: int,
    n_jobs: int | None,
) -> Choice:
    """The trial, and the number of its epochs, after which most held-out cases are predicted right.

    It must be better than no learning by CAUTION standard errors of the difference, in which only the cases count that
    one of the two predicts wrong. Of equally good ones the first with the fewest epochs. Trials that have their number
    of epochs already are only compared with each other, after that number.
    """
    pairs = [(trial, split) for trial in trials for split in range(len(splits))]
    right: list[list[NDArray[np.bool_]]] = [[] for _ in pairs]
    stop = Event()

    def work(first: int, last: int) -> None:
        for place in range(first, last):
            trial, split = pairs[place]
            right[place] = _watched(schools[split], splits[split], own, start, trial, rule, seed, stop)

    run_in_chunks(work, len(pairs), chunk=1, n_jobs=n_jobs, stop=stop)
    repeats = sum(len(held_out) for _, held_out in splits) / len(own)
    settled = trials[0].epochs is not None
    best, choice = (-np.inf, trials[0]) if settled else (0.0, replace(trials[0], epochs=0))
    for number, trial in enumerate(trials):
        runs = right[number * len(splits) : (number + 1) * len(splits)]
        for look in range(1, max(map(len, runs))):
            after = np.concatenate([run[min(look, len(run) - 1)] for run in runs])
            before = np.concatenate([run[0] for run in runs])
            gain, changed = after.sum() - int(before.sum()), np.count_nonzero(after != before)
            doubt = CAUTION * np.sqrt(changed * max(1.0, repeats))
            if gain > (best if settled else max(best, doubt)):
                best, choice = float(gain), replace(trial, epochs=_looks(trial)[look - 1])
    return choice


def holds_up(
    schools: Sequence[School], splits: Sequence[Split], start: Array, choice: Choice, rule: Rule, seed: int
) -> bool:
    """Whether held-out cases are predicted no worse than without learning when all taught cases may be neighbours.

    Lists of candidates cannot tell: a case whose weights shrink comes near to others in whose lists it does not stand.
    """
    gain = 0
    for school, (taught, held_out) in zip(schools, splits, strict=True):
        asked = np.sort(np.random.default_rng(seed).permutation(held_out)[: VERIFIED // len(splits)])
        active, own = np.zeros(len(school), dtype=bool), np.arange(len(school))
        active[taught] = True
        lam, rng = np.repeat(start[None], len(school), axis=0), np.random.default_rng(seed)
        before = _exactly_right(school, taught, asked, lam, rule)
        for _ in range(choice.epochs or 0):
            school.teach(rng.permutation(taught), own, lam, start, active, choice.rule(rule))
        gain += _exactly_right(school, taught, asked, lam, rule) - before
    return gain >= 0


def _exactly_right(school: School, taught: Indices, asked: Indices, lam: Array, rule: Rule) -> int:
    """How many cases get most support for their class from the nearest of all taught ones."""
    k = min(rule.n_neighbors, len(taught))
    sq, near = NeighborSearch(local_metric(school.X[taught], lam[taught])).nearest(school.X[asked], k)
    support = np.zeros((len(asked), rule.n_classes))
    np.add.at(support, (np.arange(len(asked))[:, None], school.codes[taught][near]), 1.0 / np.maximum(sq, FLOOR))
    return int(np.count_nonzero(support.argmax(axis=1) == school.codes[asked]))


def _looks(trial: Choice) -> tuple[int, ...]:
    """The epochs after which a trial is looked at: after its own number of them, if it has one."""
    return EPOCHS if trial.epochs is None else (trial.epochs,)


def _watched(
    school: School, split: Split, own: Indices, start: Array, trial: Choice, rule: Rule, seed: int, stop: Event
) -> list[NDArray[np.bool_]]:
    """Which held-out cases are right before learning and at each look; no further after two falls in a row."""
    taught, held_out = split
    active = np.zeros(len(school), dtype=bool)
    active[taught] = True
    rule, rng = trial.rule(rule), np.random.default_rng(seed)
    lam = np.repeat(start[None], own.max() + 1, axis=0)
    right, done, falls = [school.judge(held_out, own, lam, active, rule).right], 0, 0
    for look in _looks(trial):
        while done < look and not stop.is_set():
            school.teach(rng.permutation(taught), own, lam, start, active, rule, stop)
            done += 1
        right.append(school.judge(held_out, own, lam, active, rule).right)
        falls = falls + 1 if right[-1].mean() < right[-2].mean() else 0
        hopeless = done >= HOPELESS and right[-1].mean() < right[0].mean()
        if falls == 2 or hopeless or stop.is_set():
            break
    return right


def grid(given: dict[str, Any], proposals: Sequence[Choice]) -> list[Choice]:
    """Proposals with what the user gave put in their places, each once."""
    settled = {name: value for name, value in given.items() if value is not None}
    return list(dict.fromkeys(replace(proposal, **settled) for proposal in proposals))
