"""Problems that can be learned, and one learner fitted to one: how well it predicts held-out rows."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.utils.validation import has_fit_parameter

from whynear.data.opening import Table, is_vector, open_table, table_with_target
from whynear.data.options import Reading, Splitting, TableRefused, with_suggestion
from whynear.data.problem import Problem, problem_from
from whynear.data.reading import NamedTable
from whynear.data.rows import groups_in, taken
from whynear.learn import LEARNERS
from whynear.learn.registry import MINIMUM_NORM, OF_NUMBERS
from whynear.study.bands import Preprocessing
from whynear.study.errors import remember_errors
from whynear.study.fits import FitRows, Fits, fit_and_predict
from whynear.study.folds import folds_of, in_order, possible_folds
from whynear.study.methods import Methods, n_varying
from whynear.study.score import Measure, Score, score_of
from whynear.study.settings import ClassWeight, StudySettings, check_kinds, check_seed, with_old_names
from whynear.utils.text import counted, listed

FEWEST_NUMERIC_ROWS = 10  # for a numeric target


def check_learnable(problem: Problem, settings: StudySettings) -> None:
    """Refuse settings that do not fit the target, and tables from which nothing can be learned."""
    if problem.kind == "numbers" and settings.score != StudySettings.score:
        raise _needs_classes(problem, f"{settings.score} scores classes", "score")
    check_weighable(problem, settings.class_weight)
    check_fittable(problem, settings.learner)


def check_weighable(problem: Problem, class_weight: ClassWeight) -> None:
    """Refuse weights of classes for a numeric target."""
    if problem.kind == "numbers" and class_weight is not None:
        raise _needs_classes(problem, "class_weight weighs classes", "class-weight")


def check_takes_weights(learner: str, class_weight: ClassWeight, weight: object) -> None:
    """Refuse weights for a learner that has none."""

    def takes(name: str) -> dict[str, bool]:
        return {
            "weight": weight is None or has_fit_parameter(LEARNERS[name], "sample_weight"),
            "class-weight": class_weight is None or "class_weight" in LEARNERS[name]().get_params(),
        }

    if lacking := [option for option, able in takes(learner).items() if not able]:
        able = [name for name in LEARNERS if all(takes(name).values())]
        raise ValueError(
            f"The learner {learner!r} takes no weights. Leave out --{lacking[0]}, or use one of {', '.join(able)} "
            "(--learner)."
        )


def check_fittable(problem: Problem, learner: str) -> None:
    """Refuse a learner of the other kind of target, too few rows for a numeric one, and a table of constant columns."""
    if problem.kind == "classes" and learner == MINIMUM_NORM:
        raise ValueError(
            f"{problem.source}: the target {problem.target!r} has {len(problem.classes):,} classes, and {learner} "
            "predicts numbers. Leave out --learner."
        )
    if problem.kind == "numbers":
        if learner not in ("auto", *OF_NUMBERS):
            raise _needs_classes(problem, f"{learner} predicts classes", "learner")
        if len(problem.y) < FEWEST_NUMERIC_ROWS:
            raise ValueError(f"{_facts(problem)}; at least {FEWEST_NUMERIC_ROWS} rows are needed. Add rows.")
    if not n_varying(problem.numbers()):
        raise ValueError(
            f"{problem.source}: all columns are constant: {listed(list(problem.X.columns))}. "
            "Add a column that differs between rows."
        )


def _needs_classes(problem: Problem, why: str, option: str) -> TableRefused:
    return TableRefused(
        f"{_facts(problem)}, and {why}. Sort it into classes of equal size (--bins 3), or leave out --{option}.", bins=3
    )


def _facts(problem: Problem) -> str:
    n_values = len(np.unique(problem.y))
    return f"{problem.source}: the target {problem.target!r} is numeric with {n_values:,} different values"


def caveats_of_weights(settings: StudySettings) -> tuple[str, ...]:
    """Return a caveat on what weights count for, if there are any."""
    if settings.reading.weight is None and settings.class_weight is None:
        return ()
    held_out = (
        "each held-out row counts once"
        if settings.reading.weight is None
        else "held-out rows count by their weights in scores, once in verdicts, tolerances and the analysis of errors"
    )
    return (
        "Weights count when learners are fitted, not for plain kNN, NCA, PLS, the kernel ridge models of verdicts and "
        f"the votes of neighbours in LMNN and LANN; {held_out}.",
    )


def learnable_problem(
    table: Any, target: Any, settings: StudySettings, open_it: Callable[..., NamedTable] = open_table
) -> Problem:
    """Return the features and the target of a table, as a study with these settings takes them.

    A `TableRefused` has further settings with which the table is taken, if there are some. ``open_it`` opens the table,
    as `open_table` does.
    """

    @lru_cache
    def opened(encoding: str) -> tuple[NamedTable, Hashable | None]:
        if is_vector(target, table):
            return table_with_target(table, target), None  # the target is a column of the table
        return open_it(table, encoding, strict=settings.reading.strict), target

    def learnable(reading: Reading) -> Problem:
        problem = problem_from(*opened(reading.encoding), reading, settings.splitting)
        check_learnable(problem, settings)
        return problem

    return with_suggestion(learnable, settings.reading)


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
        problem, accuracy = self.problem, ""
        rows, columns = counted(len(problem.X), "row", "rows"), counted(problem.X.shape[1], "column", "columns")
        if (limits := problem.range) is not None:
            target, what = (
                f"a measured target from {limits[0]:.4g} to {limits[1]:.4g}",
                "the variance of held-out cases explained",
            )
        else:
            classes = np.unique(problem.y).tolist()
            target, what = f"{len(classes)} classes ({listed(classes)})", "held-out cases right"
        if self.score is not None:
            accuracy = f"; {self.score} of {what} ({counted(len(self.scores), 'fold')})"
        return f"{self.learner} learned from {problem.source}: {rows}, {columns}, {target}{accuracy}."


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
        One of the names in `whynear.learn.LEARNERS`, which predict classes; for a numeric target ``"minimum norm"`` or
        ``"rfm"``. ``"auto"`` is ``"gmlvq"`` for classes, and for a numeric target ``"minimum norm"``, a
        `MinimumNormRegressor` with as many directions of the data as predict held-out rows well.
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
    seed = check_seed(random_state)
    reading = Reading() if reading is None else reading
    splitting = Splitting() if splitting is None else splitting
    check_kinds(reading=reading, splitting=splitting)
    if learner not in (known := ("auto", *LEARNERS, MINIMUM_NORM)):
        raise ValueError(f"There is no learner {learner!r}. Use one of {', '.join(known[1:])} (--learner).")
    if learner in LEARNERS:
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
    numeric = problem.kind == "numbers"
    name = learner if learner != "auto" else MINIMUM_NORM if numeric else CLASSIFIER
    model = methods.fitted(name, problem.X, problem.y, problem.separation, problem.weights)
    if not numeric and len(model.steps) == 1:
        model = model[-1]
    if not (numeric or score):
        return LearnedModel(model, problem, name, None, ())
    predictions, overall, by_fold = _held_out(problem, methods, name, splitting.folds)
    return LearnedModel(remember_errors(model, predictions), problem, name, overall, by_fold)


def _held_out(
    problem: Problem, methods: Methods, name: str, most_folds: int
) -> tuple[pd.DataFrame, Score, tuple[float, ...]]:
    """Predict the rows of each fold by a model fitted to the others; return that, its score, and the score by fold."""
    measure: Measure = "accuracy" if problem.kind == "classes" else "r2"
    y, separation, weights = problem.y, problem.separation, problem.weights
    splits = folds_of(y, possible_folds(y, most_folds, separation)[0], methods.seed, separation)
    parts = tuple(FitRows(number, *rows, (name,)) for number, rows in enumerate(splits, start=1))
    fits = Fits(problem.X, y, separation, weights, methods, parts)
    found = [fit_and_predict(name, place, keep=False, fits=fits)[1] for place in range(len(parts))]
    by_fold = tuple(
        score_of(y[test], predicted, measure, None, None, taken(weights, test)).value
        for (_, test), predicted in zip(splits, found, strict=True)
    )
    places, predicted = in_order([test for _, test in splits], found)
    score = score_of(y[places], predicted, measure, groups_in(separation), None, taken(weights, places))
    return pd.DataFrame({"true": y[places], "predicted": predicted}, problem.X.index[places]), score, by_fold
