"""Learners compared on held-out rows, and the choice among them evaluated in the same way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier, DummyRegressor

from whynear.engine.workers import Workers
from whynear.metric.pipeline import FittedPipeline
from whynear.study.fits import FitRows, Fits, answers
from whynear.study.fold_choice import FoldAnswers, parts_within, simplest_of_the_best
from whynear.study.folds import folds_of, held_out_places, in_order
from whynear.study.methods import BASELINES, NUMERIC_BASELINES, SIMPLEST_FIRST, Methods
from whynear.study.probabilities import of_predictions
from whynear.study.score import OF_PROBABILITIES, Measure, Score, parts_of, score_of, share_right
from whynear.utils.arrays import Array
from whynear.utils.progress import Report, silent
from whynear.utils.row_order import Separation, groups_in, taken


@dataclass(frozen=True)
class MethodScores:
    """A method's score over all held-out rows, and its scores by fold."""

    name: str
    score: Score
    by_fold: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Comparison:
    """The scores and predictions of several methods on held-out rows.

    Attributes
    ----------
    accuracy : DataFrame
        Share of held-out rows predicted right: a row per fold, a column per method. Learners come first, the simplest
        of them before the others. NaN where no row of a fold has a weight.
    chosen : str
        The simplest learner within one standard error of the best.
    expected_scores : Series
        By fold, the score of the learner that was chosen from the other folds alone. Where one learner was given, its
        own scores.
    predictions : DataFrame
        For each row, by the learner chosen without it: ``true``, ``predicted``, ``probability`` of the prediction,
        ``by`` (the learner) and ``fold``. For a numeric target: ``true``, ``predicted`` and ``fold``.
    measure : {"accuracy", "balanced_accuracy", "log_loss", "roc_auc", "r2"}
        The kind of score that decides; for a numeric target "r2", the share of variance explained.
    scores : DataFrame
        The scores of that kind: a row per fold, a column per method; NaN where a fold has none. Those of ``accuracy``
        unless others are given.
    by_method : DataFrame
        The held-out prediction of each row by each method.
    probabilities : DataFrame or None
        The probability of each class for each row, by the learner chosen without it; each row sums to one. None for a
        numeric target.
    probabilities_by_method : mapping of str to DataFrame
        The same by each method, if the score is one of probabilities.
    models : tuple of Pipeline
        For each fold, the learner chosen without its rows, fitted without them.
    groups : Series or None
        The group of each row, if rows of a group were held out together; errors of scores are then those over groups.
    weights : Series or None
        How much each row counts in scores and their errors; once without weights.
    places : ndarray
        The positions, among the rows compared, of those that were held out; all but the first of them in time.
    """

    accuracy: pd.DataFrame
    chosen: str
    expected_scores: pd.Series
    predictions: pd.DataFrame
    measure: Measure = "accuracy"
    scores: pd.DataFrame = field(default=cast(pd.DataFrame, None), kw_only=True)
    by_method: pd.DataFrame = field(kw_only=True)
    probabilities: pd.DataFrame | None = field(default=None, kw_only=True)
    probabilities_by_method: Mapping[str, pd.DataFrame] = field(default_factory=dict, kw_only=True, repr=False)
    models: tuple[Any, ...] = field(kw_only=True, repr=False)
    groups: pd.Series | None = field(default=None, kw_only=True, repr=False)
    weights: pd.Series | None = field(default=None, kw_only=True, repr=False)
    places: NDArray[np.intp] = field(default=cast(NDArray[np.intp], None), kw_only=True, repr=False)

    def __post_init__(self) -> None:
        if self.scores is None:
            object.__setattr__(self, "scores", self.accuracy)
        if self.places is None:
            object.__setattr__(self, "places", np.arange(len(self.predictions)))

    @property
    def methods(self) -> tuple[MethodScores, ...]:
        """The scores of each method, in the order of the columns of ``accuracy``."""
        return tuple(
            MethodScores(str(name), self.score_of(str(name)), tuple(scores.tolist()))
            for name, scores in self.scores.items()
        )

    @property
    def n_learners(self) -> int:
        """Number of learners that were compared, without the baselines."""
        return sum(name not in (*BASELINES, *NUMERIC_BASELINES) for name in self.accuracy)

    @property
    def score(self) -> Score:
        """The score of the study: that of ``predictions``, which is expected on new rows."""
        return self._score(self.predictions["predicted"], self.probabilities)

    @property
    def right(self) -> Score:
        """The share of rows that ``predictions`` have right, whatever the score is."""
        return self._right(self.predictions["predicted"])

    @property
    def expected(self) -> float:
        """The value of ``score``."""
        return self.score.value

    @property
    def expected_error(self) -> float:
        """The standard error of ``score``."""
        return self.score.error

    @property
    def wrong(self) -> NDArray[np.bool_]:
        """For each row, whether the learner chosen without it predicts another class."""
        return (self.predictions["true"] != self.predictions["predicted"]).to_numpy()

    @property
    def parts(self) -> Array:
        """The part of each row that counts in ``score``, whose mean is it; rows of weight zero have none."""
        true, predicted = (self.predictions[name].to_numpy() for name in ("true", "predicted"))
        return parts_of(true, predicted, self.measure, self.probabilities, self.weights)

    def score_of(self, method: str) -> Score:
        """Return the score of one method over all held-out rows."""
        return self._score(self.by_method[method], self.probabilities_by_method.get(method))

    def right_by(self, method: str) -> Score:
        """Return the share of rows that one method predicts right."""
        return self._right(self.by_method[method])

    def model_without(self, place: int) -> FittedPipeline | None:
        """Return the model of ``predictions`` for a row; None where no column varies in the rows it was fitted to."""
        return next((model for model, _ in self.by_model(np.array([place]))), None)

    def by_model(self, places: NDArray[np.intp]) -> Iterator[tuple[FittedPipeline, NDArray[np.intp]]]:
        """Yield each model of ``predictions`` with those of the rows that it was fitted without."""
        fold = self.predictions["fold"].to_numpy()[places]
        for number, fitted in enumerate(self.fitted, start=1):
            if (fold == number).any() and not isinstance(fitted.learner, DummyClassifier | DummyRegressor):
                yield fitted, places[fold == number]

    @cached_property
    def fitted(self) -> tuple[FittedPipeline, ...]:
        """The models of the folds, taken apart."""
        return tuple(FittedPipeline.of(model) for model in self.models)

    def _right(self, predicted: pd.Series) -> Score:
        return share_right(self.predictions["true"].to_numpy(), predicted.to_numpy(), self.groups, self.weights)

    def _score(self, predicted: pd.Series, probabilities: pd.DataFrame | None) -> Score:
        true = self.predictions["true"].to_numpy()
        return score_of(true, predicted.to_numpy(), self.measure, self.groups, probabilities, self.weights)


def compare_classifiers(
    X: pd.DataFrame,
    y: NDArray[Any],
    learners: Sequence[str],
    methods: Methods,
    *,
    n_folds: int,
    report: Report,
    groups: Separation | None = None,
    measure: Measure = "accuracy",
    weights: pd.Series | None = None,
    workers: Workers | None = None,
) -> Comparison:
    """Compare learners and baselines on the same folds; choose among several learners again within every fold."""
    names = tuple(name for name in SIMPLEST_FIRST if name in learners)
    classes = np.unique(y)
    folds = list(folds_of(X, y, n_folds, methods.seed, silent, groups, weights))
    parts = [FitRows(fold.number, fold.train, fold.test, (*names, *BASELINES)) for fold in folds]
    if len(names) > 1:
        parts += [part for fold in folds for part in parts_within(fold, names, methods.seed)]
    fits = Fits(X, y, groups, weights, methods, tuple(parts), probabilities=measure in OF_PROBABILITIES)
    of_folds = {fold.number: FoldAnswers(fold, names, measure, classes, parts) for fold in folds}
    for answer in answers(fits, names, report, workers):
        of_folds[answer.part.fold].add(answer)
    by_method = {name: np.empty_like(y) for name in (*names, *BASELINES)}
    shares_by_method = {name: pd.DataFrame(0.0, X.index, classes) for name in (by_method if fits.probabilities else ())}
    probabilities = np.empty((len(y), len(classes)))
    right, scores, expected, by_choice, fitted = [], [], [], [], []
    for found in of_folds.values():
        fold, true = found.fold, found.fold.held_out[1]
        for name, answer in found.answers.items():
            by_method[name][fold.test] = answer.predicted
        for name, held in shares_by_method.items():
            held.iloc[fold.test] = found.answers[name].shares_of(classes)
        count = fold.held_out_weights
        right.append({name: share_right(true, one[fold.test], None, count).value for name, one in by_method.items()})
        scores.append({name: found.scores[name] for name in by_method})
        expected.append(scores[-1][found.chosen])
        fitted.append(found.model)
        shares = probabilities[fold.test] = found.shares
        predicted = by_method[found.chosen][fold.test]
        probability = of_predictions(shares, predicted, classes)
        table = fold.table(predicted=predicted, probability=probability)
        by_choice.append(table.assign(by=found.chosen, fold=fold.number))
    by_fold, places = pd.DataFrame(scores).rename_axis("fold"), held_out_places(by_choice)
    return Comparison(
        pd.DataFrame(right).rename_axis("fold"),
        simplest_of_the_best(by_fold[list(names)], measure),
        pd.Series(expected, name=measure),
        in_order(by_choice),
        measure,
        scores=by_fold,
        by_method=pd.DataFrame(by_method, X.index).iloc[places],
        probabilities=pd.DataFrame(probabilities, X.index, classes).iloc[places],
        probabilities_by_method={name: held.iloc[places] for name, held in shares_by_method.items()},
        models=tuple(fitted),
        groups=groups_in(groups),
        weights=taken(weights, places),
        places=places,
    )
