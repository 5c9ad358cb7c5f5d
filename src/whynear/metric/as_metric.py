"""From whatever holds a distance to a metric value in the user's own columns."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from whynear.metric.base import Metric, rebuild
from whynear.metric.diagonal import DiagonalMetric
from whynear.metric.linear import LinearMetric
from whynear.metric.local import LocalMetric
from whynear.metric.minkowski import MinkowskiMetric
from whynear.metric.pipeline import encoder_and_rest, estimators_of
from whynear.metric.steps import Mixing, Scaling, Selection, Step, linear_steps, transformed
from whynear.utils.arrays import Array
from whynear.utils.columns import check_same_columns, column_names, default_names


def as_metric(obj: Metric | BaseEstimator | ArrayLike, feature_names: Sequence[str] | None = None) -> Metric:
    """Turn a learner, a transformer, a Pipeline or an array into a metric value.

    Parameters
    ----------
    obj : metric, fitted estimator, or array-like
        A metric value is returned as it is. An estimator with ``metric_`` gives that; a linear transformer
        (scikit-learn's NCA, PCA, LDA, PLS, scalers, selectors, anything with ``components_``) gives the Euclidean
        distance behind it. A Pipeline of such steps gives its last step's metric, stated in the pipeline's input
        columns: the scaling before the first mixing step is folded in and kept as ``scale``. Behind a `TableEncoder`
        it is stated in the columns that makes. A two-dimensional array is taken as omega, a one-dimensional one as
        weights.
    feature_names : sequence of str, optional
        Names for an array or an estimator fitted without any.

    Returns
    -------
    metric : LinearMetric, DiagonalMetric or LocalMetric

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import NeighborhoodComponentsAnalysis
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> nca = NeighborhoodComponentsAnalysis(n_components=2, random_state=0)
    >>> as_metric(make_pipeline(StandardScaler(), nca).fit(X, y))
    LinearMetric(2 x 4 features: sepal length (cm), sepal width (cm), petal length (cm), ...)
    """
    if isinstance(obj, type):
        raise TypeError(
            f"as_metric takes a fitted estimator, got the class {obj.__name__} instead. Make one and fit it."
        )
    if isinstance(obj, Metric):
        return _named(obj, feature_names)
    if isinstance(obj, BaseEstimator) or hasattr(obj, "metric_"):
        check_is_fitted(obj)
        estimators = estimators_of(encoder_and_rest(obj)[1])
        if not estimators:
            raise TypeError("A Pipeline of nothing but 'passthrough' holds no metric.")
        metric, known = _of_estimators(estimators), getattr(estimators[0], "feature_names_in_", None)
        if known is not None and feature_names is not None:
            check_same_columns(list(feature_names), list(known), "feature_names")
        return _named(metric, feature_names if known is None else known)
    if issparse(obj):
        raise TypeError("as_metric takes a dense array, got a sparse one instead. Use obj.toarray().")
    names = feature_names if feature_names is not None else column_names(obj)
    array = np.asarray(obj, dtype=np.float64)
    return DiagonalMetric(array, names) if array.ndim == 1 else LinearMetric(array, names)


def _named(metric: Metric, feature_names: Sequence[str] | None) -> Metric:
    return metric if feature_names is None else rebuild(type(metric), feature_names, metric.arrays())


def _of_estimators(estimators: Sequence[Any]) -> Metric:
    """The metric behind a chain of estimators, in the columns the first one takes."""
    metric = getattr(estimators[-1], "metric_", None)
    if metric is not None and not isinstance(metric, Metric):
        raise TypeError(f"metric_ of {type(estimators[-1]).__name__} must be a metric value, got {metric!r} instead.")
    chain = [(estimator, linear_steps(estimator)) for estimator in (estimators if metric is None else estimators[:-1])]
    if metric is None:
        n_outputs = [step.n_outputs for _, steps in chain for step in steps] or [estimators[0].n_features_in_]
        metric = DiagonalMetric(np.ones(n_outputs[-1]))
    for estimator, steps in reversed(chain):
        if isinstance(metric, LocalMetric):
            shift = transformed(estimator, np.zeros((1, estimator.n_features_in_)))
            metric = rebuild(LocalMetric, metric.feature_names, {**metric.arrays(), "anchors": metric.anchors - shift})
        for step in reversed(steps):
            metric = _before(metric, step)
    return metric


def _before(metric: Metric, step: Step) -> Metric:
    """A metric that follows a linear step, stated in the coordinates before it."""
    if isinstance(metric, MinkowskiMetric):
        return _minkowski_before(metric, step)
    arrays, kind = metric.arrays(), type(metric)
    scale = arrays.pop("scale", np.ones(metric.n_features))
    match step:
        case Scaling(divisor):
            change = {"anchors": divisor, "weights": divisor**-2.0}
            arrays = {name: array * change.get(name, 1.0 / divisor) for name, array in arrays.items()}
            arrays["scale"] = scale * divisor
        case Selection(kept):
            arrays = {name: _spread(array, kept, 0.0) for name, array in arrays.items()}
            arrays["scale"] = _spread(scale, kept, np.inf)
        case Mixing(components):
            if "weights" in arrays:
                mixed = np.sqrt(arrays.pop("weights"))[..., None] * components
                arrays["omega" if kind is DiagonalMetric else "omegas"] = mixed
                kind = LinearMetric if kind is DiagonalMetric else kind
            else:
                arrays = {name: array if name == "anchors" else array @ components for name, array in arrays.items()}
            if "anchors" in arrays:
                arrays["anchors"] = arrays["anchors"] @ np.linalg.pinv(components).T
            elif len(arrays["omega"]) > components.shape[1]:  # a tall map: its triangle measures the same distances
                arrays["omega"] = np.asarray(np.linalg.qr(arrays["omega"], mode="r"))
    return rebuild(kind, default_names(step.n_inputs), arrays)


def _minkowski_before(metric: MinkowskiMetric, step: Step) -> Metric:
    scale = np.ones(metric.n_features) if metric.scale is None else metric.scale
    match step:
        case Scaling(divisor):
            weights, scale = metric.weights * divisor**-metric.p, scale * divisor
        case Selection(kept):
            weights, scale = _spread(metric.weights, kept, 0.0), _spread(scale, kept, np.inf)
        case Mixing():
            raise TypeError("A Minkowski distance of mixed columns is none of the columns themselves.")
    return MinkowskiMetric(weights, metric.p, scale=scale)


def _spread(array: Array, kept: NDArray[np.bool_], elsewhere: float) -> Array:
    """The array with a column for each that was not kept."""
    spread = np.full((*array.shape[:-1], len(kept)), elsewhere)
    spread[..., kept] = array
    return spread
