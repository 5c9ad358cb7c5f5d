"""The methods a study compares, each as a Pipeline that starts from the columns of the table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.feature_selection import VarianceThreshold
from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from whynear.learn.registry import LEARNERS
from whynear.report.sample import stratified_rows

SIMPLEST_FIRST = ("grlvq", "gmlvq", "lmnn", "lgrlvq", "lgmlvq", "lann")
COMPARED = ("grlvq", "gmlvq", "lmnn", "lgmlvq", "lann")  # where no learner is asked for
PLAIN, NCA = "plain kNN", "NCA with kNN"
BASELINES = (PLAIN, NCA)
NEIGHBORS = 5
NCA_ROWS = 2_000  # it compares all rows with all rows
NCA_COMPONENTS = 5


def method(name: str, X: pd.DataFrame, y: NDArray[Any], seed: int) -> ClassifierMixin:
    """A method ready to be fitted to these rows; what predicts the most frequent class where no column varies."""
    if not n_varying(X):
        return DummyClassifier(strategy="prior")
    if name in LEARNERS:
        return make_pipeline(VarianceThreshold(), StandardScaler(), LEARNERS[name](random_state=seed))
    neighbors = KNeighborsClassifier(min(NEIGHBORS, len(X)), weights="distance")
    if name == PLAIN:
        return make_pipeline(VarianceThreshold(), StandardScaler(), neighbors)
    return _Few(_nca(X, y, seed, neighbors), seed)


def n_varying(X: pd.DataFrame) -> int:
    """Number of columns that VarianceThreshold keeps."""
    values = X.to_numpy()
    return int(np.count_nonzero((np.var(values, axis=0) > 0) & (np.ptp(values, axis=0) > 0)))


class _Few(ClassifierMixin):
    """A method that learns from a part of many rows, classes in proportion."""

    def __init__(self, pipeline: Pipeline, seed: int) -> None:
        self.pipeline, self.seed = pipeline, seed

    def fit(self, X: pd.DataFrame, y: NDArray[Any]) -> _Few:
        if len(X) > NCA_ROWS:
            some = stratified_rows(y, NCA_ROWS, np.random.default_rng(self.seed))
            X, y = X.iloc[some], y[some]
        self.pipeline.fit(X, y)
        return self

    def predict(self, X: pd.DataFrame) -> NDArray[Any]:
        return self.pipeline.predict(X)


def _nca(X: pd.DataFrame, y: NDArray[Any], seed: int, neighbors: KNeighborsClassifier) -> Pipeline:
    components = max(1, min(NCA_COMPONENTS, n_varying(X)))
    nca = NeighborhoodComponentsAnalysis(n_components=components, init=_start(X, y, components), random_state=seed)
    return make_pipeline(VarianceThreshold(), StandardScaler(), nca, neighbors)


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
