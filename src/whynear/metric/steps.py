"""The linear maps of scikit-learn's transformers, and the estimators in Pipelines and searches."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.cross_decomposition import CCA, PLSCanonical, PLSRegression
from sklearn.decomposition import PCA, IncrementalPCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import SelectorMixin
from sklearn.impute import SimpleImputer
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from whynear.data.spectra import SpectralTransformer, StandardNormalVariate
from whynear.utils.arrays import Array, Indices
from whynear.utils.text import counted

Units = Literal["per unit", "per standard deviation", "per scaled unit"]


@dataclass(frozen=True, eq=False)
class Scaling:
    """Divide each column: x / scale; ``standard`` marks those divided by their standard deviation."""

    scale: Array
    standard: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Selection:
    """Keep some columns in a given order: x[kept], each at most once."""

    kept: Indices
    n_inputs: int


@dataclass(frozen=True, eq=False)
class Mixing:
    """Form new coordinates from all columns: components x."""

    components: Array


Step = Scaling | Selection | Mixing


@dataclass(frozen=True, eq=False)
class KeptColumns:
    """The columns left after steps that mix none: their numbers, and what each was divided by."""

    numbers: Indices
    divisor: Array
    scaled: NDArray[np.bool_]
    standard: NDArray[np.bool_]

    @property
    def units(self) -> Units:
        """What a weight refers to; explanations, intervals and paths all use this rule."""
        if not self.scaled.any():
            return "per unit"
        return "per standard deviation" if self.standard.all() else "per scaled unit"


def kept_columns(steps: Sequence[Step], n_columns: int) -> KeptColumns | None:
    """Return the columns left after the steps; None if a step mixes columns."""
    kept, divisor = np.arange(n_columns), np.ones(n_columns)
    scaled, standard = np.zeros(n_columns, dtype=bool), np.ones(n_columns, dtype=bool)
    for step in steps:
        match step:
            case Scaling(scale, by_deviation):
                divisor, scaled, standard = divisor * scale, np.ones_like(scaled), standard & by_deviation
            case Selection(chosen):
                kept, divisor, scaled, standard = kept[chosen], divisor[chosen], scaled[chosen], standard[chosen]
            case Mixing():
                return None
    return KeptColumns(kept, divisor, scaled, standard)


def units_of(steps: Sequence[Step], n_columns: int) -> Units:
    """Return what a weight refers to, by the steps before the first one that mixes columns."""
    first = next((place for place, step in enumerate(steps) if isinstance(step, Mixing)), len(steps))
    seen = kept_columns(steps[:first], n_columns)
    assert seen is not None, "steps before the first that mixes columns mix none"
    return seen.units


def estimators_of(obj: Any) -> list[Any]:
    """Return the estimators of nested Pipelines and searches in order, without "passthrough" and None."""
    if obj is None or isinstance(obj, str):
        return []
    if isinstance(obj, Pipeline):
        return [estimator for _, step in obj.steps for estimator in estimators_of(step)]
    return estimators_of(obj.best_estimator_) if hasattr(obj, "best_estimator_") else [obj]


@singledispatch
def linear_steps(step: Any) -> list[Step]:
    """Return the linear maps that a fitted transformer applies to differences of cases, in order; shifts cancel."""
    if not hasattr(step, "components_") or not hasattr(step, "transform"):
        raise not_linear(step, "is not known to be a linear map")
    components = step.components_
    return [_checked(step, components.toarray() if hasattr(components, "toarray") else components)]


def _checked(step: Any, components: Any) -> Mixing:
    """Return the mixing step of a transformer, after a check on two points that its transform is this map."""
    components = np.asarray(components, dtype=np.float64)
    probes = np.random.default_rng(0).random((2, components.shape[1])) + getattr(step, "mean_", 0.0)
    seen = np.diff(transformed(step, probes), axis=0)
    expected = np.diff(probes, axis=0) @ components.T
    if seen.shape != expected.shape or not np.allclose(seen, expected, rtol=1e-5, atol=1e-8 * np.abs(expected).max()):
        raise not_linear(step, "does not transform by X @ components_.T")
    return Mixing(components)


@linear_steps.register
def _pipeline(step: Pipeline) -> list[Step]:
    return [part for estimator in estimators_of(step) for part in linear_steps(estimator)]


@linear_steps.register(StandardScaler)
@linear_steps.register(RobustScaler)
@linear_steps.register(MaxAbsScaler)
def _divides_by_scale(step: Any) -> list[Step]:
    return [] if step.scale_ is None else [_scaling(step.scale_, standard=type(step) is StandardScaler)]


def _scaling(scale: Array, *, standard: bool) -> Scaling:
    return Scaling(scale, np.full(len(scale), standard))


@linear_steps.register
def _min_max(step: MinMaxScaler) -> list[Step]:
    if step.clip:
        raise not_linear(step, "clips values (clip=True)")
    return [_scaling(1.0 / step.scale_, standard=False)]


@linear_steps.register
def _selection(step: SelectorMixin) -> list[Step]:
    return [_selection_of(step.get_support())]


@linear_steps.register
def _imputer(step: SimpleImputer) -> list[Step]:
    """Complete rows pass through; columns without any value were dropped."""
    if step.add_indicator:
        raise not_linear(step, "adds indicator columns (add_indicator=True)")
    if not pd.isna(step.missing_values):
        raise not_linear(step, f"replaces real values (missing_values={step.missing_values!r})")
    kept = ~pd.isna(step.statistics_)
    return [] if kept.all() or step.keep_empty_features else [_selection_of(kept)]


def _selection_of(kept: NDArray[np.bool_]) -> Selection:
    return Selection(np.flatnonzero(kept), len(kept))


@linear_steps.register(PCA)
@linear_steps.register(IncrementalPCA)
def _pca(step: Any) -> list[Step]:
    if not step.whiten:
        return [Mixing(step.components_)]
    deviations = np.sqrt(step.explained_variance_)
    varying = int(np.count_nonzero(deviations > 1e-7 * deviations.max(initial=0.0)))
    if varying < len(deviations):
        raise ValueError(
            f"{type(step).__name__}(whiten=True) divides {counted(len(deviations) - varying, 'direction')} in which "
            f"the data do not vary by their rounding errors. Use n_components={varying}."
        )
    return [_checked(step, step.components_ / deviations[:, None])]


@linear_steps.register
def _discriminant(step: LinearDiscriminantAnalysis) -> list[Step]:
    if not hasattr(step, "scalings_"):
        raise not_linear(step, f"has no map with solver={step.solver!r}; use 'svd' or 'eigen'")
    return [_checked(step, step.scalings_[:, : len(step.get_feature_names_out())].T)]


@linear_steps.register(PLSRegression)
@linear_steps.register(PLSCanonical)
@linear_steps.register(CCA)
def _partial_least_squares(step: Any) -> list[Step]:
    return [_scaling(step._x_std, standard=False), Mixing(step.x_rotations_.T)]


@linear_steps.register(KNeighborsClassifier)
@linear_steps.register(KNeighborsRegressor)
def _neighbors(step: Any) -> list[Step]:
    if step.effective_metric_ not in ("euclidean", "l2", "sqeuclidean"):
        raise not_linear(step, f"measures by metric={step.effective_metric_!r}; use the Euclidean one")
    return []


@linear_steps.register
def _function(step: FunctionTransformer) -> list[Step]:
    if step.func is not None:
        raise not_linear(step, "applies a function (func)")
    return []


@linear_steps.register
def _spectral(step: SpectralTransformer) -> list[Step]:
    if isinstance(step, StandardNormalVariate):
        raise not_linear(step, "divides each row by its own deviation")
    unit = np.eye(step.n_features_in_)
    return [Mixing(transformed(step, unit).T)]


def transformed(step: BaseEstimator, X: Array) -> Array:
    """Return ``step.transform(X)`` as an array; X gets the column names the step was fitted with."""
    names = getattr(step, "feature_names_in_", None)
    return np.asarray(step.transform(X if names is None else pd.DataFrame(X, columns=names)), dtype=np.float64)


def not_linear(step: Any, fact: str) -> TypeError:
    """Return the error for a step that is no linear map."""
    return TypeError(
        f"{type(step).__name__} {fact}, so distances behind it are no metric in its input columns. "
        "Transform the table first and pass the learner alone."
    )
