"""The whole flow: a table in, a metric, its accuracy and the relevance of each feature out."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from whynear.metric import Metric, as_metric
from whynear.report.held_out import MOST_NEIGHBORS, NAMES, Progress, held_out_accuracy, n_varying
from whynear.report.held_out import learner as make_learner
from whynear.report.problem import Problem, Table, problem_from
from whynear.report.result import Study
from whynear.report.sample import stratified_rows
from whynear.report.wording import listed

# NCA compares all rows with all rows.
MOST_ROWS = 2_000
LARGEST_SEED = 2**32 - 1


def study(
    table: Table = "breast_cancer",
    target: Hashable | None = None,
    *,
    learner: str = "nca",
    drop: Hashable | Iterable[Hashable] = (),
    bins: int | None = None,
    folds: int = 10,
    random_state: int = 0,
    encoding: str = "utf-8",
    progress: Progress | None = None,
) -> Study:
    """Learn which features decide that two cases of a table are near.

    Columns that never change are left out, the others standardised; a learner makes a metric of them, judged on
    held-out folds beside plain kNN on the same folds.

    Parameters
    ----------
    table : DataFrame, path or str
        The cases: a DataFrame, a file (CSV, TSV, Parquet), or the name of a data set.
    target : str, optional
        The column to predict; data sets know theirs. A name that is no text, such as 3, counts as ``"3"``.
    learner : str
        What learns the metric: ``"nca"``, neighbourhood components analysis judged by the five nearest neighbours, or
        one of this library: ``"gmlvq"``, ``"grlvq"``, ``"lgmlvq"``, ``"lgrlvq"``, ``"lmnn"``.
    drop : str or sequence of str
        Columns to leave out.
    bins : int, optional
        Sort a numeric target into so many classes of equal size.
    folds : int
        Number of folds; fewer where the smallest class has fewer rows.
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
    if learner not in NAMES:
        raise ValueError(f"There is no learner {learner!r}. Use one of {', '.join(NAMES)} (--learner).")
    report = progress or _silent
    report("read the table", 0.0)
    problem = problem_from(table, target, drop=drop, bins=bins, encoding=encoding)
    X, y, sampled = _sample(problem, random_state) if learner == "nca" else (problem.X, problem.y, [])
    if not n_varying(X):
        raise ValueError(
            f"{problem.source}: no column changes from row to row, so nothing tells the classes apart: "
            f"{listed(list(X.columns))}. Add a column that differs between cases."
        )
    folds, shrunk = _folds(y, folds)
    with warnings.catch_warnings():
        # The caveats tell of small classes already.
        warnings.filterwarnings("ignore", message="The number of unique classes is greater than", category=UserWarning)
        accuracy, neighbors = held_out_accuracy(X, y, learner, folds, random_state, report)
        report("learn the metric on all rows", folds / (folds + 1))
        metric = as_metric(make_learner(X, y, learner, neighbors, random_state).fit(X, y))
    report("done", 1.0)
    settings = {
        "learner": learner,
        "neighbours": neighbors,
        "folds": folds,
        "seed": int(random_state),
        **{package: version(package) for package in ("whynear", "scikit-learn", "numpy")},
    }
    if neighbors < MOST_NEIGHBORS:
        shrunk.append(f"Rows are so few that {neighbors} neighbours were asked instead of {MOST_NEIGHBORS}.")
    return Study(problem, metric, accuracy, _relevance(metric), settings, (*problem.caveats, *sampled, *shrunk))


def _silent(_step: str, _share: float) -> None:
    """Progress that nobody wants to see."""


def _check_seed(seed: object) -> None:
    if not isinstance(seed, int | np.integer) or not 0 <= seed <= LARGEST_SEED:
        raise ValueError(f"The seed must be a whole number from 0 to {LARGEST_SEED}, got {seed!r} instead (--seed 0).")


def _sample(problem: Problem, random_state: int) -> tuple[pd.DataFrame, NDArray[Any], list[str]]:
    """At most as many rows as NCA can compare with each other."""
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


def _relevance(metric: Metric) -> pd.DataFrame:
    """Shares of the features in the diagonal of Lambda, averaged over the maps of a local metric."""
    relevances = np.atleast_2d(metric.as_learned().relevances())
    totals = relevances.sum(axis=1, keepdims=True)
    shares = np.divide(relevances, totals, out=np.zeros_like(relevances), where=totals > 0).mean(axis=0)
    frame = pd.DataFrame({"feature": metric.feature_names, "relevance": shares})
    return frame.sort_values("relevance", ascending=False, kind="stable", ignore_index=True)
