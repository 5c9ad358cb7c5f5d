"""Two ways to predict a case from its neighbours, judged on rows that took no part in learning."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.feature_selection import VarianceThreshold
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from whynear.learn.registry import LEARNERS

PLAIN = "plain kNN"
MOST_NEIGHBORS = MOST_COMPONENTS = 5
NAMES = ("nca", *LEARNERS)

Progress = Callable[[str, float], None]


def held_out_accuracy(
    X: pd.DataFrame, y: NDArray[Any], name: str, folds: int, random_state: int, report: Progress
) -> tuple[pd.DataFrame, int]:
    """Share of held-out rows predicted right, a row per fold, the learner's column first; and the neighbours asked.

    Neighbours are as many as the smallest training part has rows, at most five.
    """
    splits = list(StratifiedKFold(folds, shuffle=True, random_state=random_state).split(X, y))
    n_neighbors = min(MOST_NEIGHBORS, *(len(train) for train, _ in splits))
    scores = []
    for fold, (train, test) in enumerate(splits):
        report(f"hold out fold {fold + 1} of {folds}", fold / (folds + 1))
        known, held_out = (X.iloc[train], y[train]), (X.iloc[test], y[test])
        learned, plain = learner(*known, name, n_neighbors, random_state), _nearest(X.iloc[train], n_neighbors)
        methods = {f"learned metric ({name.upper()})": learned, PLAIN: plain}
        scores.append({way: float(method.fit(*known).score(*held_out)) for way, method in methods.items()})
    return pd.DataFrame(scores).rename_axis("fold"), n_neighbors


def learner(X: pd.DataFrame, y: NDArray[Any], name: str, n_neighbors: int, random_state: int) -> ClassifierMixin:
    """What learns a metric from these rows and predicts with it.

    One of this library's learners as it comes; or NCA with as many directions as the columns that vary, at most five,
    and the vote of the nearest rows.
    """
    if name in LEARNERS and n_varying(X):
        return make_pipeline(VarianceThreshold(), StandardScaler(), LEARNERS[name](random_state=random_state))
    components = max(1, min(MOST_COMPONENTS, n_varying(X)))
    init = _start(X, y, components)
    nca = NeighborhoodComponentsAnalysis(n_components=components, init=init, random_state=random_state)
    return _nearest(X, n_neighbors, nca)


def _start(X: pd.DataFrame, y: NDArray[Any], components: int) -> str:
    """Where NCA begins: where it would by itself, unless that is at discriminants which the rows do not have."""
    if components >= len(np.unique(y)):
        return "auto"
    try:
        with np.errstate(invalid="ignore", divide="ignore"):  # where all classes have one mean
            analysis = LinearDiscriminantAnalysis().fit(StandardScaler().fit_transform(X), y)
        discriminants = analysis.scalings_.shape[1]
    except (ValueError, IndexError):  # no more rows than classes, or all rows of each class equal
        discriminants = 0
    if discriminants >= components:
        return "auto"
    return "pca" if components <= len(X) else "identity"


def n_varying(X: pd.DataFrame) -> int:
    """Number of columns that VarianceThreshold keeps."""
    values = X.to_numpy()
    return int(np.count_nonzero((np.var(values, axis=0) > 0) & (np.ptp(values, axis=0) > 0)))


def _nearest(X: pd.DataFrame, n_neighbors: int, *maps: Any) -> Pipeline | DummyClassifier:
    """Vote of the nearest rows of X; where none of its columns varies all are equally near, and all vote."""
    if not n_varying(X):
        return DummyClassifier(strategy="most_frequent")
    neighbors = KNeighborsClassifier(n_neighbors, weights="distance")
    return make_pipeline(VarianceThreshold(), StandardScaler(), *maps, neighbors)
