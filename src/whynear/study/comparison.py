"""Methods compared on the same held-out rows, and the choice among them."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import r2_score

from whynear.data.problem import kind_of_target
from whynear.data.rows import Separation, error_of_mean, groups_in, split_rows, taken
from whynear.learn.registry import OF_NUMBERS, STUDIED
from whynear.model.pipeline import FittedPipeline
from whynear.study.fits import (
    INNER_FOLDS,
    INNER_ROWS,
    FitPredictions,
    FitRows,
    Fits,
    aligned,
    held_out_predictions,
    of_predictions,
)
from whynear.study.folds import folds_of, in_order, stratified_rows
from whynear.study.methods import (
    BASELINES,
    NO_LEARNERS,
    NUMERIC_BASELINES,
    NUMERIC_YARDSTICKS,
    YARDSTICKS,
    Methods,
)
from whynear.study.score import OF_PROBABILITIES, Measure, Score, counting, direction, parts_of, score_of
from whynear.utils.arrays import Array, ByValue, Indices
from whynear.utils.progress import Report
from whynear.work.pieces import Piece, run_piece
from whynear.work.workers import Workers


def parts_within(fold: FitRows, fits: Fits, names: tuple[str, ...]) -> list[FitRows]:
    """Return folds of the training rows, from which a learner is chosen; of a sample where there are many."""
    _, y, groups, _ = fits.known(fold)
    rows, seed, of_classes = fold.train, fits.methods.seed, kind_of_target(fits.y) == "classes"
    if len(y) > INNER_ROWS:
        rng = np.random.default_rng(seed)
        some = stratified_rows(y, INNER_ROWS, rng) if of_classes else np.sort(rng.permutation(len(y))[:INNER_ROWS])
        y, groups, rows = y[some], taken(groups, some), rows[some]
    counts = np.unique(y, return_counts=True)[1]
    if of_classes and counts.max() < 2:
        return []
    folds = max(2, min(INNER_FOLDS, int(counts.min()))) if of_classes else min(INNER_FOLDS, len(y) // 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of classes with fewer rows than folds
        splits = split_rows(y, folds, seed, stratified=of_classes, groups=groups)
    return [
        FitRows(fold.fold, rows[train], rows[test], names, within=True)
        for train, test in splits
        if len(np.unique(y[train])) > 1
    ]


class FoldPredictions:
    """The predictions of a fold; when all are known, a learner is chosen, and the models of the others are dropped.

    ``classes`` are None for a numeric target.
    """

    def __init__(
        self, fold: FitRows, fits: Fits, names: Sequence[str], measure: Measure, classes: NDArray[Any] | None
    ) -> None:
        self.fold, self.fits, self.names, self.measure, self.classes = fold, fits, names, measure, classes
        self.within = [part for part in fits.parts if part.within and part.fold == fold.fold]
        self.n_missing = sum(len(part.names) for part in (fold, *self.within))
        self.found: dict[str, FitPredictions] = {}
        self.scores: dict[str, float] = {}
        self.scores_within: dict[tuple[FitRows, str], float] = {}

    def add(self, made: FitPredictions) -> None:
        """Take predictions of the fold, or of a part within it."""
        self.n_missing -= 1
        score = self._score(made)
        if made.part.within:
            self.scores_within[made.part, made.name] = score
        else:
            self.found[made.name], self.scores[made.name] = made, score
        if not self.n_missing:
            self._choose()

    def right(self, names: Iterable[str]) -> dict[str, float]:
        """Return the share of the held-out rows that each of these methods predicts right."""
        true, count = self.fits.y[self.fold.test], taken(self.fits.weights, self.fold.test)
        found = ((name, self.found[name].predicted) for name in names)
        return {name: score_of(true, predicted, "accuracy", None, None, count).value for name, predicted in found}

    @property
    def predicted(self) -> NDArray[Any]:
        """The predictions of the learner that was chosen."""
        return self.found[self.chosen].predicted

    def _score(self, made: FitPredictions) -> float:
        rows, y = made.part.test, self.fits.y
        true, count = y[rows], taken(self.fits.weights, rows)
        if self.classes is None:
            weighed = count is None or count.any()
            return float(r2_score(true, made.predicted, sample_weight=count)) if weighed else float("nan")
        known = y[np.concatenate([made.part.train, rows])] if made.part.within else self.classes
        classes = np.unique(known)
        shares = None if made.shares is None else pd.DataFrame(made.shares_of(classes), None, classes)
        return score_of(true, made.predicted, self.measure, None, shares, count).value

    def _choose(self) -> None:
        scores = pd.DataFrame([{name: self.scores_within[part, name] for name in self.names} for part in self.within])
        self.chosen = simplest_of_the_best(scores, self.measure) if self.within else self.names[0]
        model = self.model = self.found[self.chosen].model
        if self.classes is not None:
            found = run_piece(Piece(model.predict_proba, {"X": self.fits.X.iloc[self.fold.test]})).result
            self.shares = aligned(found, model.classes_, self.classes)
        self.found = {name: replace(made, model=None) for name, made in self.found.items()}


def simplest_of_the_best(scores: pd.DataFrame, measure: Measure = "accuracy") -> str:
    """Return the first column whose mean is within one standard error of the best column's; else the first of all.

    >>> simplest_of_the_best(pd.DataFrame({"simple": [0.90, 0.95], "complex": [0.91, 0.96]}))
    'simple'
    """
    known = direction(measure) * scores.dropna()
    if not len(known):
        return str(scores.columns[0])
    means = known.mean()
    best = str(means.idxmax())
    error = known[best].std() / np.sqrt(len(known)) if len(known) > 1 else 0.0
    return str(means.index[(means >= means[best] - error - 1e-12).argmax()])


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
        ``by`` (the learner) and ``fold``. A numeric target has no ``probability``.
    measure : {"accuracy", "balanced_accuracy", "log_loss", "roc_auc", "r2"}
        The kind of score that decides; for a numeric target "r2", the share of variance explained.
    scores : DataFrame
        The scores of that kind: a row per fold, a column per method; NaN where a fold has none.
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
    scores: pd.DataFrame = field(kw_only=True)
    by_method: pd.DataFrame = field(kw_only=True)
    probabilities: pd.DataFrame | None = field(default=None, kw_only=True)
    probabilities_by_method: Mapping[str, pd.DataFrame] = field(default_factory=dict, kw_only=True, repr=False)
    models: tuple[Any, ...] = field(kw_only=True, repr=False)
    groups: pd.Series | None = field(default=None, kw_only=True, repr=False)
    weights: pd.Series | None = field(default=None, kw_only=True, repr=False)
    places: NDArray[np.intp] = field(kw_only=True, repr=False)

    @property
    def methods(self) -> tuple[MethodScores, ...]:
        """The scores of each method, in the order of the columns of ``accuracy``."""
        return tuple(
            MethodScores(str(name), self.score_of(str(name)), tuple(scores.tolist()))
            for name, scores in self.scores.items()
        )

    @property
    def n_learners(self) -> int:
        """Number of learners that were compared, without baselines and yardsticks."""
        return sum(name not in NO_LEARNERS for name in self.accuracy)

    @property
    def yardsticks(self) -> tuple[str, ...]:
        """The models that measure no distances, with which the learner is compared."""
        known = NUMERIC_YARDSTICKS if self.measure == "r2" else YARDSTICKS
        return tuple(name for name in known if name in self.accuracy)

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
    def worst_first(self) -> NDArray[np.intp]:
        """The positions of the rows predicted wrong; of a numeric target those of all, the largest errors first."""
        if self.probabilities is not None:
            return np.flatnonzero(self.wrong)
        sizes = (self.predictions["true"] - self.predictions["predicted"]).abs().to_numpy()
        return np.argsort(-sizes, kind="stable")

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
        true = self.predictions["true"].to_numpy()
        return score_of(true, predicted.to_numpy(), "accuracy", self.groups, None, self.weights)

    def _score(self, predicted: pd.Series, probabilities: pd.DataFrame | None) -> Score:
        true = self.predictions["true"].to_numpy()
        return score_of(true, predicted.to_numpy(), self.measure, self.groups, probabilities, self.weights)


def compare(
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
    """Compare learners, baselines and yardsticks on the same folds; choose among learners again within every fold.

    ``measure`` is for classes; a numeric target has the share of variance explained. The number of directions of the
    map of least norm, unless it is given, the penalty of ridge regression and the number of components of PLS are
    chosen within every fold, from the training rows alone.
    """
    numeric = kind_of_target(y) == "numbers"
    classes = None if numeric else np.unique(y)
    names = tuple(name for name in (OF_NUMBERS if numeric else STUDIED) if name in learners)
    measure = "r2" if numeric else measure
    others = (*NUMERIC_BASELINES, *NUMERIC_YARDSTICKS) if numeric else (*BASELINES, *YARDSTICKS)
    compared = tuple(dict.fromkeys((*names, *others)))
    splits = folds_of(y, n_folds, methods.seed, groups)
    folds = [FitRows(number, *rows, compared) for number, rows in enumerate(splits, start=1)]
    with_shares = measure in OF_PROBABILITIES
    fits = Fits(X, y, groups, weights, methods, tuple(folds), probabilities=with_shares)
    if len(names) > 1:
        within = [part for fold in folds for part in parts_within(fold, fits, names)]
        fits = replace(fits, parts=(*folds, *within))
    of_folds = {fold.fold: FoldPredictions(fold, fits, names, measure, classes) for fold in folds}
    for made in held_out_predictions(fits, names, report, workers):
        of_folds[made.part.fold].add(made)
    found = list(of_folds.values())
    places, fold_of = in_order([fold.test for fold in folds], [np.repeat(fold.fold, len(fold.test)) for fold in folds])
    rows = X.index[places]

    def of_rows(values: Callable[[FoldPredictions], NDArray[Any]]) -> NDArray[Any]:
        return in_order([fold.test for fold in folds], [values(one) for one in found])[1]

    def predicted_by(name: str) -> NDArray[Any]:
        return of_rows(lambda one: one.found[name].predicted)

    def shares_by(name: str, classes: NDArray[Any]) -> pd.DataFrame:
        return pd.DataFrame(of_rows(lambda one: one.found[name].shares_of(classes)), rows, classes)

    by_fold = pd.DataFrame([{name: one.scores[name] for name in compared} for one in found]).rename_axis("fold")
    predictions = pd.DataFrame({"true": y[places], "predicted": of_rows(lambda one: one.predicted)}, rows)
    if classes is not None:
        predictions["probability"] = of_rows(lambda one: of_predictions(one.shares, one.predicted, classes))
    predictions["by"] = of_rows(lambda one: np.repeat(np.array(one.chosen, dtype=object), len(one.fold.test)))
    return Comparison(
        by_fold if numeric else pd.DataFrame([one.right(compared) for one in found]).rename_axis("fold"),
        simplest_of_the_best(by_fold[list(names)], measure),
        pd.Series([one.scores[one.chosen] for one in found], name=measure),
        predictions.assign(fold=fold_of),
        measure,
        scores=by_fold,
        by_method=pd.DataFrame({name: predicted_by(name) for name in compared}, rows),
        probabilities=None if classes is None else pd.DataFrame(of_rows(lambda one: one.shares), rows, classes),
        probabilities_by_method={
            name: shares_by(name, classes) for name in compared if classes is not None and with_shares
        },
        models=tuple(one.model for one in found),
        groups=groups_in(groups),
        weights=taken(weights, places),
        places=places,
    )


@dataclass(frozen=True, eq=False)
class RowScores(ByValue):
    """The part of each held-out row in a score."""

    rows: str  # a hash of their names and targets, equal for studies that held out the same rows in the same order
    parts: Array  # whose mean is the score
    groups: Indices | None = None  # a number for the group of each row; rows of a group are not independent

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, strings and lists."""
        groups = None if self.groups is None else self.groups.tolist()
        return {"rows": self.rows, "parts": self.parts.tolist(), "groups": groups}

    @classmethod
    def from_dict(cls, held: dict[str, Any]) -> RowScores | None:
        """Return what `to_dict` returned; None where the score is not defined."""
        if None in held["parts"]:
            return None
        parts = np.array(held["parts"], dtype=float)
        groups = None if held["groups"] is None else np.array(held["groups"], dtype=np.intp)
        if parts.ndim != 1 or (groups is not None and groups.shape != parts.shape):
            raise ValueError("row_scores has no part, or no group, for each row")
        return cls(str(held["rows"]), parts, groups)


def row_scores(comparison: Comparison) -> RowScores:
    """Return the parts of the held-out rows in the score of a study."""
    counted = counting(comparison.weights)
    true, predicted = comparison.predictions["true"], comparison.predictions["predicted"].to_numpy()
    parts = parts_of(true.to_numpy(), predicted, comparison.measure, comparison.probabilities, comparison.weights)
    names = json.dumps([[str(row), str(target)] for row, target in true[counted].items()])
    groups = comparison.groups
    codes = None if groups is None else np.unique(groups.astype(str).to_numpy()[counted], return_inverse=True)[1]
    return RowScores(hashlib.sha256(names.encode()).hexdigest(), parts, codes)


def error_of_difference(first: RowScores | None, second: RowScores | None) -> float | None:
    """Return the standard error of the difference of two scores of the same rows; None where rows differ."""
    if first is None or second is None or (first.rows, len(first.parts)) != (second.rows, len(second.parts)):
        return None
    groups = second.groups if first.groups is None else first.groups
    error = float(error_of_mean(second.parts - first.parts, groups))
    return error if np.isfinite(error) else None
