"""Choosing a learner's parameters by cross-validation inside its training set."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid, StratifiedKFold

from whynear.learn.class_weights import weighed
from whynear.learn.inputs import Labelled
from whynear.utils.arrays import Array
from whynear.utils.text import counted

Folds = list[tuple[NDArray[np.intp], NDArray[np.intp]]]


def inner_search(
    learner: Any, data: Labelled, grid: Mapping[str, Sequence[Any]]
) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """Return the parameters of the grid with the best mean accuracy, and a table of all: one list per column.

    ``learner`` has the parameters ``tune``, ``cv``, ``random_state``, ``class_weight``, ``verbose`` and ``callback``.
    Held-out rows count by their weights and those of their classes. Of equally accurate ones the first is best.
    """
    counting = weighed(data, learner.class_weight).weights
    folds = _folds(data, learner.cv, learner.random_state)
    tried = list(ParameterGrid({name: list(values) for name, values in grid.items()}))
    means = []
    for params in tried:
        of_rows = weighed(data, params.get("class_weight", learner.class_weight))
        alone = {**params, "tune": False, "verbose": False, "callback": None, "class_weight": None}
        candidate = clone(learner).set_params(**alone)
        means.append(float(np.mean([_accuracy(candidate, of_rows, counting, *fold) for fold in folds])))
        if learner.verbose:
            print(f"[{type(learner).__name__}] {params}: accuracy {means[-1]:.4f}", flush=True)
    results = {name: [params[name] for params in tried] for name in tried[0]}
    return dict(tried[int(np.argmax(means))]), {**results, "mean_accuracy": means}


def _accuracy(
    candidate: Any, data: Labelled, counting: Array, train: NDArray[np.intp], test: NDArray[np.intp]
) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the final fit warns of small classes and slow descents
        model = clone(candidate).fit(data.X[train], data.codes[train], data.weights[train])
    return float(np.average(model.predict(data.X[test]) == data.codes[test], weights=counting[test]))


def _folds(data: Labelled, cv: int, random_state: Any) -> Folds:
    """Stratified folds, as many as the largest class has rows at most, each leaving two classes to learn from."""
    n_splits = min(cv, int(np.bincount(data.codes).max()))
    if n_splits < 2:
        raise ValueError(
            f"An inner search needs cv >= 2 and a class of at least two rows, got cv={cv!r} and classes of at most "
            f"{counted(np.bincount(data.codes).max(), 'row')}. Leave tune=False."
        )
    splitter = StratifiedKFold(n_splits, shuffle=True, random_state=random_state)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # classes with fewer rows than folds
        folds = [fold for fold in splitter.split(data.X, data.codes) if len(np.unique(data.codes[fold[0]])) > 1]
    if not folds:
        raise ValueError("No inner fold leaves two classes to learn from. Leave tune=False.")
    return folds
