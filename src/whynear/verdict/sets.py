"""The smallest sets of features that predict as well as all of them, and who can stand in for their members."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from whynear.utils.arrays import Array, Indices
from whynear.utils.checks import Seed, generator, number
from whynear.utils.progress import ProgressArgument, Report, listener, within
from whynear.utils.text import counted
from whynear.utils.threads import one_blas_thread
from whynear.verdict.cost import cost_of
from whynear.verdict.kernel_ridge import KernelModels, on_threads
from whynear.verdict.refits import judged_table, outside_models, workers_of
from whynear.verdict.rules import ALIKE, NEEDED, stands_in, suffices, sufficing
from whynear.verdict.set_sizes import JudgedSizes, SetSearch, judge_sizes, surely_needed
from whynear.verdict.table import FeatureColumns, RowLosses, Target, best_of, chosen_rows
from whynear.verdict.verdicts import StandIn, StandIns, SufficientSets
from whynear.work.workers import Engine, Workers

MOST_ROWS = 600  # to judge sets by
MOST_NAMED = 8  # stand-ins of one member


def sufficient_sets(
    learner: BaseEstimator,
    X: Any,
    y: Any,
    *,
    costs: Mapping[str, float] | None = None,
    tolerance: float | None = None,
    groups: Any = None,
    sample_weight: Any = None,
    n_jobs: int | None = None,
    engine: Engine | str | Workers = "processes",
    random_state: Seed = None,
    progress: ProgressArgument = None,
) -> SufficientSets:
    """Find the fewest (or cheapest) features whose held-out predictions are as good as those of all.

    Features are removed one after the other, the least needed first, and added one after the other, by kernel ridge
    models that are refitted each time; for each size the better of the two is kept. The sets are judged on folds of
    rows that took no part in choosing them, by kernel ridge models, and by the learner, a random forest and logistic
    regression too where these are clearly better. Of all sets of a size that were chosen, from all rows or on folds,
    the one is named that predicts best, if it is as good as all features itself. At most 600 rows serve for that. Where
    there are twice as many or more, the learner, and of these two models those that are clearly better than it, are
    fitted to up to 5,000 rows with the set that was found and with all features, and larger sets follow until one
    suffices there too; not where the best of them is clearly worse than the kernel ridge models.

    Where many features say nearly the same, the choice depends on the rows and on the seed of the folds: on wine, ten
    seeds chose sets of three to seven of thirteen features. ``by_fold`` of the result has the choice of each fold.

    Parameters
    ----------
    learner : estimator
        A classifier or a regressor, also a Pipeline; it is cloned.
    X : DataFrame or array-like of shape (n_samples, n_features)
        The table that the learner takes. A column is one feature, also one of categories.
    y : array-like of shape (n_samples,)
        The target.
    costs : mapping of str to float, optional
        What it costs to measure each feature; features not named cost 1. The cheapest sufficient set is returned.
    tolerance : float, optional
        Points of accuracy (or R2) that may be lost. Without it, a set suffices if it surely loses little, or if its
        loss is within the error of that of all and it does not seem to lose much, or more than one standard error where
        the accuracy is less sure than that. The rows must be able to show a loss: where the standard error of the
        difference is large beside what features gain over guessing, no smaller set is named. The thresholds are those
        of `whynear.verdict.rules`.
    groups : array-like of shape (n_samples,) or TimeOrder, optional
        Rows of one group are never on both sides of a split. With a `TimeOrder`, rows are held out forward in time.
    sample_weight : array-like of shape (n_samples,), optional
        How much each row counts when the learner is refitted. All other models, and losses, count each row once.
    n_jobs : int, optional
        Number of threads, and of processes for refits of the learner; all cores without it.
    engine : {"processes", "dask"} or str
        Where the learner is refitted, as in `verdicts`.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the folds, and of the rows used where there are many.
    progress : bool or callable, optional
        True writes the steps to stderr; a function is called with the name of the step and the share of the work done.

    Returns
    -------
    SufficientSets

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from whynear.datasets import make_truth
    >>> data = make_truth("sick", random_state=0)
    >>> sufficient_sets(KNeighborsClassifier(), data.X, data.y, random_state=0).best
    ('weight', 'height')
    """
    report, rng = listener(progress), generator(random_state)
    with workers_of(engine, n_jobs) as workers, one_blas_thread():
        table = judged_table(workers, learner, X, y, groups=groups, sample_weight=sample_weight)
        rows = chosen_rows(len(table.y), MOST_ROWS, table.target.strata, rng)
        prices = _prices(costs, table.columns.names)
        tolerance = None if tolerance is None else number("tolerance", tolerance)
        own, aim = table.columns.rows(rows), table.target.rows(rows)
        # With a tolerance, a set may lose what a needed feature is worth.
        keep = surely_needed(own, aim, n_jobs) if tolerance is None else []
        refits = table.refits(rows, int(rng.integers(2**31)))
        others = table.on_many_rows(rows, rng.spawn(1)[0])
        if others is not None:
            best = best_of([KernelModels(own, aim).best, refits.without()])
            others = others if others.may_object(best, aim) else None
        search = SetSearch(own, aim, refits, prices, tolerance, keep, others, n_jobs=n_jobs)
        found = find_sets(search, rng, report)
    report("done", 1.0)
    return found


def find_sets(search: SetSearch, rng: np.random.Generator, report: Report) -> SufficientSets:
    """Choose sets from all rows, judge their sizes on folds, and swap the members of the best for others."""
    columns, target, others = search.columns, search.target, search.others
    report("judge sets on folds", 0.0)
    outside = outside_models(columns, target, search.refits.seed, workers=search.refits.workers)
    judged = judge_sizes(search, outside, rng, within(report, 0.0, 0.7))
    report("choose the set", 0.7)
    found = _named_set(search, judged, report)
    report("swap members for others", 0.8)
    found, stand_ins = _with_stand_ins(search, judged, found, report)
    names = [columns.names[j] for j in found.best]
    return SufficientSets(
        tuple(names),
        found.curve,
        stand_ins.alternatives(names),
        stand_ins,
        "R2" if target.measured else "accuracy",
        tuple(tuple(columns.names[j] for j in members) for members in found.by_fold),
        None if others is None or len(names) == columns.n_features else others.check(found.best),
        judged.better_model if others is None else others.better_model,
    )


@dataclass(frozen=True, eq=False)
class _Found:
    best: list[int]
    curve: pd.DataFrame
    by_fold: Sequence[Sequence[int]] = ()


def _named_set(search: SetSearch, judged: JudgedSizes, report: Report) -> _Found:
    """Return the cheapest set that suffices, with the scores of all sizes; it holds the features to keep."""
    target, names = search.target, search.columns.names
    sets, sizes = _sets_and_sizes(judged, search.keep, search.columns.n_features)
    every = sets[-1]
    losses = [judged.losses[size] for size in sizes]
    curve = _curve(sets, losses, target, names)
    prices, enough = [search.prices[members].sum() for members in sets], sufficing(losses, target, search.tolerance)
    for place in np.argsort(prices, kind="stable"):
        if not enough[place]:
            continue
        if sets[place] is every:
            break
        size = sizes[place]
        named, own = name_set(sets[place], size, search, judged)
        if suffices(own, losses[-1], target, search.tolerance) and _holds(named, search, report):
            sets[place], losses[place] = named, max(losses[place], own, key=lambda one: float(one.loss.mean()))
            by_fold = [sorted({*fold.members(size, judged.searches[size]), *search.keep}) for fold in judged.by_fold]
            return _Found(named, _curve(sets, losses, target, names), by_fold)
    return _Found(every, curve)


def _sets_and_sizes(judged: JudgedSizes, needed: Sequence[int], n_features: int) -> tuple[list[list[int]], list[int]]:
    """Return sets with the needed features, the smaller before the larger and all features last.

    With each set comes the size that was judged for it, which is smaller where the choice lacked needed features.
    """
    made: dict[int, tuple[list[int], int]] = {}
    for size, search in sorted(judged.searches.items()):
        chosen = with_needed(judged.chosen.orders[search][-size:][::-1], needed)
        if size <= len(chosen) < n_features:
            made[len(chosen)] = chosen, size
    sets, sizes = map(list, zip(*made.values(), (list(range(n_features)), n_features), strict=True))
    return sets, sizes


def with_needed(members: Sequence[int], needed: Sequence[int] | Indices) -> list[int]:
    """Return a set with the needed features, these first.

    >>> with_needed([3, 0, 2], [0, 1])
    [0, 1, 3, 2]
    """
    first = [j for j in members if j in needed] + [int(j) for j in needed if j not in members]
    return first + [j for j in members if j not in needed]


def name_set(members: list[int], size: int, search: SetSearch, judged: JudgedSizes) -> tuple[list[int], RowLosses]:
    """Return the best of the sets of a size, most needed feature first, and its losses for held-out rows.

    Kernel ridge models, and the others that predict by sets, compare the set given and those of searches from all rows
    and on folds; where features differ in price, the set given is the only one. A size is judged by the sets that folds
    choose for it, none of which need be this one. Its own losses are rather too small, as the rows may have taken part
    in choosing it; if even they are larger than those of all features, the set does not suffice.
    """
    sets = [members] if search.dear else _chosen(members, size, search.keep, judged)
    found = on_threads(lambda one: KernelModels(search.columns.only(one), search.target).best, sets, search.n_jobs)
    best = min(range(len(sets)), key=lambda place: float(found[place].loss.mean()))
    others = np.setdiff1d(np.arange(search.columns.n_features), sets[best]).tolist()
    return sets[best], best_of([found[best], *(model.without(others) for model in judged.models)])


def _chosen(members: list[int], size: int, needed: Sequence[int], judged: JudgedSizes) -> list[list[int]]:
    """Return the sets of a size that were chosen, each once, the one given first."""
    search = judged.searches[size]
    orders = [*judged.chosen.orders, *(fold.orders[search] for fold in judged.by_fold)]
    sets = [members, *(with_needed(order[-size:][::-1], needed) for order in orders)]
    first = {frozenset(one): one for one in reversed(sets) if len(one) == len(members)}
    return list(first.values())[::-1]


def _with_stand_ins(search: SetSearch, judged: JudgedSizes, found: _Found, report: Report) -> tuple[_Found, StandIns]:
    """Return the set with its stand-ins, in place of its members where they are cheaper and the set still suffices."""
    scouted, aim = search.columns.rows(judged.scouts), search.target.rows(judged.scouts)
    names, best = search.columns.names, found.best
    rest = [int(j) for j in judged.chosen.candidates if j not in best]
    stand_ins = find_stand_ins(scouted, aim, best, rest, search.n_jobs)
    cheaper = _with_cheaper(best, stand_ins, search.prices, names)
    if cheaper == best or not _holds(cheaper, search, report):
        return found, stand_ins
    stand_ins = find_stand_ins(scouted, aim, cheaper, sorted({*rest, *best} - {*cheaper}), search.n_jobs)
    named, curve = tuple(names[j] for j in cheaper), found.curve.copy()
    curve["features"] = [named if len(old) == len(named) else old for old in curve["features"]]
    return replace(found, best=cheaper, curve=curve), stand_ins


def _holds(members: Sequence[int], search: SetSearch, report: Report) -> bool:
    """Return whether a set suffices for models fitted to many rows too, if there are any."""
    if search.others is None:
        return True
    report(f"fit {counted(len(members), 'feature')} to many rows", 0.75)
    return suffices(search.others.with_only(members), search.others.without(), search.others.target, search.tolerance)


def _with_cheaper(members: Sequence[int], stand_ins: StandIns, prices: Array, names: Sequence[str]) -> list[int]:
    """Replace each member by its cheapest stand-in, the dearest member first, if that is cheaper."""
    places = {name: place for place, name in enumerate(names)}
    chosen = list(members)
    for member in sorted(members, key=lambda j: -prices[j]):
        able = [places[pair.stand_in] for pair in stand_ins.of(names[member])]
        able = [j for j in able if j not in chosen and prices[j] < prices[member]]
        if able:
            chosen[chosen.index(member)] = min(able, key=lambda j: float(prices[j]))
    return chosen


def _curve(
    sets: Sequence[Sequence[int]], losses: Sequence[RowLosses], target: Target, names: Sequence[str]
) -> pd.DataFrame:
    rows, full = [], losses[-1]
    for chosen, found in zip(sets, losses, strict=True):
        _, error = target.mean_and_error(found.score - full.score)
        excess = target.mean_and_error(found.loss - full.loss)
        rows.append((len(chosen), float(found.score.mean()), error, *excess, tuple(names[j] for j in chosen)))
    return pd.DataFrame(rows, columns=["n_features", "score", "error", "excess", "excess_error", "features"])


def _prices(costs: Mapping[str, float] | None, names: Sequence[str]) -> Array:
    if costs is None:
        return np.ones(len(names))
    if unknown := [name for name in costs if name not in names]:
        raise ValueError(f"costs must name features of the table, got {unknown[0]!r}, which is none of them.")
    return np.array([number(f"costs[{name!r}]", costs.get(name, 1.0), above=0.0) for name in names])


def find_stand_ins(
    columns: FeatureColumns, target: Target, members: Sequence[int], others: Sequence[int], n_jobs: int | None
) -> StandIns:
    """Put every other feature in the place of every member of a sufficient set, and refit.

    A stand-in carries some of the same information, is as good as the member within the error, and is clearly better
    than nothing in its place.
    """
    some = sorted({*members, *others})
    models, at = KernelModels(columns.only(some), target), {j: place for place, j in enumerate(some)}
    whole = models.with_only([at[j] for j in members])
    rests = {member: [at[j] for j in members if j != member] for member in members}
    lacks = on_threads(lambda one: models.with_only(rests[one]) if rests[one] else target.guessed(), members, n_jobs)
    lacking = dict(zip(members, lacks, strict=True))
    needed = [member for member in members if cost_of(lacking[member], whole, target).deviation >= NEEDED]
    swaps = [(one, other) for one in needed for other in others if columns.correlation(one, other) >= ALIKE]
    swapped = on_threads(lambda swap: models.with_only([*rests[swap[0]], at[swap[1]]]), swaps, n_jobs)
    pairs, groups = [], []
    for member in members:
        good = {
            other: found
            for (of, other), found in zip(swaps, swapped, strict=True)
            if of == member and stands_in(cost_of(found, whole, target), cost_of(lacking[member], found, target))
        }
        if good:
            good = dict(sorted(good.items(), key=lambda item: float(item[1].loss.mean()))[:MOST_NAMED])
            everyone = {member: whole, **good}
            groups.append(tuple(columns.names[j] for j in everyone))
            for (one, with_one), (other, with_other) in permutations(everyone.items(), 2):
                lost, error = target.mean_and_error(with_one.score - with_other.score)
                price = float(np.round(100 * lost, 10)), 100 * error
                pairs.append(StandIn(columns.names[one], columns.names[other], *price))
    return StandIns(tuple(pairs), tuple(groups))
