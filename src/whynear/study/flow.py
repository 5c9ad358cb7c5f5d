"""The whole flow: a table in, a metric, its accuracy and the relevance of each feature out."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable
from contextlib import nullcontext
from dataclasses import replace
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from whynear.datasets.opening import Table, open_table
from whynear.study.comparison import Progress
from whynear.study.findings import remarks
from whynear.study.methods import COMPARED, SIMPLEST_FIRST, Methods, n_varying
from whynear.study.parts import Finished, Steps, Task, learn_classes, learn_measure
from whynear.study.result import Study
from whynear.study.sample import some_rows
from whynear.tables.column_types import Categories, Impute
from whynear.tables.problem import Problem, names_of, problem_from
from whynear.utils.checks import check_seed
from whynear.utils.text import listed

MOST_ROWS = 5_000  # to compare learners by, to interpret and to draw
FEWEST_MEASURED = 10  # rows, where the target is measured


def study(
    table: Table = "breast_cancer",
    target: Hashable | None = None,
    *,
    learner: str = "auto",
    drop: Hashable | Iterable[Hashable] = (),
    index: Hashable | None = None,
    bins: int | None = None,
    categories: Categories = None,
    impute: Impute = None,
    drop_missing_target: bool = False,
    folds: int = 5,
    effective_dim: int | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    encoding: str = "utf-8",
    progress: Progress | None = None,
    finished: Finished | None = None,
) -> Study:
    """Learn which features decide that two cases of a table are near.

    Columns that never change are left out, the others standardised. Learners are compared with plain kNN and NCA on the
    same held-out folds, and the simplest one within a standard error of the best learns from all rows. Its metric is
    interpreted: effective dimension, relevance intervals against what noise reaches, substitutes, class profiles, maps
    of the cases, and the most instructive cases explained. Nothing is chosen on the rows it is scored on. A target that
    is a measurement, not a class, is predicted by `MinimumNormRegressor`, beside plain kNN and the mean.

    Parameters
    ----------
    table : DataFrame, path or str
        The cases: a DataFrame, a file (CSV, TSV, Parquet, Excel), or the name of a data set.
    target : str, optional
        The column to predict; data sets know theirs. A name that is no text, such as 3, counts as ``"3"``.
    learner : str
        ``"auto"`` compares several; or one of ``"grlvq"``, ``"gmlvq"``, ``"lmnn"``, ``"lgrlvq"``, ``"lgmlvq"``,
        ``"lann"``.
    drop : str or sequence of str
        Columns to leave out.
    index : str, optional
        The column that names the rows; it is no feature.
    bins : int, optional
        Sort a numeric target into so many classes of equal size.
    categories : {"onehot"}, optional
        Take columns of text as categories; without it they are refused. Relevance is told for the whole column.
    impute : {"median", "most_frequent"}, optional
        Fill in missing values, within every fold from its own rows; without it they are refused.
    drop_missing_target : bool
        Leave out rows without a target; without it they are refused.
    folds : int
        Number of folds; fewer where the smallest class has fewer rows.
    effective_dim : int, optional
        Number of directions of the data on which metrics are held equal; chosen on held-out rows without it.
    random_state : int
        Seed of sample, folds and learner: the same seed gives the same study.
    n_jobs : int, optional
        Number of threads; all cores without it.
    encoding : str
        Encoding of a text file.
    progress : callable, optional
        Called with a step's name and the share of the work done.
    finished : callable, optional
        Called with the name and the value of each part as soon as there is one: ``"problem"``, ``"comparison"``,
        ``"model"``, ``"interpretation"``.

    Returns
    -------
    Study
    """
    _check_settings(random_state, learner)
    steps, finish = Steps(progress or _silent), finished or _silent
    steps("read the table", 0.0)
    problem = problem_from(
        open_table(table, encoding),
        target,
        drop=drop,
        index=index,
        bins=bins,
        categories=categories,
        impute=impute,
        drop_missing_target=drop_missing_target,
        measured=True,
    )
    _check_learnable(problem, learner)
    finish("problem", problem)
    used, sampled = _sample(problem, random_state)
    folds, shrunk = _folds(used.y, folds)
    methods = Methods(random_state, problem.encoder, n_jobs)
    names = COMPARED if learner == "auto" else (learner,)
    with warnings.catch_warnings(), nullcontext() if n_jobs is None else threadpool_limits(n_jobs):
        # The caveats tell of small classes already, and a fold may hold a category that the others lack.
        told = "The number of unique classes is greater than|The least populated class|Column .* holds .* categories"
        warnings.filterwarnings("ignore", message=told, category=UserWarning)
        learn = learn_measure if problem.is_measured else learn_classes
        parts = learn(Task(problem, used, names, methods, folds, effective_dim, steps, finish))
    steps("done", 1.0)
    settings = {
        "learner": learner,
        "learners compared": 1 if problem.is_measured else len(names),
        "folds": folds,
        "bins": bins,
        "categories": categories,
        "impute": impute,
        "index": None if index is None else str(index),
        "drop": list(names_of(drop)),
        "drop_missing_target": drop_missing_target,
        "encoding": encoding,
        "effective_dim": effective_dim,
        "effective dimension": parts["interpretation"].effective_dim,
        "floor": round(float(parts["interpretation"].relevance.floor), 6),
        "seed": int(random_state),
        **{package: version(package) for package in ("whynear", "scikit-learn", "numpy")},
    }
    caveats = (*problem.caveats, *sampled, *shrunk, *remarks(used, parts["comparison"], parts["interpretation"]))
    return Study(problem=used, **parts, _settings=settings, caveats=caveats)


def _silent(_what: str, _value: Any) -> None:
    """What nobody wants to see."""


def _check_settings(seed: object, learner: str) -> None:
    check_seed(seed)
    if learner not in ("auto", *SIMPLEST_FIRST):
        known = ", ".join(("auto", *SIMPLEST_FIRST))
        raise ValueError(f"There is no learner {learner!r}. Use one of {known} (--learner).")


def _check_learnable(problem: Problem, learner: str) -> None:
    if problem.is_measured:
        facts = f"{problem.source}: the target {problem.target!r} is a measurement with {len(np.unique(problem.y)):,}"
        if learner != "auto":
            raise ValueError(
                f"{facts} different values, and {learner} learns classes. Sort it into classes of equal size "
                "(--bins 3), or leave out --learner."
            )
        if len(problem.y) < FEWEST_MEASURED:
            raise ValueError(f"{facts} different values; {FEWEST_MEASURED} rows are needed at least. Add rows.")
    if not n_varying(problem.numbers()):
        raise ValueError(
            f"{problem.source}: no column changes from row to row, so nothing tells cases apart: "
            f"{listed(list(problem.X.columns))}. Add a column that differs between cases."
        )


def _sample(problem: Problem, random_state: int) -> tuple[Problem, list[str]]:
    """At most as many rows as can be compared and drawn in minutes."""
    X, y = problem.X, problem.y
    if len(X) <= MOST_ROWS:
        return problem, []
    if not problem.is_measured and (n_classes := len(np.unique(y))) > MOST_ROWS // 2:
        raise ValueError(
            f"{problem.source}: the target {problem.target!r} has {n_classes:,} classes, too many to have two rows of "
            f"each among the {MOST_ROWS:,} that can be compared. Merge classes, or choose another target."
        )
    rows = some_rows(y, MOST_ROWS, random_state)
    told = f"Of {len(X):,} rows a random {MOST_ROWS:,} were used to compare learners, to interpret and to draw"
    return replace(problem, X=X.iloc[rows], y=y[rows]), [
        f"{told}; the model learned from {'all of them' if problem.is_measured else 'as many as its learner can'}."
    ]


def _folds(y: NDArray[Any], folds: int) -> tuple[int, list[str]]:
    if not isinstance(folds, int | np.integer) or folds < 2:
        raise ValueError(f"folds={folds!r} leaves nothing to learn from or to hold out. Use a whole number >= 2.")
    if y.dtype.kind == "f":
        most = len(y) // 2
        return min(folds, most), [] if folds <= most else [f"{most} folds were made of {len(y)} rows."]
    classes, counts = np.unique(y, return_counts=True)
    smallest = int(counts.min())
    if folds <= smallest:
        return folds, []
    name = str(classes[counts.argmin()])
    return smallest, [f"Class {name!r} has {smallest} rows, so {smallest} folds were made instead of {folds}."]
