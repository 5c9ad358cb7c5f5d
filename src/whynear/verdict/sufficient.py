"""The smallest sets of features that predict as well as all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from whynear.engine.workers import Engine, start_workers
from whynear.learn.inputs import checked_weights
from whynear.utils import html
from whynear.utils.arrays import Array, Indices
from whynear.utils.checks import Seed, generator, number
from whynear.utils.progress import ProgressArgument, Report, listener, within
from whynear.utils.text import counted
from whynear.utils.threads import one_blas_thread
from whynear.utils.values import ByValue
from whynear.verdict.feature_columns import FeatureColumns, chosen_rows, feature_columns
from whynear.verdict.many_rows import ManyRows, SetCheck, many_rows
from whynear.verdict.models import KernelModels
from whynear.verdict.named_sets import name_set, with_needed
from whynear.verdict.outside_models import BetterModel, outside_models
from whynear.verdict.refits import Refits, rows_of
from whynear.verdict.set_sizes import JudgedSizes, judge_sizes, surely_needed
from whynear.verdict.stand_ins import StandIns, find_stand_ins
from whynear.verdict.targets import Answers, Target, best_of, target_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_ROWS = 600  # to judge sets by
BELOW_ALL = 1.96  # standard errors of loss by which a set may be worse than all features
BELOW_BEST = 2.33  # and than the best set, where all features are clearly worse than that
CLEARLY = 1.645
MOST_LOST = 0.02  # of accuracy or R2
LARGEST_ERROR = 0.1  # of the loss of a set beside all features, as a share of what features gain over guessing


@dataclass(frozen=True, eq=False)
class SufficientSets(ByValue):
    """The fewest features that predict as well as all.

    Attributes
    ----------
    best : tuple of str
        The smallest set found, most needed feature first.
    curve : DataFrame
        Columns ``n_features``, ``score`` (accuracy, or R2 for a measured target) on rows that did not choose the set,
        ``error`` of the difference from all features, ``excess`` loss over all with its ``excess_error``, and
        ``features``: those of the best set, and for other sizes those chosen from all rows. The last row is that of
        all features.
    alternatives : dict of str to tuple of str
        For each member of the best set the features that can take its place, cheapest first.
    stand_ins : StandIns
        The same with their prices.
    measure : {"accuracy", "R2"}
        The kind of score; R2 for a measured target.
    by_fold : tuple of tuple of str
        The set that the rows of each fold choose for the size of the best one, in the order of the table. Where these
        sets differ, other rows or another seed may choose another set, also of another size. Empty where the best set
        has all features.
    check : SetCheck or None
        Where the table has many more rows than sets are judged by: how the best of the learner and of models that are
        clearly better, fitted to many of them, does with the best set on rows that did not choose it. A set that loses
        too much there is not the best.
    better_model : BetterModel or None
        A random forest or logistic regression, if it predicts clearly better with all features than the models that
        measure distances: the learner and kernel ridge models, or on many rows the learner. The best set suffices for
        it too.

    Examples
    --------
    >>> import whynear as wn
    >>> data = wn.datasets.make_truth("sick", random_state=0)  # sick if weight / height**2 is large
    >>> sets = wn.sufficient_sets(wn.GMLVQ(random_state=0), data.X, data.y, random_state=0)
    >>> sorted(sets.best), sets.score > 0.9
    (['height', 'weight'], True)
    """

    best: tuple[str, ...]
    curve: pd.DataFrame
    alternatives: dict[str, tuple[str, ...]]
    stand_ins: StandIns
    measure: str
    by_fold: tuple[tuple[str, ...], ...] = ()
    check: SetCheck | None = None
    better_model: BetterModel | None = None

    @property
    def score(self) -> float:
        """Accuracy (or R2) of the best set on rows that did not choose it."""
        return float(self.curve["score"][self._place]) if self.check is None else self.check.score

    @property
    def score_of_all(self) -> float:
        """Accuracy (or R2) of all features on the same rows."""
        return float(self.curve["score"].iloc[-1]) if self.check is None else self.check.score_of_all

    @property
    def lost_error(self) -> float:
        """Standard error of the difference of the two scores."""
        return float(self.curve["error"][self._place]) if self.check is None else self.check.lost_error

    @property
    def _place(self) -> int:
        sizes = [len(features) for features in self.curve["features"]]
        return sizes.index(len(self.best))

    def frame(self) -> pd.DataFrame:
        """Return a copy of the curve."""
        return self.curve.copy()

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the score over the number of features, with the choice marked."""
        from whynear.verdict.drawing import draw_sets

        return draw_sets(self, ax)

    def __repr__(self) -> str:
        return (
            f"SufficientSets({len(self.best)} of {counted(self.curve['n_features'].iloc[-1], 'feature')}: "
            f"{', '.join(self.best)})"
        )

    def _repr_html_(self) -> str:
        rows = [(name, ", ".join(self.alternatives.get(name, ())) or "none found") for name in self.best]
        return html.block(
            html.heading(repr(self)),
            f"{self.measure} {self.score:.1%} on rows that did not choose them, {self.score_of_all:.1%} with all.",
            html.table(["feature", "can be replaced by"], rows),
        )


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
    engine: Engine = "processes",
    address: str | None = None,
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
        Points of accuracy (or R2) that may be lost. Without it, a set suffices if it surely loses at most two points,
        or if its loss is within 1.96 standard errors of that of all and it does not seem to lose more than two points,
        or than one standard error where the accuracy is less sure than that.
        The rows must be able to show a loss: where the standard error of the difference exceeds a tenth of what
        features gain over guessing, no smaller set is named.
    groups : array-like of shape (n_samples,) or TimeOrder, optional
        Rows of one group are never on both sides of a split. With a `TimeOrder`, rows are held out forward in time.
    sample_weight : array-like of shape (n_samples,), optional
        How much each row counts when the learner is refitted. All other models, and losses, count each row once.
    n_jobs : int, optional
        Number of threads, and of processes for refits of the learner; all cores without it.
    engine, address : {"processes", "dask"}, str
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
    columns = feature_columns(X)
    target = target_of(learner, y, groups, len(columns.values))
    rows = chosen_rows(len(target.Y), MOST_ROWS, target.strata, rng)
    weights = None if sample_weight is None else checked_weights(sample_weight, len(target.Y), X)
    prices, y = _prices(costs, columns.names), np.asarray(y)
    own, aim = columns.rows(rows), target.rows(rows)
    with start_workers(engine, n_jobs, address, also_here=True) as workers, one_blas_thread():
        # With a tolerance, a set may lose what a needed feature is worth.
        keep = surely_needed(own, aim, n_jobs) if tolerance is None else []
        seed = int(rng.integers(2**31))
        of_rows = None if weights is None else weights[rows]
        refits = Refits(learner, rows_of(X, rows), y[rows], aim, seed, weights=of_rows, workers=workers)
        others = many_rows(learner, X, y, columns, target, rows, rng.spawn(1)[0], weights=weights, workers=workers)
        if others is not None:
            best = best_of([KernelModels(own, aim).answers, refits.without()])
            others = others if others.may_object(best, aim) else None
        found = find_sets(
            own, aim, refits, rng, prices=prices, tolerance=tolerance, n_jobs=n_jobs, report=report, keep=keep,
            others=others,
        )  # fmt: skip
    report("done", 1.0)
    return found


def find_sets(
    columns: FeatureColumns,
    target: Target,
    refits: Refits,
    rng: np.random.Generator,
    *,
    prices: Array | None = None,
    tolerance: float | None = None,
    n_jobs: int | None = None,
    report: Report,
    keep: Sequence[int] | Indices = (),
    seconds: float = 0.0,
    others: ManyRows | None = None,
) -> SufficientSets:
    """Choose sets from all rows, judge their sizes on folds, and swap the members of the best for others.

    Every set holds the features to keep. ``seconds`` is roughly the time that a fold takes. The best set must suffice
    for ``others`` too.
    """
    if tolerance is not None:
        number("tolerance", tolerance)
    prices = np.ones(columns.n_features) if prices is None else prices
    outside = outside_models(columns, target, refits.seed, workers=refits.workers)
    report("judge sets on folds", 0.0)
    judged = judge_sizes(
        columns, target, prices, protect=tolerance is None and _differ(prices), refits=refits, outside=outside, rng=rng,
        report=within(report, 0.0, 0.7), seconds=seconds,
    )  # fmt: skip
    search = _Search(columns, target, prices, tolerance, n_jobs, report, others)
    report("choose the set", 0.7)
    found = _named_set(search, judged, [int(j) for j in keep])
    report("swap members for others", 0.8)
    found, stand_ins = _with_stand_ins(search, judged, found)
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
class _Search:
    """The features and the target, what features cost, and for whom a set must suffice."""

    columns: FeatureColumns
    target: Target
    prices: Array
    tolerance: float | None
    n_jobs: int | None
    report: Report
    others: ManyRows | None

    def holds(self, members: Sequence[int]) -> bool:
        """Return whether a set suffices for the learner fitted to many rows, too."""
        return _holds(members, self.others, self.tolerance, self.report)


@dataclass(frozen=True, eq=False)
class _Found:
    best: list[int]
    curve: pd.DataFrame
    by_fold: Sequence[Sequence[int]] = ()


def _named_set(search: _Search, judged: JudgedSizes, needed: Sequence[int]) -> _Found:
    """Return the cheapest set that suffices, with the scores of all sizes; it holds the needed features."""
    columns, target, tolerance = search.columns, search.target, search.tolerance
    sets, sizes = _sets_and_sizes(judged, needed, columns.n_features)
    every = sets[-1]
    answers = [judged.answers[size] for size in sizes]
    curve = _curve(sets, answers, target, columns.names)
    for place in _sufficing(curve, sets, answers, target, search.prices, tolerance):
        if sets[place] is every:
            break
        size = sizes[place]
        named = name_set(
            sets[place], size, needed, judged, columns, target, search.n_jobs, only_this=_differ(search.prices)
        )
        if _suffices(named.answers, answers[-1], target, tolerance) and search.holds(named.members):
            sets[place] = named.members
            answers[place] = max(answers[place], named.answers, key=lambda one: float(one.loss.mean()))
            by_fold = [sorted({*fold.members(size, judged.searches[size]), *needed}) for fold in judged.by_fold]
            return _Found(named.members, _curve(sets, answers, target, columns.names), by_fold)
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


def _with_stand_ins(search: _Search, judged: JudgedSizes, found: _Found) -> tuple[_Found, StandIns]:
    """Return the set with its stand-ins, in place of its members where they are cheaper and the set still suffices."""
    scouted, aim = search.columns.rows(judged.scouts), search.target.rows(judged.scouts)
    names, best = search.columns.names, found.best
    rest = [int(j) for j in judged.chosen.candidates if j not in best]
    stand_ins = find_stand_ins(scouted, aim, best, rest, search.n_jobs)
    cheaper = _with_cheaper(best, stand_ins, search.prices, names)
    if cheaper == best or not search.holds(cheaper):
        return found, stand_ins
    stand_ins = find_stand_ins(scouted, aim, cheaper, sorted({*rest, *best} - {*cheaper}), search.n_jobs)
    named, curve = tuple(names[j] for j in cheaper), found.curve.copy()
    curve["features"] = [named if len(old) == len(named) else old for old in curve["features"]]
    return replace(found, best=cheaper, curve=curve), stand_ins


def _differ(prices: Array) -> bool:
    return bool(np.ptp(prices) > 0)


def _holds(members: Sequence[int], others: ManyRows | None, tolerance: float | None, report: Report) -> bool:
    """Return whether a set suffices for the learner fitted to many rows; nothing speaks against it without them."""
    if others is None:
        return True
    report(f"fit {counted(len(members), 'feature')} to many rows", 0.75)
    return _suffices(others.with_only(members), others.without(), others.target, tolerance)


def _suffices(found: Answers, every: Answers, target: Target, tolerance: float | None) -> bool:
    """Return whether answers of a set are as good as those of all features, or within the tolerance."""
    if tolerance is not None:
        return _within(float(found.score.mean()), float(every.score.mean()), tolerance)
    return as_good(found, every, target, BELOW_ALL)


def _within(score: float, score_of_all: float, tolerance: float) -> bool:
    return score >= score_of_all - tolerance / 100 - 1e-12


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
    sets: Sequence[Sequence[int]], answers: Sequence[Answers], target: Target, names: Sequence[str]
) -> pd.DataFrame:
    rows = []
    full = answers[-1]
    for chosen, found in zip(sets, answers, strict=True):
        excess, excess_error = target.mean_and_error(found.loss - full.loss)
        _, error = target.mean_and_error(found.score - full.score)
        features = tuple(names[j] for j in chosen)
        rows.append((len(chosen), float(found.score.mean()), error, excess, excess_error, features))
    return pd.DataFrame(rows, columns=["n_features", "score", "error", "excess", "excess_error", "features"])


def _sufficing(
    curve: pd.DataFrame,
    sets: Sequence[Sequence[int]],
    answers: Sequence[Answers],
    target: Target,
    prices: Array,
    tolerance: float | None,
) -> list[int]:
    """Return the places of sets that are as good as all features and nearly as good as the best set, cheapest first."""
    if tolerance is not None:
        enough = np.array([_within(score, curve["score"].iloc[-1], tolerance) for score in curve["score"]])
    else:
        every, best = answers[-1], answers[int(curve["excess"].to_numpy().argmin())]
        enough = np.array([as_good(found, every, target, BELOW_ALL) for found in answers])
        if _exceeds(every, best, target, CLEARLY):
            enough &= [as_good(found, best, target, BELOW_BEST) for found in answers]
        # Where rows are few or noisy, a set that lacks a feature would seem to suffice.
        gain = float((target.guessed().loss - best.loss).mean())
        enough &= curve["excess_error"].to_numpy() <= LARGEST_ERROR * gain
        enough[-1] |= not enough.any()
    costs = np.array([prices[list(chosen)].sum() for chosen in sets])
    return [int(place) for place in np.argsort(costs, kind="stable") if enough[place]]


def as_good(found: Answers, other: Answers, target: Target, errors: float) -> bool:
    """Return whether a set surely loses little, or it is not clear that it loses anything and it does not seem much."""
    lost, error = target.mean_and_error(other.score - found.score)
    seems_little = lost <= (MOST_LOST if target.measured else max(MOST_LOST, error))
    surely_little = lost + CLEARLY * error <= MOST_LOST
    return surely_little or (seems_little and not _exceeds(found, other, target, errors))


def _exceeds(found: Answers, other: Answers, target: Target, errors: float) -> bool:
    """Return whether the loss exceeds another by more than this number of standard errors of the difference."""
    excess, error = target.mean_and_error(found.loss - other.loss)
    return excess > errors * error + 1e-12


def _prices(costs: Mapping[str, float] | None, names: Sequence[str]) -> Array:
    if costs is None:
        return np.ones(len(names))
    if unknown := [name for name in costs if name not in names]:
        raise ValueError(f"costs must name features of the table, got {unknown[0]!r}, which is none of them.")
    return np.array([number(f"costs[{name!r}]", costs.get(name, 1.0), above=0.0) for name in names])
