"""Learners compared on rows that took no part in learning, and the choice among them judged the same way."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold

from whynear.metric.pipeline import estimators_of
from whynear.study.methods import BASELINES, SIMPLEST_FIRST, Methods
from whynear.study.sample import stratified_rows

INNER_FOLDS = 3
INNER_ROWS = 1_000  # to choose a learner by, within a fold

Progress = Callable[[str, float], None]


@dataclass(frozen=True, eq=False)
class Comparison:
    """How well methods predict held-out rows.

    Attributes
    ----------
    accuracy : DataFrame
        Share of held-out rows predicted right: a row per fold, a column per method, learners by simplicity first.
    chosen : str
        The simplest learner within one standard error of the best.
    honest : Series
        By fold, the accuracy of choosing a learner on the other folds alone and predicting with it: what may be
        expected of the choice. The column of the learner itself where one was asked for.
    predictions : DataFrame
        For each row, by the choice made without it: ``true``, ``predicted``, ``probability`` of the prediction, ``by``
        which learner, and ``fold``. For a measured target ``true``, ``predicted`` and ``fold``.
    measure : {"accuracy", "r2"}
        What the scores are: the share predicted right, or of a measured target the share of variance explained.
    held_out : DataFrame
        As ``predictions``, always by the chosen learner.
    models : tuple of Pipeline
        The chosen learner as fitted without the rows of each fold.
    """

    accuracy: pd.DataFrame
    chosen: str
    honest: pd.Series
    predictions: pd.DataFrame
    measure: Literal["accuracy", "r2"] = "accuracy"
    held_out: pd.DataFrame = field(kw_only=True)
    models: tuple[Any, ...] = field(kw_only=True, repr=False)

    def model_without(self, place: int) -> Any | None:
        """The chosen learner fitted without a row; None where the other rows showed no difference to learn from."""
        model = self.models[self.held_out["fold"].iloc[place] - 1]
        return None if isinstance(estimators_of(model)[-1], DummyClassifier) else model


def compare(
    X: pd.DataFrame, y: NDArray[Any], learners: Sequence[str], methods: Methods, *, folds: int, report: Progress
) -> Comparison:
    """Compare learners and baselines on the same folds; choose among several learners within every fold anew."""
    names = [name for name in SIMPLEST_FIRST if name in learners]
    splits = list(StratifiedKFold(folds, shuffle=True, random_state=methods.seed).split(X, y))
    rows, honest, parts, fitted = [], [], [], []
    for fold, (train, test) in enumerate(splits):
        known, held_out = (X.iloc[train], y[train]), (X.iloc[test], y[test])
        report(f"compare learners, fold {fold + 1} of {folds}", fold / folds)
        models = {name: _fitted(name, *known, methods) for name in (*names, *BASELINES)}
        rows.append({name: model.score(*held_out) for name, model in models.items()})
        chosen = names[0] if len(names) == 1 else _chosen_within(*known, names, methods)
        honest.append(rows[-1][chosen])
        parts.append(_predicted(models[chosen], X, y, test).assign(by=chosen, fold=fold + 1))
        fitted.append(models)
    accuracy = pd.DataFrame(rows).rename_axis("fold")
    best = simplest_of_the_best(accuracy[names])
    own = [_predicted(models[best], X, y, test) for models, (_, test) in zip(fitted, splits, strict=True)]
    return Comparison(
        accuracy,
        best,
        pd.Series(honest, name="accuracy"),
        _in_order(parts),
        held_out=_in_order([part.assign(fold=fold) for fold, part in enumerate(own, start=1)]),
        models=tuple(models[best] for models in fitted),
    )


def _predicted(model: Any, X: pd.DataFrame, y: NDArray[Any], test: NDArray[np.intp]) -> pd.DataFrame:
    """What a model predicts for rows it did not see."""
    probabilities = model.predict_proba(X.iloc[test])
    best = probabilities.argmax(axis=1)
    found = {"true": y[test], "predicted": model.classes_[best], "probability": probabilities.max(axis=1), "row": test}
    return pd.DataFrame(found, index=X.index[test])


def _in_order(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    return pd.concat(parts).sort_values("row", kind="stable").drop(columns="row")


def simplest_of_the_best(accuracy: pd.DataFrame) -> str:
    """The first column whose mean is within one standard error of the best column's.

    >>> simplest_of_the_best(pd.DataFrame({"simple": [0.90, 0.95], "complex": [0.91, 0.96]}))
    'simple'
    """
    means = accuracy.mean()
    best = str(means.idxmax())
    error = accuracy[best].std() / np.sqrt(len(accuracy)) if len(accuracy) > 1 else 0.0
    return str(means.index[(means >= means[best] - error - 1e-12).argmax()])


def _chosen_within(X: pd.DataFrame, y: NDArray[Any], names: Sequence[str], methods: Methods) -> str:
    """The choice made from these rows alone, or from some of many."""
    if len(X) > INNER_ROWS:
        some = stratified_rows(y, INNER_ROWS, np.random.default_rng(methods.seed))
        X, y = X.iloc[some], y[some]
    counts = np.unique(y, return_counts=True)[1]
    if counts.max() < 2:
        return names[0]
    folds = max(2, min(INNER_FOLDS, int(counts.min())))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of classes with fewer rows than folds
        splits = list(StratifiedKFold(folds, shuffle=True, random_state=methods.seed).split(X, y))
    scores = [
        {name: _fitted(name, X.iloc[train], y[train], methods).score(X.iloc[test], y[test]) for name in names}
        for train, test in splits
        if len(np.unique(y[train])) > 1
    ]
    return simplest_of_the_best(pd.DataFrame(scores)) if scores else names[0]


def _fitted(name: str, X: pd.DataFrame, y: NDArray[Any], methods: Methods) -> ClassifierMixin:
    with warnings.catch_warnings():
        # Told once, of the model that is kept.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings(
            "ignore", message="(Class|n_neighbors|The number of unique classes|Column .* holds)", category=UserWarning
        )
        return methods.fitted(name, X, y)
