"""The whole flow: a table in, a metric, its accuracy and the relevance of each feature out."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable
from dataclasses import replace
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from whynear.apply import embed
from whynear.explain import class_profiles
from whynear.report.cases import explained_cases
from whynear.report.comparison import Progress, compare
from whynear.report.findings import remarks
from whynear.report.interpretation import interpret
from whynear.report.methods import COMPARED, SIMPLEST_FIRST, method, n_varying
from whynear.report.problem import Problem, Table, problem_from
from whynear.report.result import Study
from whynear.report.sample import stratified_rows
from whynear.report.wording import listed

MOST_ROWS = 5_000  # to compare learners by, and to draw
LARGEST_SEED = 2**32 - 1


def study(
    table: Table = "breast_cancer",
    target: Hashable | None = None,
    *,
    learner: str = "auto",
    drop: Hashable | Iterable[Hashable] = (),
    bins: int | None = None,
    folds: int = 5,
    effective_dim: int | None = None,
    random_state: int = 0,
    encoding: str = "utf-8",
    progress: Progress | None = None,
) -> Study:
    """Learn which features decide that two cases of a table are near.

    Columns that never change are left out, the others standardised. Learners are compared with plain kNN and NCA on the
    same held-out folds, and the simplest one within a standard error of the best learns from all rows. Its metric is
    interpreted: effective dimension, relevance intervals against what noise reaches, substitutes, class profiles, maps
    of the cases, and the most instructive cases explained. Nothing is chosen on the rows it is scored on.

    Parameters
    ----------
    table : DataFrame, path or str
        The cases: a DataFrame, a file (CSV, TSV, Parquet), or the name of a data set.
    target : str, optional
        The column to predict; data sets know theirs. A name that is no text, such as 3, counts as ``"3"``.
    learner : str
        ``"auto"`` compares several; or one of ``"grlvq"``, ``"gmlvq"``, ``"lmnn"``, ``"lgrlvq"``, ``"lgmlvq"``,
        ``"lann"``.
    drop : str or sequence of str
        Columns to leave out.
    bins : int, optional
        Sort a numeric target into so many classes of equal size.
    folds : int
        Number of folds; fewer where the smallest class has fewer rows.
    effective_dim : int, optional
        Number of directions of the data on which metrics are held equal; chosen on held-out rows without it.
    random_state : int
        Seed of sample, folds and learner: the same seed gives the same study.
    encoding : str
        Encoding of a text file.
    progress : callable, optional
        Called with a step's name and the share of the work done.

    Returns
    -------
    Study
    """
    _check_seed(random_state)
    if learner not in ("auto", *SIMPLEST_FIRST):
        known = ", ".join(("auto", *SIMPLEST_FIRST))
        raise ValueError(f"There is no learner {learner!r}. Use one of {known} (--learner).")
    steps = _Steps(progress or _silent)
    steps("read the table", 0.0)
    problem = problem_from(table, target, drop=drop, bins=bins, encoding=encoding)
    X, y, sampled = _sample(problem, random_state)
    if not n_varying(X):
        raise ValueError(
            f"{problem.source}: no column changes from row to row, so nothing tells the classes apart: "
            f"{listed(list(X.columns))}. Add a column that differs between cases."
        )
    folds, shrunk = _folds(y, folds)
    names = COMPARED if learner == "auto" else (learner,)
    with warnings.catch_warnings():
        # The caveats tell of small classes already.
        warnings.filterwarnings("ignore", message="The number of unique classes is greater than", category=UserWarning)
        comparison = compare(X, y, names, folds=folds, seed=random_state, report=steps.within(0.02, 0.6))
        steps("learn the metric from all rows", 0.6)
        model = method(comparison.chosen, X, y, random_state).fit(X, y)
        interpretation = interpret(
            comparison.chosen,
            model,
            X,
            y,
            effective_dim=effective_dim,
            seed=random_state,
            report=steps.within(0.62, 0.85),
        )
        steps("map the cases", 0.85)
        maps = {
            "before": embed(model, X, method="pca"),
            "after": embed(model, X, random_state=random_state),
        }
        cases = explained_cases(X, y, comparison.predictions, comparison.chosen, random_state, steps.within(0.9, 1.0))
    steps("done", 1.0)
    settings = {
        "learner": learner,
        "learners compared": len(names),
        "folds": folds,
        "effective dimension": interpretation.effective_dim,
        "floor": round(float(interpretation.relevance.floor), 6),
        "seed": int(random_state),
        **{package: version(package) for package in ("whynear", "scikit-learn", "numpy")},
    }
    profiles = class_profiles(model)
    caveats = (*problem.caveats, *sampled, *shrunk, *remarks(problem, comparison, interpretation))
    return Study(
        replace(problem, X=X, y=y), comparison, model, interpretation, profiles, maps, cases, settings, caveats
    )


class _Steps:
    """Progress of the whole, from that of its parts."""

    def __init__(self, report: Progress) -> None:
        self.report = report

    def __call__(self, step: str, share: float) -> None:
        self.report(step, share)

    def within(self, first: float, last: float) -> Progress:
        """What a part reports, which takes up this stretch of the whole."""
        return lambda step, share: self.report(step, first + (last - first) * share)


def _silent(_step: str, _share: float) -> None:
    """Progress that nobody wants to see."""


def _check_seed(seed: object) -> None:
    if not isinstance(seed, int | np.integer) or not 0 <= seed <= LARGEST_SEED:
        raise ValueError(f"The seed must be a whole number from 0 to {LARGEST_SEED}, got {seed!r} instead (--seed 0).")


def _sample(problem: Problem, random_state: int) -> tuple[pd.DataFrame, NDArray[Any], list[str]]:
    """At most as many rows as can be compared and drawn in minutes."""
    X, y = problem.X, problem.y
    if len(X) <= MOST_ROWS:
        return X, y, []
    if (n_classes := len(np.unique(y))) > MOST_ROWS // 2:
        raise ValueError(
            f"{problem.source}: the target {problem.target!r} has {n_classes:,} classes, too many to have two rows of "
            f"each among the {MOST_ROWS:,} that can be compared. Merge classes, or choose another target."
        )
    chosen = stratified_rows(y, MOST_ROWS, np.random.default_rng(random_state))
    return X.iloc[chosen], y[chosen], [f"Of {len(X):,} rows a random {MOST_ROWS:,} were used, classes in proportion."]


def _folds(y: NDArray[Any], folds: int) -> tuple[int, list[str]]:
    if not isinstance(folds, int | np.integer) or folds < 2:
        raise ValueError(f"folds={folds!r} leaves nothing to learn from or to hold out. Use a whole number >= 2.")
    classes, counts = np.unique(y, return_counts=True)
    smallest = int(counts.min())
    if folds <= smallest:
        return folds, []
    name = str(classes[counts.argmin()])
    return smallest, [f"Class {name!r} has {smallest} rows, so {smallest} folds were made instead of {folds}."]
