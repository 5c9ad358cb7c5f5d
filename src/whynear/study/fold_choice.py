"""The choice of a learner within a fold, from its training rows alone."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import r2_score

from whynear.engine.pieces import Piece, run_piece
from whynear.study.estimate import INNER_FOLDS, INNER_ROWS
from whynear.study.fits import Answer, FitRows
from whynear.study.folds import Fold
from whynear.study.probabilities import aligned, of_predictions
from whynear.study.sample import stratified_rows
from whynear.study.score import Measure, direction, score_of, share_right
from whynear.utils.row_groups import split_rows
from whynear.utils.row_order import taken


def parts_within(fold: Fold, names: tuple[str, ...], seed: int) -> list[FitRows]:
    """Return folds of the training rows, from which a learner is chosen; of a sample where there are many."""
    (_, y), groups, rows = fold.known, fold.known_groups, fold.train
    if len(y) > INNER_ROWS:
        some = stratified_rows(y, INNER_ROWS, np.random.default_rng(seed))
        y, groups, rows = y[some], taken(groups, some), rows[some]
    counts = np.unique(y, return_counts=True)[1]
    if counts.max() < 2:
        return []
    folds = max(2, min(INNER_FOLDS, int(counts.min())))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of classes with fewer rows than folds
        splits = split_rows(y, folds, seed, stratified=True, groups=groups)
    return [
        FitRows(fold.number, rows[train], rows[test], names, within=True)
        for train, test in splits
        if len(np.unique(y[train])) > 1
    ]


class FoldAnswers:
    """The answers of a fold; when all are known, a learner is chosen, and the models of the others are dropped.

    ``classes`` are None for a numeric target.
    """

    def __init__(
        self,
        fold: Fold,
        names: Sequence[str],
        measure: Measure,
        classes: NDArray[Any] | None,
        parts: Sequence[FitRows],
    ) -> None:
        self.fold, self.names, self.measure, self.classes = fold, names, measure, classes
        self.parts = [part for part in parts if part.fold == fold.number]
        self.n_missing = sum(len(part.names) for part in self.parts)
        self.answers: dict[str, Answer] = {}
        self.scores: dict[str, float] = {}
        self.scores_within: dict[tuple[FitRows, str], float] = {}

    def add(self, answer: Answer) -> None:
        """Take an answer of the fold, or of a part within it."""
        self.n_missing -= 1
        score = self._score(answer)
        if answer.part.within:
            self.scores_within[answer.part, answer.name] = score
        else:
            self.answers[answer.name], self.scores[answer.name] = answer, score
        if not self.n_missing:
            self._choose()

    def right(self, names: Iterable[str]) -> dict[str, float]:
        """Return the share of the held-out rows that each of these methods predicts right."""
        true, count = self.fold.held_out[1], self.fold.held_out_weights
        return {name: share_right(true, self.answers[name].predicted, None, count).value for name in names}

    def predictions(self) -> pd.DataFrame:
        """Return the predictions of the learner that was chosen, with the place of each row."""
        predicted = self.answers[self.chosen].predicted
        if self.classes is None:
            return self.fold.table(predicted=predicted, fold=self.fold.number)
        probability = of_predictions(self.shares, predicted, self.classes)
        table = self.fold.table(predicted=predicted, probability=probability)
        return table.assign(by=self.chosen, fold=self.fold.number)

    def _score(self, answer: Answer) -> float:
        rows = answer.part.test
        true, count = self.fold.y[rows], taken(self.fold.weights, rows)
        if self.classes is None:
            return _r2(true, answer.predicted, count)
        classes = self.classes if not answer.part.within else np.unique(self.fold.y[_all_rows(answer.part)])
        shares = None if answer.shares is None else pd.DataFrame(answer.shares_of(classes), None, classes)
        return score_of(true, answer.predicted, self.measure, None, shares, count).value

    def _choose(self) -> None:
        within = [part for part in self.parts if part.within]
        scores = pd.DataFrame([{name: self.scores_within[part, name] for name in self.names} for part in within])
        self.chosen = simplest_of_the_best(scores, self.measure) if within else self.names[0]
        model = self.model = self.answers[self.chosen].model
        if self.classes is not None:
            found = run_piece(Piece(model.predict_proba, {"X": self.fold.held_out[0]})).result
            self.shares = aligned(found, model.classes_, self.classes)
        self.answers = {name: replace(answer, model=None) for name, answer in self.answers.items()}


def _r2(true: NDArray[Any], predicted: NDArray[Any], weights: pd.Series | None) -> float:
    """Return the share of variance explained in one fold, NaN if none of its rows has a weight."""
    if weights is not None and not weights.any():
        return float("nan")
    return float(r2_score(true, predicted, sample_weight=weights))


def _all_rows(part: FitRows) -> NDArray[np.intp]:
    return np.concatenate([part.train, part.test])


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
