"""Verdicts on the features of a table, by refitting without them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from whynear.engine.workers import Engine, Workers, start_workers
from whynear.interpret import Relevance
from whynear.learn.inputs import checked_weights
from whynear.utils.arrays import Array, Indices
from whynear.utils.checks import Seed, generator, whole
from whynear.utils.progress import ProgressArgument, Report, listener, within
from whynear.utils.threads import one_blas_thread
from whynear.verdict.decisions import INDISPENSABLE, UNDECIDED, decide, needed_features, without_contradiction
from whynear.verdict.feature_columns import FeatureColumns, chosen_rows, feature_columns, owners_of
from whynear.verdict.information import Information, information
from whynear.verdict.leaving_out import Cost, Costs, cost_of, costs_without
from whynear.verdict.many_rows import ManyRows, many_rows
from whynear.verdict.models import KernelModels, beats_guessing
from whynear.verdict.objections import costs_of_needed, without_costly, without_missed
from whynear.verdict.refits import Refits, rows_of
from whynear.verdict.result import Verdicts
from whynear.verdict.stability import AGREED, resampled_verdicts
from whynear.verdict.sufficient import MOST_ROWS, find_sets
from whynear.verdict.targets import Answers, Target, best_of, target_of

ROWS_OF_INFORMATION = 2_000
REPEATS = 4  # of the learner's cross-validation, for features that look indispensable
MANY_FEATURES = 1_000  # from which fewer resamples are drawn
FEW_RESAMPLES = 5
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
    engine: Engine = "processes",
    address: str | None = None,
    random_state: Seed = None,
    n_resamples: int | None = None,
    progress: ProgressArgument = None,
) -> Verdicts:
    """Say of each feature whether it is indispensable, replaceable, without evidence, or undecided.

    Every feature is left out and models are refitted: kernel ridge models of several shapes, whose held-out predictions
    have a closed form, and the learner itself where a feature looks indispensable. When a feature is left out, the best
    of all models may answer: what only one model needs is not indispensable. Blocks of like features are left out
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
    engine : {"processes", "dask"}
        Where models are refitted: in processes on this machine, which start where they save time, or by the workers of
        a Dask cluster.
    address : str, optional
        The address of the scheduler of the cluster; without it, a cluster is started on this machine.
    random_state : int, Generator, RandomState or None, default=None
        Seed of resamples and folds.
    n_resamples : int, optional
        Number of resamples; 20 without it, 5 from a thousand features on. What fewer than three quarters of them agree
        on is undecided.
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
    with start_workers(engine, n_jobs, address, also_here=True) as workers:
        return verdicts_by(
            workers, learner, X, y, relevance=relevance, groups=groups, sample_weight=sample_weight, features=features,
            n_jobs=n_jobs, random_state=random_state, n_resamples=n_resamples, progress=progress,
        )  # fmt: skip


def verdicts_by(
    workers: Workers,
    learner: BaseEstimator,
    X: Any,
    y: Any,
    *,
    relevance: Relevance | None = None,
    groups: Any = None,
    sample_weight: Any = None,
    features: Sequence[str] | None = None,
    n_jobs: int | None = None,
    random_state: Seed = None,
    n_resamples: int | None = None,
    progress: ProgressArgument = None,
) -> Verdicts:
    """Return `verdicts`, for which these workers refit models."""
    report = listener(progress)
    rng = generator(random_state)
    columns = feature_columns(X, features)
    target = target_of(learner, y, groups, len(columns.values))
    if n_resamples is None:
        n_resamples = 20 if columns.n_features < MANY_FEATURES else FEW_RESAMPLES
    whole("n_resamples", n_resamples, 0)
    with one_blas_thread():
        weights = None if sample_weight is None else checked_weights(sample_weight, len(columns.values), X)
        owners = None if features is None else owners_of(features)[1]
        table = _Table(learner, X, np.asarray(y), columns, target, owners, weights, workers)
        found = _judged(table, n_resamples, n_jobs, rng, report)
    return replace(found, relevance=relevance)


@dataclass(frozen=True, eq=False)
class _Table:
    learner: BaseEstimator
    X: Any
    y: NDArray[Any]
    columns: FeatureColumns
    target: Target
    owners: Indices | None
    weights: Array | None
    workers: Workers

    def refits(self, rows: Indices, aim: Target, rng: np.random.Generator) -> Refits:
        """Return the learner to refit to some rows, whose target is the aim."""
        return Refits(
            self.learner, rows_of(self.X, rows), self.y[rows], aim, int(rng.integers(2**31)),
            owners=self.owners, weights=None if self.weights is None else self.weights[rows], workers=self.workers,
        )  # fmt: skip

    def objecting(self, rows: Indices, full: Answers, aim: Target, rng: np.random.Generator) -> ManyRows | None:
        """Return the learner on many rows; None where there are few others, or it is clearly worse than the models."""
        others = many_rows(
            self.learner, self.X, self.y, self.columns, self.target, rows, rng,
            owners=self.owners, weights=self.weights, workers=self.workers,
        )  # fmt: skip
        return others if others is not None and others.may_object(full, aim) else None


def _judged(table: _Table, n_resamples: int, n_jobs: int | None, rng: np.random.Generator, report: Report) -> Verdicts:
    columns, target = table.columns, table.target
    report("test every feature for information", 0.0)
    # A stream of its own for each part, so that none depends on how much another one draws.
    rng, of_refits, of_resamples, of_sets = rng.spawn(4)
    some = chosen_rows(len(target.Y), ROWS_OF_INFORMATION, target.strata, rng)
    evidence = information(columns.rows(some), target.rows(some))
    rows = chosen_rows(len(target.Y), MOST_ROWS, target.strata, rng)
    own, aim = columns.rows(rows), target.rows(rows)
    report("fit models with all features", 0.05)
    begun = perf_counter()
    models = KernelModels(own, aim)
    seconds = perf_counter() - begun
    costs = costs_without(models, n_jobs=n_jobs, report=within(report, 0.1, 0.3))
    report("refit the learner", 0.3)
    refits = table.refits(rows, aim, of_refits)
    full, costs = _confirmed(models, costs, refits, evidence, within(report, 0.3, 0.4))
    works = beats_guessing(full, aim)
    others = table.objecting(rows, full, aim, of_refits) if works else None
    decided, costs = _decided(evidence, costs, len(rows), others, works=works, report=within(report, 0.4, 0.5))
    again = resampled_verdicts(
        own, aim, models, n_resamples, of_resamples, table.workers, within(report, 0.5, 0.8), FITS_OF_A_PART * seconds
    )
    stability = (again == decided).mean(axis=0) if n_resamples else np.full(len(decided), np.nan)
    agreed = ~(stability < AGREED)
    sets = find_sets(
        own, aim, refits, of_sets, n_jobs=n_jobs, report=within(report, 0.8, 0.9), others=others,
        keep=np.flatnonzero((decided == INDISPENSABLE) & agreed), seconds=FITS_OF_A_FOLD * seconds,
    )  # fmt: skip
    if others is not None:
        members = [place for place, name in enumerate(columns.names) if name in sets.best]
        decided, costs = without_costly(decided, costs, members, others, within(report, 0.9, 1.0))
    report("done", 1.0)
    return Verdicts(
        feature_names=columns.names,
        verdict=without_contradiction(np.where(agreed, decided, UNDECIDED), columns.names, sets.best),
        loss=costs.losses,
        error=costs.errors,
        p_value=costs.p_values,
        effect=evidence.shares,
        q_value=evidence.q_values,
        stability=stability,
        n_resamples=n_resamples,
        score=float(full.score.mean()),
        works=works,
        measure="R2" if aim.measured else "accuracy",
        sets=sets,
    )


def _decided(
    evidence: Information, costs: Costs, n_rows: int, others: ManyRows | None, *, works: bool, report: Report
) -> tuple[NDArray[np.str_], Costs]:
    """Return the verdicts and the costs, to which the learner on many rows may object."""
    if others is None:
        return decide(evidence, costs, works, n_rows), costs
    costs = costs_of_needed(costs, others, report)
    return without_missed(decide(evidence, costs, works, n_rows), others), costs


def _confirmed(
    models: KernelModels, costs: Costs, refits: Refits, evidence: Information, report: Report
) -> tuple[Answers, Costs]:
    """Let the learner answer too: for all features where it is clearly the best model, else where it could object."""
    target, best = models.target, models.answers
    alone = refits.without()
    gain, error = target.mean_and_error(best.loss - alone.loss)
    if gain > 2 * error:
        best = alone
        asked = np.flatnonzero(evidence.found)
    else:
        asked = np.flatnonzero(needed_features(costs))
    made: dict[int, Cost] = {}
    repeats = REPEATS if best is not alone else 1
    refits.prepare([[int(feature)] for feature in asked], repeats, report)
    for feature in asked:
        answers = [refits.without([int(feature)], repeats), models.without([int(feature)], tune=True)]
        made[int(feature)] = cost_of(best_of(answers), best, target)
    return best, costs.replaced(made)
