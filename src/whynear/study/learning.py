"""Fit one learner to a table, and measure how well it predicts held-out rows."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from whynear.datasets.opening import Table, open_table
from whynear.learn import LEARNERS
from whynear.study.comparison import with_directions
from whynear.study.errors import remember_errors
from whynear.study.folds import folds_of, held_out_places, in_order, possible_folds
from whynear.study.learnable import check_fittable, check_takes_weights, check_weighable
from whynear.study.methods import MINIMUM_NORM, Methods
from whynear.study.preprocessing import Preprocessing
from whynear.study.score import Measure, Score, score_of
from whynear.study.settings import ClassWeight, check_seed
from whynear.tables.problem import Problem, names_of, problem_from
from whynear.tables.refusal import with_suggestion
from whynear.utils.choices import Categories, Impute
from whynear.utils.progress import silent
from whynear.utils.row_order import Separation, groups_in, taken
from whynear.utils.text import counted, listed

FOLDS = 5
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


def learn_table(
    table: Table,
    target: Hashable | None = None,
    *,
    learner: str = "auto",
    raw: bool = False,
    score: bool = False,
    drop: Hashable | Iterable[Hashable] = (),
    index: Hashable | None = None,
    group: Hashable | None = None,
    time: Hashable | None = None,
    weight: Hashable | None = None,
    class_weight: ClassWeight = None,
    bins: int | None = None,
    categories: Categories = "auto",
    impute: Impute = "auto",
    missing: object | Iterable[object] = (),
    category: Hashable | Iterable[Hashable] = (),
    number: Hashable | Iterable[Hashable] = (),
    date: Hashable | Iterable[Hashable] = (),
    drop_missing_target: bool = False,
    strict: bool = False,
    spectra: bool | None = None,
    random_state: int = 0,
    encoding: str = "auto",
) -> LearnedModel:
    """Fit one learner to a table, after the encoding and scaling that its columns need.

    Parameters
    ----------
    table : DataFrame, path or str
        A table, a file (CSV, TSV, Parquet, Excel) or the name of a data set.
    target : str, optional
        The column to predict; not needed for the name of a data set.
    learner : str, default="auto"
        One of the names in `whynear.learn.LEARNERS`, which predict classes. ``"auto"`` is ``"gmlvq"`` for classes, and
        for a numeric target a `MinimumNormRegressor`, with as many directions of the data as predict held-out rows
        well.
    raw : bool, default=False
        Fit to the columns as they are, not standardised.
    score : bool, default=False
        Also measure the accuracy on held-out folds. With a numeric target this is always done, because the interval
        of each prediction comes from it; see `predict_table`.
    drop : str or list of str, optional
        Columns to leave out.
    index : str, optional
        The column with the names of the rows; it is not a feature.
    group : str, optional
        The column that says which rows belong together, such as those of one patient; it is not a feature. Rows of a
        group are held out together.
    time : str, optional
        The column with the time of each row; it is not a feature. Rows held out are later than those learned from.
    weight : str, optional
        The column with the weight of each row in the fit and in the scores; it is not a feature.
    class_weight : {"balanced"}, optional
        Let all classes count alike together, however many rows they have.
    bins : int, optional
        Sort a numeric target into this number of classes of equal size.
    categories : {"auto", "onehot"}, default="auto"
        ``"auto"`` takes text of at most 50 values as categories and sets other text aside; ``"onehot"`` takes all text
        as categories.
    impute : {"auto", "median", "most_frequent"}, default="auto"
        What fills in missing values; ``"auto"`` is the median, with an indicator where missing values depend on the
        target. The model does the same when it predicts.
    missing : str or list of str, optional
        Values that stand for missing ones.
    category, number, date : str or list of str, optional
        Columns to take as categories, as numbers and as dates; see `study`.
    drop_missing_target : bool, default=False
        Leave out rows without a target; an error without it.
    strict : bool, default=False
        Refuse whatever would be decided about a column automatically.
    spectra : bool, optional
        Whether columns named by numbers are the channels of a spectrum; found out without it. The model then begins
        with the preprocessing that predicts held-out rows best; see `study`.
    random_state : int, default=0
        The same seed (``--seed`` of the command) gives the same model.
    encoding : str, default="auto"
        Encoding of a text file; ``"auto"`` finds it.

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
    if learner != "auto" and learner not in LEARNERS:
        raise ValueError(f"There is no learner {learner!r}. Use one of {', '.join(LEARNERS)} (--learner).")
    if learner != "auto":
        check_takes_weights(learner, class_weight, weight)
    opened = lru_cache(partial(open_table, table, strict=strict))  # a suggestion may need another encoding
    chosen: dict[str, Any] = {"encoding": encoding, "bins": bins, "strict": strict, "index": index, "group": group}
    chosen |= {"time": time, "weight": weight, "spectra": spectra}
    chosen |= {"categories": categories, "impute": impute, "drop_missing_target": drop_missing_target}
    lists = {"drop": drop, "missing": missing, "category": category, "number": number, "date": date}
    chosen |= {name: tuple(names_of(values)) for name, values in lists.items()}

    def problem_by(encoding: str, **settings: Any) -> Problem:
        problem = problem_from(opened(encoding), target, measured=True, **settings)
        check_weighable(problem, class_weight)
        check_fittable(problem, learner)
        return problem

    problem = with_suggestion(problem_by, chosen)
    preprocessing = None if problem.axis is None else Preprocessing(problem.axis, seed)
    methods = Methods(seed, problem.encoder, None, class_weight, preprocessing, scaled=not raw)
    if problem.kind == "numbers":
        return _regressor(problem, methods)
    name = CLASSIFIER if learner == "auto" else learner
    model = methods.fitted(name, problem.X, problem.y, problem.separation, problem.weights)
    if not score:
        return LearnedModel(_without_wrapping(model), problem, name, None, ())
    _, overall, by_fold = _held_out(problem, methods, partial(methods.fitted, name))
    return LearnedModel(_without_wrapping(model), problem, name, overall, by_fold)


def _without_wrapping(model: Pipeline) -> BaseEstimator:
    """Return the learner itself where it is the only step."""
    return model[-1] if len(model.steps) == 1 else model


def _regressor(problem: Problem, methods: Methods) -> LearnedModel:
    """Fit a linear map to a numeric target, with its number of directions and its errors from held-out rows."""

    def fitted(
        X: pd.DataFrame, y: NDArray[Any], groups: Separation | None = None, weights: pd.Series | None = None
    ) -> Any:
        return with_directions(methods.fitted(MINIMUM_NORM, X, y, groups, weights), X, y, groups, weights)

    predictions, overall, by_fold = _held_out(problem, methods, fitted)
    model = fitted(problem.X, problem.y, problem.separation, problem.weights)
    return LearnedModel(remember_errors(model, predictions), problem, MINIMUM_NORM, overall, by_fold)


def _held_out(
    problem: Problem, methods: Methods, fitted: Callable[..., Any]
) -> tuple[pd.DataFrame, Score, tuple[float, ...]]:
    """Predict the rows of each fold by a model fitted to the others; return that, its score, and the score by fold."""
    measure: Measure = "accuracy" if problem.kind == "classes" else "r2"
    n_folds, _ = possible_folds(problem.y, FOLDS, problem.separation)
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
