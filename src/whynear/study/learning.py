"""Fit one learner to a table, and measure its accuracy on held-out rows on request."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import VarianceThreshold
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from whynear.datasets.opening import Table, open_table
from whynear.learn import LEARNERS
from whynear.study.settings import check_seed
from whynear.study.training_rows import remember_rows
from whynear.tables.column_types import Categories, Impute
from whynear.tables.problem import Problem, problem_from
from whynear.utils.text import counted, listed

FOLDS = 5


@dataclass(frozen=True, eq=False)
class LearnedModel:
    """A learner fitted to a table.

    Attributes
    ----------
    model : estimator
        The learner, or a Pipeline that encodes and standardises the columns first; it takes the columns of the table.
    problem : Problem
        The features and the target it was fitted to, with their ``caveats``.
    learner : str
        The name of the learner.
    scores : tuple of float
        By fold, the share of held-out rows predicted right; empty unless requested.
    """

    model: BaseEstimator
    problem: Problem
    learner: str
    scores: tuple[float, ...]

    def finding(self) -> str:
        """Return a sentence with the learner, the size of the table and the accuracy on held-out rows."""
        problem, classes = self.problem, np.unique(self.problem.y).tolist()
        rows, columns = counted(len(problem.X), "row", "rows"), counted(problem.X.shape[1], "column", "columns")
        size = f"{rows}, {columns}, {len(classes)} classes ({listed(classes)})"
        return f"{self.learner} learned from {problem.source}: {size}{self._accuracy()}."

    def _accuracy(self) -> str:
        if not self.scores:
            return ""
        right = f"{np.mean(self.scores):.1%} ± {np.std(self.scores):.1%} of held-out cases right"
        return f"; {right} ({len(self.scores)} folds)"


def learn_table(
    table: Table,
    target: Hashable | None = None,
    *,
    learner: str = "gmlvq",
    raw: bool = False,
    score: bool = False,
    drop: Hashable | Iterable[Hashable] = (),
    index: Hashable | None = None,
    bins: int | None = None,
    categories: Categories = None,
    impute: Impute = None,
    random_state: int = 0,
    encoding: str = "utf-8",
) -> LearnedModel:
    """Fit one learner to a table, after the encoding and scaling that its columns need.

    Parameters
    ----------
    table : DataFrame, path or str
        A table, a file (CSV, TSV, Parquet, Excel) or the name of a data set.
    target : str, optional
        The column to predict; not needed for the name of a data set.
    learner : str, default="gmlvq"
        One of the names in `whynear.learn.LEARNERS`.
    raw : bool, default=False
        Fit to the columns as they are, not standardised.
    score : bool, default=False
        Also measure the accuracy on held-out folds.
    drop : str or list of str, optional
        Columns to leave out.
    index : str, optional
        The column with the names of the rows; it is not a feature.
    bins : int, optional
        Sort a numeric target into this number of classes of equal size.
    categories : "onehot", optional
        Take columns of text as categories.
    impute : "median" or "most_frequent", optional
        Fill in missing values; the model does the same when it predicts.
    random_state : int, default=0
        The same seed (``--seed`` of the command) gives the same model.
    encoding : str, default="utf-8"
        Encoding of a text file.

    Returns
    -------
    LearnedModel

    Examples
    --------
    >>> import whynear as wn
    >>> wn.learn_table("iris", learner="grlvq").finding()
    "grlvq learned from iris: 150 rows, 4 columns, 3 classes ('setosa', 'versicolor', 'virginica')."
    """
    seed = check_seed(random_state)
    if learner not in LEARNERS:
        raise ValueError(f"There is no learner {learner!r}. Use one of {', '.join(LEARNERS)} (--learner).")
    problem = problem_from(
        open_table(table, encoding),
        target,
        drop=drop,
        index=index,
        bins=bins,
        categories=categories,
        impute=impute,
    )
    model = _model(problem, learner, raw, seed)
    scores = _held_out_scores(model, problem, seed) if score else ()
    fitted = remember_rows(model.fit(problem.X, problem.y), problem.X)
    return LearnedModel(fitted, problem, learner, scores)


def _model(problem: Problem, name: str, raw: bool, seed: int) -> Any:
    learner, numbers = LEARNERS[name](random_state=seed), problem.numbers()
    first = [] if problem.encoder is None else [problem.encoder]
    if raw:
        return make_pipeline(*first, learner) if first else learner
    varies = np.ptp(numbers.to_numpy(), axis=0) > 0
    if not varies.any():
        raise ValueError(f"{problem.source}: all columns are constant. Add a column that differs between rows.")
    steps: list[Any] = first if varies.all() else [*first, VarianceThreshold()]
    return make_pipeline(*steps, StandardScaler(), learner)


def _held_out_scores(model: BaseEstimator, problem: Problem, seed: int) -> tuple[float, ...]:
    folds = min(FOLDS, int(np.unique(problem.y, return_counts=True)[1].min()))
    rows = StratifiedKFold(folds, shuffle=True, random_state=seed)
    return tuple(cross_val_score(model, problem.X, problem.y, cv=rows, error_score="raise").tolist())
