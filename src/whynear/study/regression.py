"""Targets that are measured, not classes: predicted by the linear map of least norm."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import KFold
from sklearn.pipeline import Pipeline

from whynear.interpret import effective_dimension
from whynear.metric import as_metric
from whynear.metric.pipeline import encoder_and_rest
from whynear.study.comparison import Comparison, Progress
from whynear.study.interpretation import fewest_directions
from whynear.study.methods import MEAN, MINIMUM_NORM, PLAIN, Methods, n_varying


def compare_measures(
    X: pd.DataFrame, y: NDArray[Any], methods: Methods, *, folds: int, effective_dim: int | None, report: Progress
) -> Comparison:
    """Compare the map of least norm with plain kNN and the mean on the same folds, by the share of variance explained.

    How many directions the map uses is chosen within every fold from the others alone.
    """
    rows, parts, fitted = [], [], []
    for fold, (train, test) in enumerate(KFold(folds, shuffle=True, random_state=methods.seed).split(X)):
        report(f"compare learners, fold {fold + 1} of {folds}", fold / folds)
        known, held_out = (X.iloc[train], y[train]), (X.iloc[test], y[test])
        models = {name: methods.fitted(name, *known) for name in (MINIMUM_NORM, PLAIN, MEAN)}
        models[MINIMUM_NORM] = within_directions(models[MINIMUM_NORM], *known, effective_dim)
        rows.append({name: model.score(*held_out) for name, model in models.items()})
        fitted.append(models[MINIMUM_NORM])
        found = {"true": held_out[1], "predicted": models[MINIMUM_NORM].predict(held_out[0]), "fold": fold + 1}
        parts.append(pd.DataFrame(found, index=X.index[test]).assign(row=test))
    scores = pd.DataFrame(rows).rename_axis("fold")
    predictions = pd.concat(parts).sort_values("row", kind="stable").drop(columns="row")
    return Comparison(
        scores,
        MINIMUM_NORM,
        scores[MINIMUM_NORM].rename("r2"),
        predictions,
        measure="r2",
        held_out=predictions,
        models=tuple(fitted),
    )


def within_directions(model: Any, X: pd.DataFrame, y: NDArray[Any], effective_dim: int | None) -> Any:
    """The model fitted again with as many directions as given, or as few as predict well within these rows."""
    encoder, rest = encoder_and_rest(model)
    numbers = X if encoder is None else encoder.transform(X)
    if not isinstance(rest, Pipeline) or not n_varying(numbers):
        return model
    if effective_dim is None:
        effective_dim = fewest_directions(effective_dimension(rest, numbers, y), len(numbers))
    learner = clone(rest).set_params(minimumnormregressor__effective_dim=effective_dim).fit(numbers, y)
    return learner if encoder is None else Pipeline([("tableencoder", encoder), *learner.steps])


def shares_of(model: Any, target: str) -> pd.DataFrame:
    """What each column contributes to the map, summing to one: the profile of a target without classes."""
    encoder, _ = encoder_and_rest(model)
    metric = as_metric(model)
    relevances = metric.as_learned().relevances()
    names = list(metric.feature_names) if encoder is None else list(encoder.feature_names_in_)
    shares = relevances if encoder is None else encoder.sums(relevances)
    total = float(shares.sum()) or 1.0
    return pd.DataFrame({target: shares / total}, pd.Index(names, name="feature")).rename_axis("class", axis=1)


def typical_error(predictions: pd.DataFrame) -> float:
    """The root of the mean squared error of held-out predictions."""
    return float(np.sqrt(np.mean(np.square(predictions["true"] - predictions["predicted"]))))
