"""Sets of every size: features in the order in which models need them, and how well the sets predict other rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from whynear.utils.arrays import Array, Indices
from whynear.utils.progress import Report, one_after_the_other, within
from whynear.verdict.cost import costs_without
from whynear.verdict.information import information
from whynear.verdict.kernel_ridge import KERNELS, KernelModels, on_threads, predict
from whynear.verdict.refits import BetterModel, ManyRows, Refits, better_model
from whynear.verdict.rules import Information, clearly_better
from whynear.verdict.table import FeatureColumns, RowLosses, Target, best_of, chosen_rows
from whynear.work.pieces import Piece
from whynear.work.workers import results_of

MOST_CANDIDATES = 40
FEWEST_CANDIDATES = 20
ONE_AT_A_TIME = 10  # features left, from which they are removed one by one
MOST_ADDED = 8  # features, one by one
UNLIKE = 0.3  # correlation up to which features may be removed together
SEARCHED_ROWS = 300  # to choose sets and their stand-ins by
SIZES = (*range(1, 11), 12, 15, 20, 30, 40)


def candidates_of(columns: FeatureColumns, target: Target, information: Information) -> Indices:
    """Return the features worth choosing from: the informative ones, thinned out where they are many.

    Features of one value are not among them, unless there are no others.
    """
    order = np.argsort(information.p_values, kind="stable")
    varying = order[np.isin(order, columns.owners)]
    order = varying if len(varying) else order
    found = order[: max(FEWEST_CANDIDATES, np.count_nonzero(information.found))]
    return np.sort(found if len(found) <= MOST_CANDIDATES else _thinned(columns, target, found)).astype(np.intp)


def _thinned(columns: FeatureColumns, target: Target, found: Indices) -> Indices:
    """Take turns: the feature that explains most of what is left of the target, then take its part away."""
    centred = target.Y - target.Y.mean(axis=0)
    values = columns.values[:, np.isin(columns.owners, found)].copy()
    owners = columns.owners[np.isin(columns.owners, found)]
    lengths = np.linalg.norm(values, axis=0)
    chosen: list[int] = []
    while len(chosen) < min(MOST_CANDIDATES, len(values) // 2):
        norms = np.linalg.norm(values, axis=0)
        usable = (norms > 0.1 * lengths) & ~np.isin(owners, chosen)
        if not usable.any():
            break
        explained = np.square(centred.T @ values).sum(axis=0) / np.maximum(np.square(norms), 1e-300)
        best = int(owners[np.where(usable, explained, -1.0).argmax()])
        chosen.append(best)
        q = np.linalg.qr(values[:, owners == best])[0]
        values -= q @ (q.T @ values)
        centred = centred - q @ (q.T @ centred)
    rest = [int(j) for j in found if j not in set(chosen)]
    return np.array([*chosen, *rest[: MOST_CANDIDATES - len(chosen)]], dtype=np.intp)


def removal_order(
    columns: FeatureColumns, target: Target, candidates: Indices, prices: Array, models: KernelModels
) -> list[int]:
    """Return the candidates in the order in which they are removed, the one kept longest last.

    In each step the feature goes whose absence increases the loss of held-out rows least, for its price. While many are
    left, several unlike ones go together. It keeps features that are of use only together. ``models`` are those of all
    candidates.
    """
    left, removed = [int(j) for j in candidates], list[int]()
    while len(left) > 1:
        own = columns.only(left)
        models = KernelModels(own, target, names=models.by_loss[:2]) if removed else models
        without = on_threads(models.without, [[place] for place in range(len(left))])
        losses = np.array([float(one.loss.mean()) for one in without]) - float(models.best.loss.mean())
        # What a feature saves per unit of its price; those that help by their absence go first, dear ones before cheap.
        order = np.argsort(np.where(losses > 0, losses / prices[left], losses * prices[left]), kind="stable")
        most = 1 if len(left) <= ONE_AT_A_TIME else len(left) // 5
        gone = _unlike(own, order, most)
        removed += [left[place] for place in gone]
        left = [j for place, j in enumerate(left) if place not in gone]
    return removed + left


def addition_order(
    columns: FeatureColumns, target: Target, candidates: Indices, prices: Array, models: KernelModels
) -> list[int]:
    """Return candidates in the reverse of the order in which they are added, the first one last.

    In each step the feature is added that lowers the loss of held-out rows most, for its price. It finds small sets
    among many features that say nearly the same. ``models`` are those of all candidates.
    """
    own = columns.only(candidates)
    names = models.by_loss[:2]
    ridges = {name: models.ridges[name] for name in names}
    chosen: list[int] = []

    def loss_with(feature: int) -> float:
        return np.inf if feature in chosen else float(models.with_only([*chosen, feature], ridges).loss.mean())

    before = float(target.guessed().loss.mean())
    while len(chosen) < min(MOST_ADDED, own.n_features):
        gains = before - np.array(on_threads(loss_with, range(own.n_features)))
        best = int(np.where(gains > 0, gains / prices[candidates], gains).argmax())
        chosen.append(best)
        again = KernelModels(own.only(chosen), target, names=names)
        ridges, before = again.ridges, float(again.best.loss.mean())
    return [int(candidates[j]) for j in chosen[::-1]]


def _unlike(columns: FeatureColumns, order: Sequence[int] | Indices, most: int) -> list[int]:
    """Return the first of an order, and others that are unlike those before them."""
    taken: list[int] = []
    for place in map(int, order[: 2 * most]):
        if all(columns.correlation(place, other) <= UNLIKE for other in taken):
            taken.append(place)
        if len(taken) == most:
            break
    return taken


@dataclass(frozen=True, eq=False)
class SetSearch:
    """What a search for sufficient sets is given."""

    columns: FeatureColumns
    target: Target
    refits: Refits
    prices: Array  # what features cost
    tolerance: float | None = None  # points that may be lost
    keep: Sequence[int] = ()  # features that every set holds
    others: ManyRows | None = None  # models fitted to many rows, for which the set must suffice too
    seconds: float = 0.0  # roughly the time that a fold takes
    n_jobs: int | None = None

    @property
    def dear(self) -> bool:
        """Whether some features cost more than others."""
        return bool(np.ptp(self.prices) > 0)


SEARCHES = (removal_order, addition_order)


@dataclass(frozen=True, eq=False)
class JudgedSizes:
    """For each size the losses of its sets for rows that did not choose them, and the search that chose better."""

    losses: dict[int, RowLosses]
    searches: dict[int, int]
    scouts: Indices  # the rows by which sets are chosen from all rows
    chosen: ChosenSets  # those sets
    by_fold: list[ChosenSets]  # the sets that the rows to learn from of each fold choose
    models: list[Refits]  # those that predicted by sets beside kernel ridge
    better_model: BetterModel | None = None  # the best of these if it measures no distances


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
    predicted: Mapping[frozenset[int], Array]
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
    orders = [search(scouted, goal, candidates, prices, models) for search in SEARCHES]
    if protect:  # a price pushes out nothing that these rows show to be needed
        needed = surely_needed(own, aim)
        orders = [kept_longest(order, needed) for order in orders]
    chosen = ChosenSets(candidates, orders, {}, columns.n_features)
    different, new = chosen.different(sizes), columns.rows(part.new)

    def predicted(members: list[int]) -> Array:
        """Predict new rows by a set, with the best kernel."""
        names, kept = KERNELS if len(members) == columns.n_features else models.by_loss[:2], own.only(members)
        again = KernelModels(kept, aim, names=names)
        best = again.by_loss[0]
        return predict(best, again.ridges[best], kept.values, aim.Y, new.of(members), len(members))

    return replace(
        chosen, predicted=dict(zip(map(frozenset, different), on_threads(predicted, different), strict=True))
    )


def known_target(target: Target, rows: Indices) -> Target:
    """Return the target of some rows, with all classes."""
    aim = target.rows(rows)
    return aim if aim.Y.shape[1] == target.Y.shape[1] else replace(aim, Y=target.Y[rows])


def judge_sizes(search: SetSearch, outside: Sequence[Refits], rng: np.random.Generator, report: Report) -> JudgedSizes:
    """Choose sets of each size on folds, and predict the other rows with them; choose sets from all rows too.

    Kernel ridge models are compared; with all features the learner if it is better, and with sets too if clearly so;
    and outside models that are clearly better than both. Every fold is a piece of work.
    """
    columns, target = search.columns, search.target
    sizes = [*(size for size in SIZES if size < columns.n_features), columns.n_features]
    folds = target.folds(int(rng.integers(2**31)))

    def scouts(aim: Target) -> Indices:
        return chosen_rows(len(aim.Y), SEARCHED_ROWS, aim.strata, rng)

    parts = [SetRows(train, scouts(known_target(target, train)), test) for train, test in folds]
    on_all = SetRows(np.arange(len(target.Y)), scouts(target), np.empty(0, dtype=np.intp))
    by_fold, from_all = _chosen_sets(search, parts, on_all, sizes, within(report, 0.0, 0.7))
    losses, better = {}, {}
    for size in sizes:
        found = []
        for number in range(len(SEARCHES)):
            predicted = np.empty(target.Y.shape)
            for part, sets in zip(parts, by_fold, strict=True):
                predicted[part.new] = sets.predicted[frozenset(sets.members(size, number))]
            found.append(target.losses(predicted))
        better[size] = min(range(len(SEARCHES)), key=lambda number: float(found[number].loss.mean()))
        losses[size] = found[better[size]]
    *smaller, every = sizes
    models, losses[every], outdone = _models_of_all(search, outside, losses[every], within(report, 0.7, 0.8))
    members = [[sets.members(size, better[size]) for sets in by_fold] for size in smaller]
    for model, one in zip(models, one_after_the_other(within(report, 0.8, 1.0), len(models)), strict=True):
        step = f"judge sets by {model.name}"
        by_model = model.with_only(members, folds, _named(step, one))
        for size, own in zip(smaller, by_model, strict=True):
            losses[size] = best_of([losses[size], own])
    return JudgedSizes(losses, better, on_all.scouts, from_all, by_fold, models, outdone)


def _chosen_sets(
    search: SetSearch, parts: Sequence[SetRows], on_all: SetRows, sizes: Sequence[int], report: Report
) -> tuple[list[ChosenSets], ChosenSets]:
    """Return the sets that the rows to learn from of each fold choose, and those that all rows choose."""
    protects = search.tolerance is None and search.dear  # a price pushes no needed feature out; a tolerance may
    wanted = [*((part, sizes, protects) for part in parts), (on_all, [], False)]
    pieces = [
        Piece(choose_sets, {"part": part, "sizes": some, "protect": protect}, search.seconds)
        for part, some, protect in wanted
    ]
    chosen: dict[Piece, ChosenSets] = {}
    shared = {"columns": search.columns, "target": search.target, "prices": search.prices}
    for piece, done in results_of(search.refits.workers, pieces, shared):
        chosen[piece] = done.result
        report(f"judge sets on folds, {len(chosen)} of {len(pieces)}", len(chosen) / len(pieces))
    *by_fold, from_all = [chosen[piece] for piece in pieces]
    return by_fold, from_all


def _models_of_all(
    search: SetSearch, outside: Sequence[Refits], kernels: RowLosses, report: Report
) -> tuple[list[Refits], RowLosses, BetterModel | None]:
    """Return the models that are clearly better with all features, the losses of the best, and the best outside model.

    ``kernels`` are the losses of kernel ridge; the learner must be clearly better than those, and an outside model
    than the better of the two.
    """
    target, alone = search.target, search.refits.without()
    models = [search.refits] if clearly_better(alone, kernels, target) else []
    of_distances = alone if target.mean_and_error(kernels.loss - alone.loss)[0] > 0 else kernels
    for model, part in zip(outside, one_after_the_other(report, len(outside)), strict=True):
        model.prepare([()], report=part)
    more = [model for model in outside if clearly_better(model.without(), of_distances, target)]
    best = best_of([of_distances, *(model.without() for model in more)])
    return [*models, *more], best, better_model(more, Refits.without, of_distances)


def _named(step: str, report: Report) -> Report:
    return lambda _, share: report(step, share)


def surely_needed(columns: FeatureColumns, target: Target, n_jobs: int | None = None) -> list[int]:
    """Return the features that no kernel does as well without."""
    return np.flatnonzero(costs_without(KernelModels(columns, target), n_jobs=n_jobs).needed).tolist()


def kept_longest(order: Sequence[int], needed: Sequence[int] | Indices) -> list[int]:
    """Return an order of removal in which the needed features come last.

    >>> kept_longest([3, 0, 2], [0, 1])
    [3, 2, 0, 1]
    """
    last = [j for j in order if j in needed]
    return [j for j in order if j not in needed] + last + [int(j) for j in needed if j not in last]
