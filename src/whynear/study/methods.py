"""The methods that a study compares, each as a Pipeline that takes the columns of the table."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.feature_selection import VarianceThreshold
from sklearn.linear_model import RidgeCV
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, NeighborhoodComponentsAnalysis
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import has_fit_parameter

from whynear.learn import MinimumNormRegressor, registry
from whynear.learn.registry import LEARNERS
from whynear.metric.fit_weights import weights_for
from whynear.study.estimate import NCA, NCA_ROWS
from whynear.study.kept_fits import KeptFits
from whynear.study.pls import INNER_FOLDS, CrossValidatedPLS
from whynear.study.preprocessing import Preprocessing
from whynear.study.sample import stratified_rows
from whynear.study.settings import ClassWeight
from whynear.study.training_rows import remember_rows
from whynear.tables.encoder import TableEncoder
from whynear.tables.problem import kind_of_target
from whynear.utils.row_groups import split_rows
from whynear.utils.row_order import Separation, TimeOrder, n_different

SIMPLEST_FIRST, COMPARED, LEARNED_ROWS = registry.STUDIED, registry.COMPARED, registry.LEARNED_ROWS
PLAIN = "plain kNN"
BASELINES = (PLAIN, NCA)
MINIMUM_NORM, RIDGE, PLS, MEAN = "minimum norm", "ridge", "PLS", "mean"  # for numeric targets
NUMERIC_BASELINES = (PLAIN, RIDGE, PLS, MEAN)
RIDGE_PENALTIES = np.logspace(-6, 6, 25)  # of standardised columns
N_NEIGHBORS = 5
NCA_COMPONENTS = 5


@dataclass(frozen=True)
class Methods:
    """What all methods share: the seed, the encoder and the preprocessing they start with, the number of threads, fits.

    ``kept`` are fits of an interrupted study, which are not repeated. Without ``scaled``, methods take the columns as
    they are.
    """

    seed: int
    encoder: TableEncoder | None = None
    n_jobs: int | None = None
    class_weight: ClassWeight = None
    preprocessing: Preprocessing | None = None
    kept: KeptFits = field(default_factory=KeptFits)
    scaled: bool = True

    def fitted(
        self,
        name: str,
        X: pd.DataFrame,
        y: NDArray[Any],
        groups: Separation | None = None,
        weights: pd.Series | None = None,
    ) -> Any:
        """Fit a method to these rows of a table; return a Pipeline that takes the columns of the table.

        What it chooses on held-out rows, it chooses with the rows of a group together, or forward in time.
        The weights of rows count for the scaler and for methods that take them.
        """
        rows = X, y, groups, weights
        return self.kept.fitted(name, self._facts, rows, lambda: remember_rows(self._fitted(name, *rows), X))

    def path_of(
        self, name: str, X: pd.DataFrame, y: NDArray[Any], groups: Separation | None, weights: pd.Series | None
    ) -> Path:
        """Return the file in which the fit of a method to these rows is kept."""
        return self.kept.path_of(name, self._facts, (X, y, groups, weights))

    @property
    def _facts(self) -> dict[str, Any]:
        encoder = None if self.encoder is None else self.encoder.get_params()
        facts = {"seed": self.seed, "encoder": encoder, "preprocessing": self.preprocessing, "of": self.class_weight}
        return facts | {"scaled": self.scaled}

    def _fitted(
        self, name: str, X: pd.DataFrame, y: NDArray[Any], groups: Separation | None, weights: pd.Series | None
    ) -> Any:
        first: list[tuple[str, Any]] = []
        if self.encoder is not None:
            first = [("tableencoder", clone(self.encoder).fit(X, y))]
            X = first[0][1].transform(X)
        if self.preprocessing is not None:
            steps, X = self.preprocessing.fitted(X, y, groups)
            first += steps
        rest = self._fit(self._for_numbers(name, X, y), X, y, groups, weights)
        if not first:
            return rest
        return Pipeline([*first, *(rest.steps if isinstance(rest, Pipeline) else [(name, rest)])])

    def _for_numbers(self, name: str, X: pd.DataFrame, y: NDArray[Any]) -> Any:
        """Return the unfitted method for numeric columns; one that ignores them where no column varies."""
        numeric = kind_of_target(y) == "numbers"
        if not n_varying(X) or name == MEAN:
            return DummyRegressor() if numeric else DummyClassifier(strategy="prior")
        if name in LEARNERS:
            return self._scaled(self._learner(name))
        if name == MINIMUM_NORM:
            return self._scaled(MinimumNormRegressor())
        if name == RIDGE:
            return _standardised(RidgeCV(RIDGE_PENALTIES))
        if name == PLS:
            return _standardised(CrossValidatedPLS(self.seed))
        neighbors = KNeighborsRegressor if numeric else KNeighborsClassifier
        plain = neighbors(min(N_NEIGHBORS, len(X)), weights="distance")
        return _standardised(plain) if name == PLAIN else _OnSample(_nca(X, y, self.seed, plain), self.seed)

    def _fit(
        self, method: Any, X: pd.DataFrame, y: NDArray[Any], groups: Separation | None, weights: pd.Series | None
    ) -> Any:
        learner = method[-1] if isinstance(method, Pipeline) else method
        if isinstance(learner, RidgeCV) and groups is not None and n_different(groups) > 1:
            splits = split_rows(y, INNER_FOLDS, self.seed, stratified=False, groups=groups)
            learner.set_params(cv=splits, scoring="neg_mean_squared_error")
        return fit_in_groups(method, X, y, groups, weights)

    def _scaled(self, learner: BaseEstimator) -> Pipeline:
        return _standardised(learner) if self.scaled else make_pipeline(learner)

    def _learner(self, name: str) -> BaseEstimator:
        learner = LEARNERS[name](random_state=self.seed)
        if self.class_weight is not None:
            learner.set_params(class_weight=self.class_weight)
        return learner.set_params(n_jobs=self.n_jobs) if "n_jobs" in learner.get_params() else learner


def fit_in_groups(
    method: Any, X: pd.DataFrame, y: NDArray[Any], groups: Separation | None, weights: pd.Series | None = None
) -> Any:
    """Fit a method; its learner is given the groups or times if it chooses something on held-out rows."""
    learner = method[-1] if isinstance(method, Pipeline) else method
    if groups is None or n_different(groups) < 2 or not has_fit_parameter(learner, "groups"):
        return method.fit(X, y, **weights_for(method, weights))
    name = f"{method.steps[-1][0]}__groups" if isinstance(method, Pipeline) else "groups"
    apart = groups if isinstance(groups, TimeOrder) else groups.to_numpy()
    return method.fit(X, y, **{name: apart}, **weights_for(method, weights))


def _standardised(estimator: BaseEstimator) -> Pipeline:
    return make_pipeline(VarianceThreshold(), StandardScaler(), estimator)


def n_varying(X: pd.DataFrame) -> int:
    """Return the number of columns that VarianceThreshold keeps."""
    values = X.to_numpy()
    return int(np.count_nonzero((np.var(values, axis=0) > 0) & (np.ptp(values, axis=0) > 0)))


class _OnSample(ClassifierMixin, BaseEstimator):
    """A Pipeline that is fitted to a stratified sample if there are many rows."""

    def __init__(self, pipeline: Pipeline, seed: int) -> None:
        self.pipeline = pipeline
        self.seed = seed

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self.pipeline, "n_features_in_")

    def fit(self, X: pd.DataFrame, y: NDArray[Any]) -> _OnSample:
        if len(X) > NCA_ROWS:
            some = stratified_rows(y, NCA_ROWS, np.random.default_rng(self.seed))
            X, y = X.iloc[some], y[some]
        self.pipeline.fit(X, y)
        return self

    @property
    def classes_(self) -> NDArray[Any]:
        return self.pipeline.classes_

    def predict(self, X: pd.DataFrame) -> NDArray[Any]:
        return self.pipeline.predict(X)

    def predict_proba(self, X: pd.DataFrame) -> NDArray[Any]:
        return self.pipeline.predict_proba(X)


def _nca(X: pd.DataFrame, y: NDArray[Any], seed: int, neighbors: KNeighborsClassifier) -> Pipeline:
    components = max(1, min(NCA_COMPONENTS, n_varying(X)))
    nca = NeighborhoodComponentsAnalysis(n_components=components, init=_start(X, y, components), random_state=seed)
    return make_pipeline(*_standardised(nca).named_steps.values(), neighbors)


def _start(X: pd.DataFrame, y: NDArray[Any], components: int) -> str:
    """Return where NCA starts: "auto", unless that needs more linear discriminants than the rows have."""
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
