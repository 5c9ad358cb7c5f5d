"""The explanation of the predictions of a measured target by a linear map."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from whynear.explain.encoded import shown_values
from whynear.explain.linear_parts import LinearParts
from whynear.explain.training_values import values_of_cases
from whynear.explain.value_explanation import ValueExplanation
from whynear.metric.pipeline import FittedPipeline
from whynear.metric.unusual import unusual_values
from whynear.utils.arrays import Array, Indices
from whynear.utils.threads import row_blocks

NEIGHBORS = 5  # training rows that an explanation shows


def explain_value(model: FittedPipeline, x: ArrayLike | pd.Series[Any] | pd.DataFrame) -> ValueExplanation:
    """Explain the prediction of one case; time O(n d) for n training rows, memory that of a block of them."""
    row = model.table(x, "x")
    seen = model.seen(row)
    parts = LinearParts(model)
    own = parts.contributions(np.asarray(seen, dtype=np.float64))[0]
    cases = getattr(model.learner, "cases_", np.empty((0, len(model.learner.coef_))))  # an older file has none
    numbers, sq_distances = _nearest(parts, cases, own)
    kind, names = _names(model.learner, numbers)
    neighbors = pd.DataFrame(
        {
            kind: names,
            "measured": model.learner.targets_[numbers] if len(numbers) else np.empty(0),
            "predicted": _predicted(model.learner, cases[numbers]),
            "distance": np.sqrt(sq_distances),
            "sq_distance": sq_distances,
        }
    )
    features, index = pd.Index(parts.features, name="feature"), pd.Index(names, name=kind)
    held = [parts.decoded(values) for values in values_of_cases(model, cases, numbers)]
    prediction = float(model.learner.predict(seen)[0])
    return ValueExplanation(
        prediction=prediction,
        mean_prediction=float(model.learner.target_origin_),
        values=pd.Series(_values(parts, row, seen), features, name="value", dtype=object),
        mean_values=pd.Series(parts.means, features, name="mean"),
        coefficients=pd.Series(parts.coefficients, features, name="coefficient"),
        contributions=pd.Series(own, features, name="contribution"),
        neighbors=neighbors,
        neighbor_values=pd.DataFrame(held, index, features, dtype=object),
        neighbor_contributions=pd.DataFrame(parts.contributions(cases[numbers]), index, features),
        coordinates=model.coordinates,
        unusual=tuple(unusual_values(model, row, seen)[0]),
        interval=_interval(model.learner, prediction),
        cancels=_cancels(own, getattr(model.learner, "targets_", None)),
    )


def _nearest(parts: LinearParts, cases: Array, own: Array) -> tuple[Indices, Array]:
    """Return the numbers of the training rows with the most similar contributions, and their squared distances."""
    sq = np.empty(len(cases))
    for rows in row_blocks(len(cases), row_bytes=24 * max(1, cases.shape[1])):
        sq[rows] = np.square(parts.contributions(cases[rows]) - own).sum(axis=1)
    nearest = np.argsort(sq, kind="stable")[:NEIGHBORS]
    return nearest, sq[nearest]


def _names(learner: Any, numbers: Indices) -> tuple[Literal["row", "case"], list[Any]]:
    names = getattr(learner, "row_names_", None)
    return ("case", (numbers + 1).tolist()) if names is None else ("row", names[numbers].tolist())


def _cancels(contributions: Array, targets: Array | None) -> bool:
    """Return whether a contribution exceeds the range of the targets, and the others take away half of it or more."""
    largest = np.abs(contributions).max(initial=0.0)
    return targets is not None and bool(largest > np.ptp(targets)) and bool(abs(contributions.sum()) <= largest / 2)


def _interval(learner: Any, prediction: float) -> tuple[float, float] | None:
    errors = getattr(learner, "error_interval_", None)
    return None if errors is None else (prediction + float(errors[0]), prediction + float(errors[1]))


def _predicted(learner: Any, cases: Array) -> Array:
    return np.asarray((cases - learner.origin_) @ learner.coef_ + learner.target_origin_)


def _values(parts: LinearParts, row: pd.DataFrame, seen: Any) -> list[Any]:
    """Return the values of the explained case as they are shown; behind steps that mix columns, as the input."""
    if parts.model.coordinates == "steps":
        return np.asarray(seen, dtype=np.float64)[0].tolist()
    return shown_values(parts.model.with_dates(parts.model.shown(row)))
