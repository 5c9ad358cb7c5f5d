"""The whole flow: a table in, a metric, its accuracy and the relevance of each feature out."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from whynear.metric import LinearMetric, as_metric
from whynear.report.held_out import MOST_NEIGHBORS, Progress, held_out_accuracy, learner, n_varying
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
    drop: Hashable | Iterable[Hashable] = (),
    bins: int | None = None,
    folds: int = 10,
    random_state: int = 0,
    encoding: str = "utf-8",
    progress: Progress | None = None,
) -> Study:
    """Learn which features decide that two cases of a table are near.

    Columns that never change are left out, the others standardised; neighbourhood components analysis learns a linear
    map, judged by the five nearest neighbours on held-out folds beside plain kNN on the same folds.

    Parameters
    ----------
    table : DataFrame, path or str
        The cases: a DataFrame, a file (CSV, TSV, Parquet), or the name of a data set.
    target : str, optional
        The column to predict; data sets know theirs. A name that is no text, such as 3, counts as ``"3"``.
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
    report = progress or _silent
    report("read the table", 0.0)
    problem = problem_from(table, target, drop=drop, bins=bins, encoding=encoding)
    X, y, sampled = _sample(problem, random_state)
    if not n_varying(X):
        raise ValueError(
            f"{problem.source}: no column changes from row to row, so nothing tells the classes apart: "
            f"{listed(list(X.columns))}. Add a column that differs between cases."
        )
    folds, shrunk = _folds(y, folds)
    with warnings.catch_warnings():
        # The caveats tell of small classes already.
        warnings.filterwarnings("ignore", message="The number of unique classes is greater than", category=UserWarning)
        accuracy, neighbors = held_out_accuracy(X, y, folds, random_state, report)
        report("learn the metric on all rows", folds / (folds + 1))
        metric = as_metric(learner(X, y, neighbors, random_state).fit(X, y))
    assert isinstance(metric, LinearMetric)
    report("done", 1.0)
    settings = {
        "neighbours": neighbors,
        "folds": folds,
        "seed": int(random_state),
        "dimensions of the map": metric.omega.shape[0],
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


def _relevance(metric: LinearMetric) -> pd.DataFrame:
    relevances = metric.as_learned().relevances()
    total = relevances.sum()
    shares = relevances / total if total > 0 else relevances
    frame = pd.DataFrame({"feature": metric.feature_names, "relevance": shares})
    return frame.sort_values("relevance", ascending=False, kind="stable", ignore_index=True)
