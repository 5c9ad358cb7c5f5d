"""Which held-out predictions of a study can be relied on, and what its model may promise for new rows."""

from __future__ import annotations

from copy import copy
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from whynear.data.problem import Problem
from whynear.metric.steps import estimators_of
from whynear.model.pipeline import FittedPipeline
from whynear.reject.calibration import Calibration, calibrated
from whynear.reject.nearness import Nearness, nearness_of, seen_by
from whynear.reject.option import RejectOption, joined
from whynear.reject.outcome import Promise, RejectCurve, curve_of, reasons_for
from whynear.study.comparison import Comparison
from whynear.utils.arrays import Array
from whynear.utils.columns import plain_name
from whynear.work.pieces import Piece, run_piece

ACCURACIES = (0.99, 0.95, 0.9)
CONFIDENCE = 0.9
KEPT_AS = "held_out_certainty_"  # attribute of the learner


@dataclass(frozen=True)
class RejectedCase:
    """A held-out prediction that is not accepted, and why, as in `Decisions`; ``row`` is the name of the row."""

    row: Any
    true: Any
    predicted: Any
    certainty: float
    reason: str


@dataclass(frozen=True, eq=False)
class Rejection:
    """The certainty of held-out predictions, and what can be promised for accepted ones.

    Attributes
    ----------
    calibration : Calibration
        The certainty of new rows, calibrated by the held-out predictions.
    certainty : ndarray
        For each held-out prediction, the probability that it is right, by other rows.
    curve : RejectCurve
        The share of accepted cases that is right, over the share accepted.
    promises : tuple of Promise
        Those at 99%, 95% and 90%; none where rows follow each other in time.
    rejected : tuple of RejectedCase
        The cases that the strictest promise that is given rejects, the least certain first; all if none is given.
    refusal : str
        Why nothing is promised for rows that follow each other in time; empty for others.
    note : str
        Which rows count for the promises.
    """

    calibration: Calibration
    certainty: Array
    curve: RejectCurve
    promises: tuple[Promise, ...]
    rejected: tuple[RejectedCase, ...]
    refusal: str
    note: str

    @property
    def promise(self) -> Promise | None:
        """The strictest promise that is given; None if none is."""
        return next((promise for promise in self.promises if promise.given), None)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The strictest promise that is given, then why there is none at 99%, and which rows count."""
        if self.refusal:
            return (self.refusal,)
        first, given = self.promises[0], self.promise
        said = [first.sentence] if given in (None, first) else [given.sentence, first.sentence]
        return (*said, self.note)

    def frame(self) -> pd.DataFrame:
        """Return one row for each rejected case."""
        columns = ["row", "true", "predicted", "certainty", "reason"]
        return pd.DataFrame([asdict(case) for case in self.rejected], columns=columns)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but single cases as plain values."""
        return {
            "sentences": list(self.sentences),
            "promises": [promise.to_dict() for promise in self.promises],
            "curve": self.curve.to_dict(),
            "rejected": len(self.rejected),
        }


def rejection_of(problem: Problem, comparison: Comparison, model: FittedPipeline, seed: int) -> Rejection | None:
    """Calibrate the certainty of the held-out predictions of a comparison of classifiers; rows are those held out.

    ``model`` is the learner of the study, fitted to all rows; it gives the coordinates in which rows are near. Where
    folds chose another learner than the study, only measures that all learners share are used. None for a measured
    target.
    """
    predictions, probabilities = comparison.predictions, comparison.probabilities
    if probabilities is None:
        return None
    nearness = _held_out(problem.X, comparison, probabilities.columns.to_numpy())
    nearness = replace(nearness, seen=seen_by(model, problem.X))
    true, groups = predictions["true"].to_numpy(), comparison.groups
    held, certainty = calibrated(
        nearness,
        true,
        probabilities.columns.to_numpy(),
        groups=None if groups is None else groups.to_numpy(),
        seed=seed,
    )
    refusal = ""
    if problem.times is not None:
        refusal = (
            f"Nothing is promised for accepted cases: rows follow each other by {problem.times.name!r}, and the share "
            "of predictions that is right may change with it."
        )
    promises = tuple(held.promise(accuracy, CONFIDENCE) for accuracy in ACCURACIES if not refusal)
    given = next((promise for promise in promises if promise.given), None)
    accepted = np.zeros(len(true), dtype=bool) if given is None else certainty > given.threshold
    reason = reasons_for(accepted, held.is_outlier(nearness), promised=given is not None)
    order = np.argsort(certainty, kind="stable")
    rejected = tuple(
        RejectedCase(
            plain_name(predictions.index[place]),
            true[place],
            predictions["predicted"].iloc[place],
            float(certainty[place]),
            str(reason[place]),
        )
        for place in order[~accepted[order]].tolist()
    )
    of = "rows" if held.unit == "cases" else "groups"
    note = (
        f"A promise counts {len(held.right):,} of the {len(held.strangeness):,} held-out {of}, drawn at random; the "
        "certainty was fitted to the others."
    )
    if comparison.weights is not None:
        note += " Rows count once, whatever their weights."
    return Rejection(held, certainty, curve_of(certainty, ~comparison.wrong), promises, rejected, refusal, note)


def remember_rejection(model: Any, rejection: Rejection | None) -> Any:
    """Return a model whose learner holds the calibration of its held-out predictions, if it has a metric."""
    learner = estimators_of(model)[-1]
    if rejection is not None and hasattr(learner, "metric_"):
        setattr(learner, KEPT_AS, {**rejection.calibration.to_dict(), "refusal": rejection.refusal})
    return model


def option_of(model: Any, accuracy: float, confidence: float) -> RejectOption:
    """Return a model with its reject option; an error if nothing is known about its held-out predictions."""
    if isinstance(model, RejectOption):
        return copy(model).set_params(accuracy=accuracy, confidence=confidence)
    kept = getattr(estimators_of(model)[-1], KEPT_AS, None)
    if kept is None:
        raise ValueError(
            f"accuracy={accuracy} cannot be promised: the model does not know how often its predictions of held-out "
            "rows are right. Make it by a study of classes (whynear study), or by RejectOption."
        )
    if kept["refusal"]:
        raise ValueError(f"accuracy={accuracy}: {kept['refusal']} Predict without an accuracy.")
    held = Calibration.from_dict({name: value for name, value in kept.items() if name != "refusal"})
    return RejectOption(model, accuracy, confidence).settle(held)


def _held_out(X: pd.DataFrame, comparison: Comparison, classes: Any) -> Nearness:
    """Return how near the held-out rows of each fold are to the cases of its model, in the order of the predictions."""
    fold = comparison.predictions["fold"].to_numpy()
    places = [np.flatnonzero(fold == number) for number in range(1, len(comparison.models) + 1)]
    found = joined(
        [
            run_piece(Piece(nearness_of, {"model": model, "X": X.iloc[rows], "classes": classes})).result
            for model, rows in zip(comparison.fitted, places, strict=True)
            if len(rows)
        ]
    ).rows(np.argsort(np.concatenate(places), kind="stable"))
    if set(comparison.predictions["by"]) == {comparison.chosen}:
        return found
    return replace(found, near_shares=None, same_units=False)
