"""The methods that a study compares, each as a Pipeline, and the fits of an interrupted study."""

from __future__ import annotations

import hashlib
import json
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import VarianceThreshold
from sklearn.linear_model import RidgeCV
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, NeighborhoodComponentsAnalysis
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

from whynear.data.encoder import TableEncoder
from whynear.data.problem import kind_of_target
from whynear.data.rows import Separation, TimeOrder, groups_in, n_different, split_rows
from whynear.interpret import EffectiveDimension, effective_dimension
from whynear.learn import MinimumNormRegressor
from whynear.learn.registry import LEARNERS, MINIMUM_NORM, REGRESSORS
from whynear.metric.steps import estimators_of
from whynear.model.files import load, save
from whynear.model.pipeline import FittedPipeline, weights_for
from whynear.study.bands import Preprocessing
from whynear.study.folds import stratified_rows
from whynear.study.settings import ClassWeight
from whynear.utils.archive import ArchiveError
from whynear.utils.arrays import Array
from whynear.utils.columns import names_of_rows
from whynear.utils.files import make_folder
from whynear.verdict.outside import boosting, logistic_regression, random_forest, trees_for
from whynear.work.pieces import versions

WORTH_KEEPING = 0.2  # seconds that a fit took
LearnedRows: TypeAlias = tuple[pd.DataFrame, NDArray[Any], Separation | None, pd.Series | None]


class KeptFits:
    """A folder of fitted learners, each found again by the rows and the settings it was fitted with.

    Without a folder nothing is kept. Only fits of learners that took a while are, since others are repeated as fast.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder

    def fitted(self, name: str, facts: dict[str, Any], rows: LearnedRows, fit: Callable[[], Any]) -> Any:
        """Return the model that ``fit`` would return; ``facts`` and ``rows`` are all that it depends on."""
        if self.folder is None or name not in LEARNERS:
            return fit()
        path = self.path_of(name, facts, rows)
        model = self.find(path)
        if model is None:
            start = time.perf_counter()
            model = fit()
            self.keep(path, model, time.perf_counter() - start)
        return model

    def path_of(self, name: str, facts: dict[str, Any], rows: LearnedRows) -> Path:
        """Return the file of a fit; ``facts`` and ``rows`` are all that it depends on."""
        assert self.folder is not None, "there is a folder"
        return self.folder / f"{name}-{_digest(facts, *rows)}.whynear"

    @property
    def any_found(self) -> bool:
        """Whether something may be kept already."""
        return self.folder is not None and self.folder.is_dir()

    def worth(self, seconds: float) -> bool:
        """Return whether a fit that took these seconds is kept."""
        return self.folder is not None and seconds >= WORTH_KEEPING

    def find(self, path: Path) -> Any:
        """Return the model in a file; None if it is not kept, or damaged."""
        try:
            return load(path)
        except (OSError, ArchiveError):
            return None

    def keep(self, path: Path, model: Any, seconds: float) -> None:
        """Save a model that took these seconds to fit, if it is worth that."""
        if not self.worth(seconds) or not hasattr(estimators_of(model)[-1], "metric_"):
            return
        make_folder(path.parent)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that a file holds training rows: it is removed soon
            save(model, path)


def _digest(
    facts: dict[str, Any], X: pd.DataFrame, y: NDArray[Any], groups: Separation | None, weights: pd.Series | None
) -> str:
    digest = hashlib.sha256(json.dumps([versions(), facts], sort_keys=True, default=repr).encode())
    digest.update(json.dumps([list(map(str, X.columns)), list(map(str, X.dtypes))]).encode())
    digest.update(pd.util.hash_pandas_object(X).to_numpy().tobytes())
    for values in (y, groups.times if isinstance(groups, TimeOrder) else groups, weights):
        digest.update(b"," if values is None else b":")
        if values is not None:
            digest.update(pd.util.hash_pandas_object(pd.Series(values), index=False).to_numpy().tobytes())
    return digest.hexdigest()[:20]


def remember_rows(model: Any, X: pd.DataFrame) -> Any:
    """Return a model fitted to these rows, whose learner holds their names and the column that the names come from.

    If it keeps the rows, it also holds which values they lack: for each, the places of the row and of the column.
    """
    learner = estimators_of(model)[-1]
    if hasattr(learner, "case_places_"):
        X = X.iloc[learner.case_places_]
    if hasattr(learner, "row_names_"):
        learner.row_names_ = names_of_rows(X)
        learner.row_gaps_ = np.argwhere(X.isna().to_numpy())
    if hasattr(learner, "metric_"):
        learner.row_column_ = None if X.index.name is None else str(X.index.name)
    return model


def column_of_names(model: Any) -> str | None:
    """Return the column that held the names of the rows a model was fitted to; None if there was none."""
    return getattr(estimators_of(model)[-1], "row_column_", None)


MOST_COMPONENTS = 20
TUNING_FOLDS = 5
ROUNDING = 1e-10  # relative size of a component that is an error of rounding


class CrossValidatedPLS(RegressorMixin, BaseEstimator):
    """PLS with the number of components, at most 20, that predicts held-out training rows best.

    Parameters
    ----------
    random_state : int
        Seed of the folds.

    Attributes
    ----------
    n_components_ : int
        The number of components.
    coef_ : ndarray
        The linear map from the centred columns to the centred target.
    """

    def __init__(self, random_state: int = 0) -> None:
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, groups: ArrayLike | TimeOrder | None = None) -> Self:
        """Choose the number of components with the rows of a group held out together, then fit all rows."""
        values, target = validate_data(self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
        self.n_components_ = _chosen_number(values, target, self.random_state, groups)
        self.origin_, self.target_origin_, maps = _fitted_maps(values, target, self.n_components_)
        self.coef_ = maps[-1]
        return self

    def predict(self, X: ArrayLike) -> Array:
        """Return the predicted target of each row."""
        check_is_fitted(self)
        values = validate_data(self, X, dtype=np.float64, reset=False)
        return self.target_origin_ + (values - self.origin_) @ self.coef_


def maps_by_components(X: Array, y: Array, most: int) -> Array:
    """Return the linear maps of 1, 2, ... components of centred data, one map per row.

    Where the data have fewer components, the last map is repeated.
    """
    rest, unexplained = X.copy(), y.copy()
    least = ROUNDING * np.linalg.norm(X)
    rotations, loadings = np.zeros((2, most, X.shape[1]))
    slopes = np.zeros(most)
    for k in range(most):
        covariance = rest.T @ unexplained
        size = np.linalg.norm(covariance)
        if size <= least * np.linalg.norm(y):
            break
        direction = covariance / size
        scores = rest @ direction
        if np.linalg.norm(scores) <= least:
            break
        loadings[k], slopes[k] = scores @ rest / (scores @ scores), scores @ unexplained / (scores @ scores)
        rotations[k] = direction - (loadings[:k] @ direction) @ rotations[:k]
        rest -= np.outer(scores, loadings[k])
        unexplained -= slopes[k] * scores
    return np.cumsum(slopes[:, None] * rotations, axis=0)


def _chosen_number(X: Array, y: Array, seed: int, groups: ArrayLike | TimeOrder | None) -> int:
    apart = groups if groups is None or isinstance(groups, TimeOrder) else np.asarray(groups)
    splits = split_rows(y, min(TUNING_FOLDS, len(y)), seed, stratified=False, groups=apart)
    most = max(1, min(MOST_COMPONENTS, X.shape[1], min(len(train) for train, _ in splits) - 1))
    errors = np.zeros(most)
    for train, test in splits:
        origin, target_origin, maps = _fitted_maps(X[train], y[train], most)
        predicted = target_origin + (X[test] - origin) @ maps.T
        errors += np.square(predicted - y[test, None]).sum(axis=0)
    return int(errors.argmin()) + 1


def _fitted_maps(X: Array, y: Array, most: int) -> tuple[Array, float, Array]:
    """Return the means of columns and target, and the maps of 1, 2, ... components."""
    origin, target_origin = X.mean(axis=0), float(y.mean())
    return origin, target_origin, maps_by_components(X - origin, y - target_origin, most)


PLAIN, NCA = "plain kNN", "NCA with kNN"
NCA_ROWS = 2_000  # at most, that NCA is fitted to
BASELINES = (PLAIN, NCA)
RIDGE, PLS, MEAN = "ridge", "PLS", "mean"  # for numeric targets
NUMERIC_BASELINES = (PLAIN, RIDGE, PLS, MEAN)
# Compared with the learner that is chosen, and never chosen: they measure no distances.
FOREST, BOOSTING, LOGISTIC = "random forest", "boosting", "logistic regression"
YARDSTICKS, NUMERIC_YARDSTICKS = (FOREST, BOOSTING, LOGISTIC), (FOREST, BOOSTING, RIDGE)
NO_LEARNERS = frozenset((*BASELINES, *NUMERIC_BASELINES, *YARDSTICKS, *NUMERIC_YARDSTICKS))
RIDGE_PENALTIES = np.logspace(-6, 6, 25)  # of standardised columns
N_NEIGHBORS = 5
NCA_COMPONENTS = 5
FEWEST_OTHERS = 5  # values of a column that are not its most frequent one


@dataclass(frozen=True)
class Methods:
    """What all methods share: the seed, the encoder and the preprocessing they start with, the number of threads, fits.

    ``kept`` are fits of an interrupted study, which are not repeated. Without ``scaled``, methods take the columns as
    they are. ``effective_dim`` is the number of directions of a map of a numeric target, which is chosen without it.
    ``chosen`` are parameters of a learner that it does not choose again.
    """

    seed: int
    encoder: TableEncoder | None = None
    n_jobs: int | None = None
    class_weight: ClassWeight = None
    preprocessing: Preprocessing | None = None
    kept: KeptFits = field(default_factory=KeptFits)
    scaled: bool = True
    effective_dim: int | None = None
    chosen: Mapping[str, Any] = field(default_factory=dict)

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
        model = self.kept.fitted(name, self._facts, rows, lambda: remember_rows(self._fitted(name, *rows), X))
        return with_directions(model, *rows, effective_dim=self.effective_dim) if name == MINIMUM_NORM else model

    def path_of(self, name: str, *rows: *LearnedRows) -> Path:
        """Return the file in which the fit of a method to these rows is kept."""
        return self.kept.path_of(name, self._facts, rows)

    @property
    def _facts(self) -> dict[str, Any]:
        encoder = None if self.encoder is None else self.encoder.get_params()
        facts = {"seed": self.seed, "encoder": encoder, "preprocessing": self.preprocessing, "of": self.class_weight}
        return facts | {"scaled": self.scaled, "chosen": dict(self.chosen)}

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
        method = self._for_numbers(name, X, y)
        if name == RIDGE and groups is not None and n_different(groups) > 1 and isinstance(method, Pipeline):
            splits = split_rows(y, TUNING_FOLDS, self.seed, stratified=False, groups=groups)
            method[-1].set_params(cv=splits, scoring="neg_mean_squared_error")
        with warnings.catch_warnings():
            if name == LOGISTIC:  # it takes as many steps as it may
                warnings.simplefilter("ignore", ConvergenceWarning)
            rest = fit_in_groups(method, X, y, groups, weights)
        if not first:
            return rest
        return Pipeline([*first, *(rest.steps if isinstance(rest, Pipeline) else [(name, rest)])])

    def _for_numbers(self, name: str, X: pd.DataFrame, y: NDArray[Any]) -> Any:
        """Return the unfitted method for numeric columns; one that ignores them where no column varies."""
        numeric = kind_of_target(y) == "numbers"
        if not n_varying(X) or name == MEAN:
            return DummyRegressor() if numeric else DummyClassifier(strategy="prior")
        if name in (known := REGRESSORS if numeric else LEARNERS):
            learner = known[name](**self.chosen)
            shared = {"random_state": self.seed, "n_jobs": self.n_jobs, "class_weight": self.class_weight}
            taken = {name: value for name, value in shared.items() if name in learner.get_params()}
            return self._scaled(learner.set_params(**taken))
        if name in YARDSTICKS:
            return _standardised(self._yardstick(name, y, *X.shape))
        if name == RIDGE:
            return _standardised(RidgeCV(RIDGE_PENALTIES))
        if name == PLS:
            return _standardised(CrossValidatedPLS(self.seed))
        neighbors = KNeighborsRegressor if numeric else KNeighborsClassifier
        plain = neighbors(min(N_NEIGHBORS, len(X)), weights="distance")
        return _standardised(plain) if name == PLAIN else _OnSample(_nca(X, y, self.seed, plain), self.seed)

    def _yardstick(self, name: str, y: NDArray[Any], n_rows: int, n_columns: int) -> BaseEstimator:
        """Return an unfitted model that measures no distances."""
        measured = kind_of_target(y) == "numbers"
        n_classes = 0 if measured else len(np.unique(y))
        if name == FOREST:
            model = random_forest(measured, trees_for(n_rows, n_columns, measured), self.seed)
        elif name == BOOSTING:
            model = boosting(n_columns, n_classes, self.seed)
        else:
            model = logistic_regression(n_rows, n_columns, n_classes)
        return model if self.class_weight is None else model.set_params(class_weight=self.class_weight)

    def _scaled(self, learner: BaseEstimator) -> Pipeline:
        return _standardised(learner) if self.scaled else make_pipeline(learner)


def chosen_settings(model: Any) -> dict[str, Any]:
    """Return the parameters that the learner of a fitted model has chosen in folds of its own; most choose none."""
    learner = estimators_of(model)[-1]
    return learner.chosen_settings() if hasattr(learner, "chosen_settings") else {}


def settled(model: Any) -> Any:
    """Return a fitted model to fit again, with the parameters that it has chosen."""
    again = clone(model)
    estimators_of(again)[-1].set_params(**chosen_settings(model))
    return again


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


def with_directions(
    model: Any,
    X: pd.DataFrame,
    y: NDArray[Any],
    groups: Separation | None = None,
    weights: pd.Series | None = None,
    *,
    effective_dim: int | None = None,
) -> Any:
    """Fit a map of least norm again with the given number of directions, or the fewest that predict these rows well.

    It keeps all directions where hardly any value of a column differs from the others. Other models are returned.
    """
    if not isinstance(estimators_of(model)[-1], MinimumNormRegressor):
        return model
    fitted = FittedPipeline.of(model)
    rest, numbers = fitted.without_encoder, fitted.numbers(X)
    if not n_varying(numbers) or (effective_dim is None and not _varies_in_parts(numbers)):
        return model
    if effective_dim is None:
        independent = len(numbers) if groups_in(groups) is None else n_different(groups_in(groups))
        found = effective_dimension(rest, numbers, y, groups=groups, sample_weight=weights)
        effective_dim = fewest_directions(found, independent)
    learner = clone(rest).set_params(minimumnormregressor__effective_dim=effective_dim)
    learner = learner.fit(numbers, y, **weights_for(learner, weights))
    return remember_rows(fitted.behind_encoder(learner), X)


def refitted(model: Any) -> Any:
    """Return the learner to refit without features; a map is not held to directions that they may take away."""
    learner = settled(model)
    cut = [name for name in learner.get_params() if name.endswith("minimumnormregressor__effective_dim")]
    return learner.set_params(**dict.fromkeys(cut))


def _varies_in_parts(X: pd.DataFrame) -> bool:
    """Return whether a column is likely to vary in each part of the rows, so that some can be held out."""
    others = (len(X) - column.value_counts().iloc[0] for _, column in X.items())
    return max(others) >= FEWEST_OTHERS


def fewest_directions(dimension: EffectiveDimension, n_rows: int) -> int:
    """Return the fewest directions whose held-out error exceeds the least by at most the standard error of the excess.

    >>> curve = pd.DataFrame({"effective_dim": [1, 2, 3], "validation_error": [0.5, 0.11, 0.1]})
    >>> fewest_directions(EffectiveDimension(3, curve, "projection", "validation_error"), 100)
    2
    """
    errors = dimension.curve[dimension.criterion].to_numpy()
    # The first for shares of rows predicted wrong, the second for squares of normally distributed errors.
    variances = errors * (1 - errors) if dimension.criterion == "validation_error" else 2 * np.square(errors)
    least = int(errors.argmin())
    standard_error = np.sqrt((variances + variances[least]) / n_rows)
    fewest = np.flatnonzero(errors <= errors[least] + standard_error + 1e-12)[0]
    return int(dimension.curve["effective_dim"].iloc[int(fewest)])


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
