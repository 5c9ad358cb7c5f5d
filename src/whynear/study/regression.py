"""Numeric targets: predicted by the linear map of least norm."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.dummy import DummyRegressor
from sklearn.metrics import r2_score

from whynear.engine.workers import Workers
from whynear.interpret import effective_dimension
from whynear.metric import as_metric
from whynear.metric.fit_weights import weights_for
from whynear.metric.pipeline import FittedPipeline
from whynear.study.comparison import Comparison
from whynear.study.fits import FitRows, Fits, answers
from whynear.study.folds import folds_of, held_out_places, in_order
from whynear.study.interpretation import fewest_directions
from whynear.study.methods import MINIMUM_NORM, NUMERIC_BASELINES, Methods, n_varying
from whynear.study.training_rows import remember_rows
from whynear.utils.progress import Report, silent
from whynear.utils.row_order import Separation, groups_in, n_different, taken

FEWEST_OTHERS = 5  # values of a column that are not its most frequent one


def compare_regressors(
    X: pd.DataFrame,
    y: NDArray[Any],
    methods: Methods,
    *,
    n_folds: int,
    effective_dim: int | None,
    report: Report,
    groups: Separation | None = None,
    weights: pd.Series | None = None,
    workers: Workers | None = None,
) -> Comparison:
    """Compare the map of least norm with simple methods on the same folds, by the share of variance explained.

    The number of directions of the map, the penalty of ridge regression and the number of components of PLS are chosen
    within every fold, from the training rows alone.
    """
    by_method = {name: np.empty(len(y)) for name in (MINIMUM_NORM, *NUMERIC_BASELINES)}
    folds = list(folds_of(X, y, n_folds, methods.seed, silent, groups, weights))
    parts = tuple(FitRows(fold.number, fold.train, fold.test, tuple(by_method)) for fold in folds)
    finish = {MINIMUM_NORM: partial(_with_directions_of, effective_dim)}
    fits = Fits(X, y, groups, weights, methods, parts, finish=finish)
    models = {}
    for answer in answers(fits, [MINIMUM_NORM], report, workers):
        by_method[answer.name][answer.part.test] = answer.predicted
        if answer.name == MINIMUM_NORM:
            models[answer.part.fold] = answer.model
    scores, predictions = [], []
    for fold in folds:
        true, count = fold.held_out[1], fold.held_out_weights
        scores.append({name: _r2(true, found[fold.test], count) for name, found in by_method.items()})
        predictions.append(fold.table(predicted=by_method[MINIMUM_NORM][fold.test], fold=fold.number))
    r2, places = pd.DataFrame(scores).rename_axis("fold"), held_out_places(predictions)
    return Comparison(
        r2,
        MINIMUM_NORM,
        r2[MINIMUM_NORM].rename("r2"),
        in_order(predictions),
        measure="r2",
        by_method=pd.DataFrame(by_method, X.index).iloc[places],
        models=tuple(models[fold.number] for fold in folds),
        groups=groups_in(groups),
        weights=taken(weights, places),
        places=places,
    )


def _r2(true: NDArray[Any], predicted: NDArray[Any], weights: pd.Series | None) -> float:
    """Return the share of variance explained in one fold, NaN if none of its rows has a weight."""
    if weights is not None and not weights.any():
        return float("nan")
    return float(r2_score(true, predicted, sample_weight=weights))


def _with_directions_of(
    effective_dim: int | None,
    model: Any,
    X: pd.DataFrame,
    y: NDArray[Any],
    groups: Separation | None,
    weights: pd.Series | None,
) -> Any:
    return with_directions(model, X, y, effective_dim, groups, weights)


def with_directions(
    model: Any,
    X: pd.DataFrame,
    y: NDArray[Any],
    effective_dim: int | None,
    groups: Separation | None = None,
    weights: pd.Series | None = None,
) -> Any:
    """Fit the model again with the given number of directions, or with the fewest that predict these rows well.

    It keeps all directions where hardly any value of a column differs from the others.
    """
    fitted = FittedPipeline.of(model)
    rest, numbers = fitted.without_encoder, fitted.numbers(X)
    if isinstance(fitted.learner, DummyRegressor) or not n_varying(numbers):
        return model
    if effective_dim is None and not _varies_in_parts(numbers):
        return model
    if effective_dim is None:
        independent = len(numbers) if groups_in(groups) is None else n_different(groups_in(groups))
        found = effective_dimension(rest, numbers, y, groups=groups, sample_weight=weights)
        effective_dim = fewest_directions(found, independent)
    learner = clone(rest).set_params(minimumnormregressor__effective_dim=effective_dim)
    learner = learner.fit(numbers, y, **weights_for(learner, weights))
    return remember_rows(fitted.behind_encoder(learner), X)


def _varies_in_parts(X: pd.DataFrame) -> bool:
    """Return whether a column is likely to vary in each part of the rows, so that some can be held out."""
    others = (len(X) - column.value_counts().iloc[0] for _, column in X.items())
    return max(others) >= FEWEST_OTHERS


def relevance_profile(model: Any, target: str) -> pd.DataFrame:
    """Return the share of each column in the map, with sum one: the profile of a numeric target."""
    fitted = FittedPipeline.of(model)
    shares = fitted.sums(as_metric(fitted).as_learned().mean_shares())
    return pd.DataFrame({target: shares}, pd.Index(fitted.columns, name="feature")).rename_axis("class", axis=1)


def root_mean_squared_error(predictions: pd.DataFrame, weights: pd.Series | None = None) -> float:
    """Return the root mean squared error of held-out predictions, which count by their weights."""
    return float(np.sqrt(np.average(np.square(predictions["true"] - predictions["predicted"]), weights=weights)))
