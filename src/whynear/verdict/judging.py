"""Verdicts on the features of a table, from evidence by refitting without them, also on parts of the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from whynear.interpret import Relevance
from whynear.utils.arrays import Indices
from whynear.utils.checks import Seed, generator, whole
from whynear.utils.progress import ProgressArgument, Report, listener, within
from whynear.utils.threads import one_blas_thread
from whynear.verdict.cost import cost_of, costs_without
from whynear.verdict.information import information
from whynear.verdict.kernel_ridge import KernelModels
from whynear.verdict.refits import JudgedTable, ManyRows, Refits, judged_table, workers_of
from whynear.verdict.rules import (
    INDISPENSABLE,
    NO_EVIDENCE,
    REPLACEABLE,
    Costs,
    Evidence,
    Information,
    beats_guessing,
    clearly_better,
    decide,
)
from whynear.verdict.set_sizes import SetSearch
from whynear.verdict.sets import MOST_ROWS, find_sets
from whynear.verdict.table import FeatureColumns, RowLosses, Target, best_of, chosen_rows
from whynear.verdict.verdicts import Verdicts
from whynear.work.pieces import Piece
from whynear.work.workers import Engine, Workers, results_of

ROWS_OF_INFORMATION = 2_000
REPEATS = 4  # of the learner's cross-validation, for features that look indispensable
RESAMPLES, FEW_RESAMPLES, MANY_FEATURES = 20, 5, 1_000  # from so many features on, few resamples are drawn
PART = 0.8  # of the rows, or of their groups, in a resample
MOST_SPARE = 40  # features, those that may cost most, without which the learner is fitted again on many rows
# As long as the models with all features take, this many times: to judge a part of the rows, and sets on a fold.
FITS_OF_A_PART, FITS_OF_A_FOLD = 0.3, 4.0


def verdicts(
    learner: BaseEstimator,
    X: Any,
    y: Any,
    *,
    relevance: Relevance | None = None,
    groups: Any = None,
    sample_weight: Any = None,
    features: Sequence[str] | None = None,
    n_jobs: int | None = None,
    engine: Engine | str | Workers = "processes",
    random_state: Seed = None,
    n_resamples: int | None = None,
    progress: ProgressArgument = None,
) -> Verdicts:
    """Say of each feature whether it is indispensable, replaceable, without evidence, or undecided.

    Every feature is left out and models are refitted: kernel ridge models of several shapes, whose held-out predictions
    have a closed form, and the learner itself where a feature looks indispensable. When a feature is left out, the best
    of all models counts: what only one model needs is not indispensable. Blocks of like features are left out
    together first where there are hundreds.

    Parameters
    ----------
    learner : classifier or regressor
        Any of scikit-learn's, also a Pipeline; it is cloned.
    X : DataFrame or array-like of shape (n_samples, n_features)
        The table that the learner takes. A column is one feature, also one of categories.
    y : array-like of shape (n_samples,)
        The target: classes, or measurements for a regressor.
    relevance : Relevance, optional
        Intervals of the same features; the frame then has their bounds too. They take no part in the verdicts.
    groups : array-like of shape (n_samples,) or TimeOrder, optional
        Rows of one group are held out together. With a `TimeOrder`, rows are held out forward in time.
    sample_weight : array-like of shape (n_samples,), optional
        How much each row counts when the learner is refitted. All other models, and losses, count each row once.
    features : sequence of str, optional
        For each column the feature it belongs to, such as a band of a spectrum: columns of one feature are left out
        together. Each column is a feature without it.
    n_jobs : int, optional
        Number of threads and processes; all cores without it.
    engine : {"processes", "dask"} or str
        Where models are refitted: in processes on this machine, which start where they save time, or by the workers of
        a Dask cluster, which is started on this machine, or has a scheduler at this address (``"tcp://host:8786"``).
    random_state : int, Generator, RandomState or None, default=None
        Seed of resamples and folds.
    n_resamples : int, optional
        Number of resamples; 20 without it, 5 from a thousand features on. What too few of them agree on is undecided.
    progress : bool or callable, optional
        True writes the steps to stderr; a function is called with the name of the step and the share of the work done.

    Returns
    -------
    Verdicts

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from whynear.datasets import make_relevance
    >>> data = make_relevance(n_irrelevant=2, random_state=0)
    >>> found = verdicts(KNeighborsClassifier(), data.X, data.y, random_state=0)
    >>> found.named("indispensable"), sorted(found.named("replaceable"))
    (('strong_0',), ['weak_0_0', 'weak_0_1', 'weak_0_2'])
    """
    report, rng = listener(progress), generator(random_state)
    with workers_of(engine, n_jobs) as workers, one_blas_thread():
        table = judged_table(workers, learner, X, y, groups=groups, sample_weight=sample_weight, features=features)
        if n_resamples is None:
            n_resamples = RESAMPLES if table.columns.n_features < MANY_FEATURES else FEW_RESAMPLES
        found = _judged(table, whole("n_resamples", n_resamples, 0), n_jobs, rng, report)
    return replace(found, relevance=relevance)


def _judged(
    table: JudgedTable, n_resamples: int, n_jobs: int | None, rng: np.random.Generator, report: Report
) -> Verdicts:
    columns, target = table.columns, table.target
    report("test every feature for information", 0.0)
    # A stream of its own for each part, so that none depends on how much another one draws.
    rng, of_refits, of_resamples, of_sets = rng.spawn(4)
    some = chosen_rows(len(target.Y), ROWS_OF_INFORMATION, target.strata, rng)
    informative = information(columns.rows(some), target.rows(some))
    rows = chosen_rows(len(target.Y), MOST_ROWS, target.strata, rng)
    own, aim = columns.rows(rows), target.rows(rows)
    report("fit models with all features", 0.05)
    begun = perf_counter()
    models = KernelModels(own, aim)
    seconds = perf_counter() - begun
    costs = costs_without(models, n_jobs=n_jobs, report=within(report, 0.1, 0.3))
    report("refit the learner", 0.3)
    refits = table.refits(rows, int(of_refits.integers(2**31)))
    full, costs = _confirmed(models, costs, refits, informative, within(report, 0.3, 0.4))
    works = beats_guessing(full, aim)
    others = table.on_many_rows(rows, of_refits) if works else None
    others = others if others is not None and others.may_object(full, aim) else None
    evidence = Evidence(informative, costs, works, len(rows))
    if others is not None:
        evidence = _with_many_rows(evidence, others, within(report, 0.4, 0.5))
    decided = decide(evidence)
    again = resampled_verdicts(
        models, n_resamples, of_resamples, table.workers, within(report, 0.5, 0.8), FITS_OF_A_PART * seconds
    )
    stability = (again == decided).mean(axis=0) if n_resamples else np.full(len(decided), np.nan)
    evidence = replace(evidence, stability=stability)
    search = SetSearch(
        own, aim, refits, np.ones(own.n_features), keep=np.flatnonzero(decide(evidence) == INDISPENSABLE).tolist(),
        others=others, seconds=FITS_OF_A_FOLD * seconds, n_jobs=n_jobs,
    )  # fmt: skip
    sets = find_sets(search, of_sets, within(report, 0.8, 0.9))
    in_set, costs = np.isin(columns.names, sets.best), evidence.costs
    if others is not None:
        costs = _with_members(decided, costs, in_set, others, within(report, 0.9, 1.0))
        evidence = replace(evidence, most_on_many_rows=costs.most)
    if not in_set.all():
        evidence = replace(evidence, in_smallest_set=in_set)
    report("done", 1.0)
    return Verdicts(
        feature_names=columns.names,
        verdict=decide(evidence),
        loss=costs.losses,
        error=costs.errors,
        p_value=costs.p_values,
        effect=informative.shares,
        q_value=informative.q_values,
        stability=stability,
        n_resamples=n_resamples,
        score=float(full.score.mean()),
        works=works,
        measure="R2" if aim.measured else "accuracy",
        sets=sets,
    )


def _confirmed(
    models: KernelModels, costs: Costs, refits: Refits, informative: Information, report: Report
) -> tuple[RowLosses, Costs]:
    """Refit the learner too: without informative features where it is clearly the best model, else without needed ones.

    Return the losses of the best model with all features, and the costs.
    """
    target, best, alone = models.target, models.best, refits.without()
    if clearly_better(alone, best, target):
        best, tried, repeats = alone, informative.found, 1
    else:
        tried, repeats = costs.needed, REPEATS
    features = np.flatnonzero(tried).tolist()
    refits.prepare([[feature] for feature in features], repeats, report)
    without = {j: best_of([refits.without([j], repeats), models.without([j], tune=True)]) for j in features}
    return best, costs.replaced({j: cost_of(losses, best, target) for j, losses in without.items()})


def _with_many_rows(evidence: Evidence, others: ManyRows, report: Report) -> Evidence:
    """Return the evidence with the costs of needed features on many rows, and whether others are missed together."""
    costs = _on_many_rows(evidence.costs, np.flatnonzero(evidence.costs.needed).tolist(), others, report)
    evidence = replace(evidence, costs=costs)
    absent = decide(evidence) == NO_EVIDENCE
    if not absent.any() or absent.all():
        return evidence
    together = cost_of(others.without(np.flatnonzero(absent).tolist()), others.without(), others.target)
    return replace(evidence, missed_together=together.missed)


def _with_members(
    decided: NDArray[np.str_], costs: Costs, in_set: NDArray[np.bool_], others: ManyRows, report: Report
) -> Costs:
    """Return the costs, those of replaceable members of the smallest set on many rows.

    The set was fitted to many rows, and shows that all other features can be left out, even together.
    """
    spare = np.flatnonzero(in_set & (decided == REPLACEABLE)).tolist()
    return _on_many_rows(costs, sorted(sorted(spare, key=lambda j: -costs.most[j])[:MOST_SPARE]), others, report)


def _on_many_rows(costs: Costs, features: Sequence[int], others: ManyRows, report: Report) -> Costs:
    """Return the costs, those of some features by models fitted to many rows."""
    if not features:
        return costs
    others.prepare([[feature] for feature in features], report)
    full = others.without()
    return costs.replaced({j: cost_of(others.without([j]), full, others.target) for j in features})


def resampled_verdicts(
    models: KernelModels,
    n_resamples: int,
    rng: np.random.Generator,
    workers: Workers,
    report: Report,
    seconds: float = 0.0,
) -> NDArray[np.str_]:
    """Return the verdicts of resamples, of shape (n_resamples, n_features), by the models near the best.

    Every resample is a piece of work, which takes roughly this number of seconds.
    """
    pieces = [Piece(judge_part, {"rows": _part(models.target, rng)}, seconds) for _ in range(n_resamples)]
    found: dict[Piece, NDArray[np.str_]] = {}
    shared = {"columns": models.columns, "target": models.target, "ridges": models.settled}
    report("judge features again on parts of the rows", 0.0)
    for piece, done in results_of(workers, pieces, shared):
        found[piece] = done.result
        report(f"judge features again on parts of the rows, {len(found)} of {n_resamples}", len(found) / n_resamples)
    return np.array([found[piece] for piece in pieces]).reshape(n_resamples, models.columns.n_features)


def judge_part(rows: Indices, columns: FeatureColumns, target: Target, ridges: Mapping[str, float]) -> NDArray[np.str_]:
    """Return the verdicts of a part of the rows, by these kernels at these ridges.

    It stands for another table of the size of the whole one, so its deviations count as if it had as many rows.
    """
    own, aim = columns.rows(rows), target.rows(rows)
    again, more = KernelModels(own, aim, ridges=ridges), len(target.Y) / len(rows)
    costs = costs_without(again, quick=True)
    costs = replace(costs, deviations=costs.deviations * more**0.5)
    informative = information(own, aim).with_more_rows(more)
    return decide(Evidence(informative, costs, beats_guessing(again.best, aim), len(target.Y)))


def _part(target: Target, rng: np.random.Generator) -> Indices:
    """Draw groups of rows, as many of each class as its share asks for."""
    strata = target.strata[np.unique(target.groups, return_index=True)[1]]
    drawn = []
    for stratum in np.unique(strata):
        mine = rng.permutation(np.flatnonzero(strata == stratum))
        drawn.append(mine[: max(2, round(PART * len(mine)))])
    return np.flatnonzero(np.isin(target.groups, np.concatenate(drawn))).astype(np.intp)
