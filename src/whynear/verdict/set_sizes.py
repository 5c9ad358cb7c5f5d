"""How well sets of each size predict, judged on rows that did not choose their members."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from whynear.engine.pieces import Piece
from whynear.engine.running import results_of
from whynear.utils.arrays import Array, Indices
from whynear.utils.progress import Report, one_after_the_other, within
from whynear.utils.threads import run_in_chunks
from whynear.verdict.decisions import needed_features
from whynear.verdict.elimination import addition_order, candidates_of, removal_order
from whynear.verdict.feature_columns import FeatureColumns, chosen_rows
from whynear.verdict.information import information
from whynear.verdict.kernel_ridge import KERNELS
from whynear.verdict.leaving_out import costs_without
from whynear.verdict.models import KernelModels, predict
from whynear.verdict.outside_models import CLEARLY, BetterModel, better_model, clearly_better
from whynear.verdict.refits import Refits
from whynear.verdict.targets import Answers, Target, best_of

SEARCHES = (removal_order, addition_order)
SEARCHED_ROWS = 300  # to choose sets and their stand-ins by
SIZES = (*range(1, 11), 12, 15, 20, 30, 40)


@dataclass(frozen=True, eq=False)
class JudgedSizes:
    """For each size the answers of its sets for rows that did not choose them, and the search that chose better.

    ``scouts`` are the rows by which sets are chosen from all rows, and ``chosen`` those sets; ``by_fold`` are the sets
    that the rows to learn from of each fold choose. ``answering`` are the models that answered for sets beside
    kernel ridge, and ``better_model`` describes the best of them if it measures no distances.
    """

    answers: dict[int, Answers]
    searches: dict[int, int]
    scouts: Indices
    chosen: ChosenSets
    by_fold: list[ChosenSets]
    answering: list[Refits]
    better_model: BetterModel | None = None


@dataclass(frozen=True, eq=False)
class SetRows:
    """Rows to learn from, those of them by which sets are chosen, and rows to predict."""

    known: Indices
    scouts: Indices
    new: Indices


@dataclass(frozen=True, eq=False)
class ChosenSets:
    """The features to choose from, their order by each search, and what the sets predict for the new rows of a part."""

    candidates: Indices
    orders: list[list[int]]
    predicted: dict[frozenset[int], Array]
    n_features: int

    def members(self, size: int, search: int) -> list[int]:
        """Return the set of a size that a search has chosen."""
        return list(range(self.n_features)) if size == self.n_features else self.orders[search][-size:]

    def different(self, sizes: Sequence[int]) -> list[list[int]]:
        """Return the sets of these sizes, each once."""
        members = [self.members(size, number) for size in reversed(sizes) for number in reversed(range(len(SEARCHES)))]
        return list({frozenset(one): one for one in members}.values())


def choose_sets(
    part: SetRows, sizes: Sequence[int], protect: bool, columns: FeatureColumns, target: Target, prices: Array
) -> ChosenSets:
    """Put the features in the order of each search, and predict the new rows by their sets of these sizes."""
    own, aim = columns.rows(part.known), known_target(target, part.known)
    scouted, goal = own.rows(part.scouts), aim.rows(part.scouts)
    candidates = candidates_of(scouted, goal, information(scouted, goal))
    models = KernelModels(scouted.only(candidates), goal)
    orders = [search(scouted, goal, candidates, prices, models=models) for search in SEARCHES]
    if protect:  # a price pushes out nothing that these rows show to be needed
        needed = surely_needed(own, aim, None)
        orders = [kept_longest(order, needed) for order in orders]
    chosen = ChosenSets(candidates, orders, {}, columns.n_features)
    different = chosen.different(sizes)

    def work(first: int, last: int) -> None:
        for members in different[first:last]:
            names = KERNELS if len(members) == columns.n_features else models.two_best
            chosen.predicted[frozenset(members)] = _predicted(members, names, own, aim, columns.rows(part.new))

    run_in_chunks(work, len(different), 1)
    return chosen


def known_target(target: Target, rows: Indices) -> Target:
    """Return the target of some rows, with all classes."""
    aim = target.rows(rows)
    return aim if aim.Y.shape[1] == target.Y.shape[1] else replace(aim, Y=target.Y[rows])


def _predicted(
    members: Sequence[int], names: Sequence[str], columns: FeatureColumns, aim: Target, new: FeatureColumns
) -> Array:
    """Predict new rows by a set, with the best of these kernels."""
    own = columns.only(members)
    models = KernelModels(own, aim, names=names)
    return predict(models.best, models.ridges[models.best], own.values, aim.Y, new.of(members), len(members))


def judge_sizes(
    columns: FeatureColumns,
    target: Target,
    prices: Array,
    *,
    protect: bool,
    refits: Refits,
    outside: Sequence[Refits],
    rng: np.random.Generator,
    report: Report,
    seconds: float = 0.0,
) -> JudgedSizes:
    """Choose sets of each size on folds, and predict the other rows with them; choose sets from all rows too.

    Kernel ridge models answer; with all features the learner if it is better, and with sets too if clearly so; and
    outside models that are clearly better than both. Every fold is a piece of work, which takes roughly this number of
    seconds.
    """
    sizes = [*(size for size in SIZES if size < columns.n_features), columns.n_features]
    folds = target.folds(int(rng.integers(2**31)))
    parts = [SetRows(train, _scouts(known_target(target, train), rng), test) for train, test in folds]
    all_rows, none = np.arange(len(target.Y)), np.empty(0, dtype=np.intp)
    on_all = SetRows(all_rows, _scouts(target, rng), none)
    pieces = [
        Piece(choose_sets, {"part": part, "sizes": wanted, "protect": protect and part is not on_all}, seconds)
        for part, wanted in [*((part, sizes) for part in parts), (on_all, [])]
    ]
    chosen: dict[Piece, ChosenSets] = {}
    shared = {"columns": columns, "target": target, "prices": prices}
    for piece, done in results_of(refits.workers, pieces, shared):
        chosen[piece] = done.result
        report(f"judge sets on folds, {len(chosen)} of {len(pieces)}", 0.7 * len(chosen) / len(pieces))
    *by_fold, from_all = [chosen[piece] for piece in pieces]
    found = {
        (size, number): _answers(parts, by_fold, target, size, number)
        for size in sizes
        for number in range(len(SEARCHES))
    }
    better = {
        size: min(range(len(SEARCHES)), key=lambda number: float(found[size, number].loss.mean())) for size in sizes
    }
    answers = {size: found[size, number] for size, number in better.items()}
    *smaller, every = sizes
    answering, of_distances = _of_distances(answers[every], refits, target)
    for model, part in zip(outside, one_after_the_other(within(report, 0.7, 0.8), len(outside)), strict=True):
        model.prepare([()], report=part)
    more = clearly_better(outside, Refits.without, of_distances, target)
    answers[every] = best_of([of_distances, *(model.without() for model in more)])
    answering += more
    members = [[sets.members(size, better[size]) for sets in by_fold] for size in smaller]
    for model, part in zip(answering, one_after_the_other(within(report, 0.8, 1.0), len(answering)), strict=True):
        by_model = model.with_only(members, folds, partial(_report_step, part, f"judge sets by {model.name}"))
        for size, own in zip(smaller, by_model, strict=True):
            answers[size] = best_of([answers[size], own])
    outdone = better_model(more, Refits.without, of_distances)
    return JudgedSizes(answers, better, on_all.scouts, from_all, by_fold, answering, outdone)


def _of_distances(best: Answers, refits: Refits, target: Target) -> tuple[list[Refits], Answers]:
    """Return the learner if it is clearly better with all features than kernel ridge, and the better answers."""
    alone = refits.without()
    gain, error = target.mean_and_error(best.loss - alone.loss)
    return [refits] if gain > CLEARLY * error else [], alone if gain > 0 else best


def _report_step(report: Report, step: str, _: str, share: float) -> None:
    report(step, share)


def _scouts(target: Target, rng: np.random.Generator) -> Indices:
    return chosen_rows(len(target.Y), SEARCHED_ROWS, target.strata, rng)


def _answers(
    parts: Sequence[SetRows], by_fold: Sequence[ChosenSets], target: Target, size: int, search: int
) -> Answers:
    predicted = np.empty(target.Y.shape)
    for part, sets in zip(parts, by_fold, strict=True):
        predicted[part.new] = sets.predicted[frozenset(sets.members(size, search))]
    return target.answers(predicted)


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
