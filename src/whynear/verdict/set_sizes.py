"""How well sets of each size predict, judged on rows that did not choose their members."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from whynear.utils.arrays import Array, Indices
from whynear.utils.progress import Report
from whynear.utils.row_order import RowSplit
from whynear.verdict import kernel_ridge
from whynear.verdict.decisions import needed_features
from whynear.verdict.elimination import addition_order, candidates_of, removal_order
from whynear.verdict.feature_columns import FeatureColumns, chosen_rows
from whynear.verdict.information import information
from whynear.verdict.kernel_ridge import KERNELS
from whynear.verdict.leaving_out import costs_without
from whynear.verdict.models import KernelModels, Refits
from whynear.verdict.targets import Answers, Target

SEARCHES = (removal_order, addition_order)
SEARCHED_ROWS = 300  # to choose sets and their stand-ins by
SIZES = (*range(1, 11), 12, 15, 20, 30, 40)
CLEARLY = 2.0  # standard errors of loss by which the learner must beat the kernels to answer for sets too


@dataclass(frozen=True, eq=False)
class JudgedSizes:
    """For each size the answers of its sets for rows that did not choose them, and the search that chose better."""

    answers: dict[int, Answers]
    searches: dict[int, int]


class _Sets:
    """The sets that each search chose on each fold, and the predictions with them."""

    def __init__(self, sizes: Sequence[int], target: Target) -> None:
        self.keys = [(size, search) for size in sizes for search in range(len(SEARCHES))]
        self.predicted = {key: np.empty(target.Y.shape) for key in self.keys}
        self.members: dict[tuple[int, int], list[list[int]]] = {key: [] for key in self.keys}


def judge_sizes(
    columns: FeatureColumns,
    target: Target,
    prices: Array,
    *,
    protect: bool,
    refits: Refits,
    rng: np.random.Generator,
    n_jobs: int | None,
    report: Report,
) -> JudgedSizes:
    """Choose sets of each size on folds, and predict the other rows with them.

    Kernel ridge models answer; with all features the learner if it is better, and with sets too if clearly so.
    """
    sizes = [*(size for size in SIZES if size < columns.n_features), columns.n_features]
    sets, folds = _Sets(sizes, target), target.folds(int(rng.integers(2**31)))
    for done, fold in enumerate(folds, start=1):
        _choose_and_predict(sets, columns, target, fold, prices, protect, rng, n_jobs)
        report("judge sets on folds", done / len(folds))
    found = {key: target.answers(values) for key, values in sets.predicted.items()}
    searches = {
        size: min(range(len(SEARCHES)), key=lambda search: float(found[size, search].loss.mean())) for size in sizes
    }
    answers = {size: found[size, search] for size, search in searches.items()}
    *smaller, every = sizes
    alone = refits.without()
    gain, error = target.mean_and_error(answers[every].loss - alone.loss)
    if gain > 0:
        answers[every] = alone
    if gain > CLEARLY * error:
        for done, size in enumerate(smaller):
            report("judge sets by the learner", done / len(smaller))
            own = refits.with_only(sets.members[size, searches[size]], folds)
            answers[size] = min(answers[size], own, key=lambda one: float(one.loss.mean()))
    return JudgedSizes(answers, searches)


def _choose_and_predict(
    sets: _Sets,
    columns: FeatureColumns,
    target: Target,
    fold: RowSplit,
    prices: Array,
    protect: bool,
    rng: np.random.Generator,
    n_jobs: int | None,
) -> None:
    train, test = fold
    own, aim = columns.rows(train), target.rows(train)
    if aim.Y.shape[1] < target.Y.shape[1]:
        aim = replace(aim, Y=target.Y[train])
    some = chosen_rows(len(train), SEARCHED_ROWS, aim.strata, rng)
    scouted, goal = own.rows(some), aim.rows(some)
    candidates = candidates_of(scouted, goal, information(scouted, goal))
    orders = [search(scouted, goal, candidates, prices, n_jobs) for search in SEARCHES]
    if protect:  # a price pushes out nothing that these rows show to be needed
        needed = surely_needed(own, aim, n_jobs)
        orders = [kept_longest(order, needed) for order in orders]
    names = KernelModels(scouted.only(candidates), goal).two_best
    made: dict[frozenset[int], Array] = {}
    for size, search in sets.keys:
        whole = size == columns.n_features
        chosen = list(range(columns.n_features)) if whole else orders[search][-size:]
        key = frozenset(chosen)
        if key not in made:
            name, ridge = _best_kernel(own.only(chosen), aim, KERNELS if whole else names)
            new = columns.rows(test).of(chosen)
            made[key] = kernel_ridge.predict(name, ridge, own.of(chosen), aim.Y, new, len(chosen))
        sets.predicted[size, search][test] = made[key]
        sets.members[size, search].append(chosen)


def surely_needed(columns: FeatureColumns, target: Target, n_jobs: int | None) -> list[int]:
    """Return the features that no kernel does as well without."""
    found = needed_features(costs_without(KernelModels(columns, target), n_jobs=n_jobs))
    return [int(j) for j in np.flatnonzero(found)]


def kept_longest(order: Sequence[int], needed: Sequence[int] | Indices) -> list[int]:
    """Return an order of removal in which the needed features come last.

    >>> kept_longest([3, 0, 2], [0, 1])
    [3, 2, 0, 1]
    """
    last = [j for j in order if j in needed]
    return [j for j in order if j not in needed] + last + [int(j) for j in needed if j not in last]


def _best_kernel(columns: FeatureColumns, target: Target, names: Sequence[str]) -> tuple[str, float]:
    models = KernelModels(columns, target, names=names)
    return models.best, models.ridges[models.best]
