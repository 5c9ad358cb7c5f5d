"""Fit one learner to a table, and measure how well it predicts held-out rows."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from whynear.data.opening import Table, open_table
from whynear.data.problem import Problem, problem_from
from whynear.data.rows import Separation, groups_in, taken
from whynear.data.settings import Reading, Splitting, with_suggestion
from whynear.learn import LEARNERS
from whynear.study.comparison import with_directions
from whynear.study.errors import remember_errors
from whynear.study.folds import folds_of, held_out_places, in_order, possible_folds
from whynear.study.learnable import check_fittable, check_takes_weights, check_weighable
from whynear.study.methods import MINIMUM_NORM, Methods
from whynear.study.preprocessing import Preprocessing
from whynear.study.score import Measure, Score, score_of
from whynear.study.settings import ClassWeight, check_seed, with_old_names
from whynear.utils.progress import silent
from whynear.utils.text import counted, listed

CLASSIFIER = "gmlvq"  # where no learner is named


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
    score : Score or None
        The share of held-out rows predicted right, or for a numeric target of their variance explained, with its
        standard error over rows, or over groups; None unless requested.
    scores : tuple of float
        The same by fold; empty unless requested.
    """

    model: BaseEstimator
    problem: Problem
    learner: str
    score: Score | None
    scores: tuple[float, ...]

    def finding(self) -> str:
        """Return a sentence with the learner, the size of the table and the accuracy on held-out rows."""
        problem = self.problem
        rows, columns = counted(len(problem.X), "row", "rows"), counted(problem.X.shape[1], "column", "columns")
        return f"{self.learner} learned from {problem.source}: {rows}, {columns}, {self._target()}{self._accuracy()}."

    def _target(self) -> str:
        if (limits := self.problem.range) is not None:
            return f"a measured target from {limits[0]:.4g} to {limits[1]:.4g}"
        classes = np.unique(self.problem.y).tolist()
        return f"{len(classes)} classes ({listed(classes)})"

    def _accuracy(self) -> str:
        if self.score is None:
            return ""
        what = "held-out cases right" if self.problem.kind == "classes" else "the variance of held-out cases explained"
        return f"; {self.score} of {what} ({counted(len(self.scores), 'fold')})"


@with_old_names
def learn_table(
    table: Table,
    target: Hashable | None = None,
    *,
    reading: Reading | None = None,
    splitting: Splitting | None = None,
    learner: str = "auto",
    raw: bool = False,
    score: bool = False,
    class_weight: ClassWeight = None,
    random_state: int = 0,
) -> LearnedModel:
    """Fit one learner to a table, after the encoding and scaling that its columns need.

    Parameters
    ----------
    table : DataFrame, path or str
        A table, a file (CSV, TSV, Parquet, Excel) or the name of a data set.
    target : str, optional
        The column to predict; not needed for the name of a data set.
    reading : Reading, optional
        How the table becomes features and a target: columns to leave out, names and weights of the rows, missing
        values. The model reads new rows in the same way.
    splitting : Splitting, optional
        Which rows are held out together where the accuracy is measured, and in how many folds.
    learner : str, default="auto"
        One of the names in `whynear.learn.LEARNERS`, which predict classes. ``"auto"`` is ``"gmlvq"`` for classes, and
        for a numeric target a `MinimumNormRegressor`, with as many directions of the data as predict held-out rows
        well.
    raw : bool, default=False
        Fit to the columns as they are, not standardised.
    score : bool, default=False
        Also measure the accuracy on held-out folds. With a numeric target this is always done, because the interval
        of each prediction comes from it; see `predict_table`.
    class_weight : {"balanced"}, optional
        Let all classes count alike together, however many rows they have.
    random_state : int, default=0
        The same seed (``--seed`` of the command) gives the same model.

    Returns
    -------
    LearnedModel

    Examples
    --------
    >>> import whynear as wn
    >>> wn.learn_table("iris", learner="grlvq").finding()
    "grlvq learned from iris: 150 rows, 4 columns, 3 classes ('setosa', 'versicolor', 'virginica')."
    """
    seed, reading, splitting = check_seed(random_state), reading or Reading(), splitting or Splitting()
    if learner != "auto" and learner not in LEARNERS:
        raise ValueError(f"There is no learner {learner!r}. Use one of {', '.join(LEARNERS)} (--learner).")
    if learner != "auto":
        check_takes_weights(learner, class_weight, reading.weight)
    opened = lru_cache(partial(open_table, table, strict=reading.strict))  # a suggestion may need another encoding

    def problem_by(reading: Reading) -> Problem:
        problem = problem_from(opened(reading.encoding), target, reading, splitting)
        check_weighable(problem, class_weight)
        check_fittable(problem, learner)
        return problem

    problem = with_suggestion(problem_by, reading)
    preprocessing = None if problem.axis is None else Preprocessing(problem.axis, seed)
    methods = Methods(seed, problem.encoder, None, class_weight, preprocessing, scaled=not raw)
    if problem.kind == "numbers":
        return _regressor(problem, methods, splitting.folds)
    name = CLASSIFIER if learner == "auto" else learner
    model = methods.fitted(name, problem.X, problem.y, problem.separation, problem.weights)
    if not score:
        return LearnedModel(_without_wrapping(model), problem, name, None, ())
    _, overall, by_fold = _held_out(problem, methods, splitting.folds, partial(methods.fitted, name))
    return LearnedModel(_without_wrapping(model), problem, name, overall, by_fold)


def _without_wrapping(model: Pipeline) -> BaseEstimator:
    """Return the learner itself where it is the only step."""
    return model[-1] if len(model.steps) == 1 else model


def _regressor(problem: Problem, methods: Methods, folds: int) -> LearnedModel:
    """Fit a linear map to a numeric target, with its number of directions and its errors from held-out rows."""

    def fitted(
        X: pd.DataFrame, y: NDArray[Any], groups: Separation | None = None, weights: pd.Series | None = None
    ) -> Any:
        return with_directions(methods.fitted(MINIMUM_NORM, X, y, groups, weights), X, y, groups, weights)

    predictions, overall, by_fold = _held_out(problem, methods, folds, fitted)
    model = fitted(problem.X, problem.y, problem.separation, problem.weights)
    return LearnedModel(remember_errors(model, predictions), problem, MINIMUM_NORM, overall, by_fold)


def _held_out(
    problem: Problem, methods: Methods, most_folds: int, fitted: Callable[..., Any]
) -> tuple[pd.DataFrame, Score, tuple[float, ...]]:
    """Predict the rows of each fold by a model fitted to the others; return that, its score, and the score by fold."""
    measure: Measure = "accuracy" if problem.kind == "classes" else "r2"
    n_folds, _ = possible_folds(problem.y, most_folds, problem.separation)
    folds = folds_of(problem.X, problem.y, n_folds, methods.seed, silent, problem.separation, problem.weights)
    tables, by_fold = [], []
    for fold in folds:
        rows, true = fold.held_out
        predicted = fitted(*fold.known, fold.known_groups, fold.known_weights).predict(rows)
        tables.append(fold.table(predicted=predicted))
        by_fold.append(score_of(true, predicted, measure, None, None, fold.held_out_weights).value)
    places, found = held_out_places(tables), in_order(tables)
    true, predicted = found["true"].to_numpy(), found["predicted"].to_numpy()
    groups, weights = groups_in(problem.separation), taken(problem.weights, places)
    return found, score_of(true, predicted, measure, groups, None, weights), tuple(by_fold)
