"""The metric value of a learner, transformer, Pipeline or array, stated in the columns of the table."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.base import BaseEstimator

from whynear.metric.base import Metric, rebuild
from whynear.metric.linear import DiagonalMetric, LinearMetric
from whynear.metric.local import LocalMetric
from whynear.metric.minkowski import MinkowskiMetric
from whynear.metric.monotone import MonotoneMetric
from whynear.metric.steps import Mixing, Scaling, Selection, Step, Units, linear_steps, transformed, units_of
from whynear.model.encoders import SpectralEncoder
from whynear.model.pipeline import FittedPipeline
from whynear.utils.arrays import Array
from whynear.utils.columns import check_same_columns, column_names


def as_metric(
    obj: Metric | BaseEstimator | FittedPipeline | ArrayLike, feature_names: Sequence[str] | None = None
) -> Metric:
    """Turn a learner, a transformer, a Pipeline or an array into a metric value.

    Parameters
    ----------
    obj : metric, fitted estimator, or array-like
        A metric value is returned unchanged. An estimator with ``metric_`` gives that; a linear transformer
        (scikit-learn's NCA, PCA, LDA, PLS, scalers, selectors, anything with ``components_``) gives the Euclidean
        distance of its output. A Pipeline of such steps gives the metric of its last step, stated in the input columns
        of the Pipeline: the scaling before the first mixing step is included and kept as ``scale``, and ``units`` names
        it. Behind a `TableEncoder`, or a ColumnTransformer with a OneHotEncoder, it is stated in the columns that this
        makes: the numbers of the table, and one column for each category. A two-dimensional array is taken as omega, a
        one-dimensional one as weights.
    feature_names : sequence of str, optional
        Names for an array or an estimator fitted without any.

    Returns
    -------
    metric : LinearMetric, DiagonalMetric, LocalMetric, MinkowskiMetric or MonotoneMetric

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
        return _named(obj, feature_names, obj.units)
    if isinstance(obj, BaseEstimator | FittedPipeline) or hasattr(obj, "metric_"):
        model = FittedPipeline.of(obj)
        if model.named and feature_names is not None:
            check_same_columns(list(feature_names), model.made, "feature_names")
        known = model.made if model.named or model.encoder is not None else None
        metric, units = _of_model(model)
        return _named(metric, feature_names if known is None else known, units)
    if issparse(obj):
        raise TypeError("as_metric takes a dense array, got a sparse one instead. Use obj.toarray().")
    names = feature_names if feature_names is not None else column_names(obj)
    array = np.asarray(obj, dtype=np.float64)
    return DiagonalMetric(array, names) if array.ndim == 1 else LinearMetric(array, names)


def metric_of_table(obj: Any, metric: Metric) -> Metric:
    """Return a metric of the columns behind a model's encoder, for rows of the table before preprocessing of spectra.

    A derivative or a baseline is a linear map and becomes a part of the metric; SNV is not, and is refused.
    """
    model = FittedPipeline.of_any(obj)
    encoder = model.encoder if isinstance(model, FittedPipeline) else None
    if not isinstance(encoder, SpectralEncoder):
        return metric
    before = metric
    for step in reversed([part for one in encoder.preprocessing for part in linear_steps(one)]):
        before = _before(before, step)
    return _named(before, metric.feature_names, "per unit")


def metric_and_rows(obj: Any, X: Any) -> tuple[Metric, Any, FittedPipeline | None]:
    """Return the metric of a value or a model, X in its columns, and the model if its encoder was applied to X.

    A model that starts with an encoder takes the table itself, or the columns that its encoder makes of it.
    """
    model = FittedPipeline.of_any(obj)
    metric = as_metric(model)
    if not isinstance(model, FittedPipeline):
        return metric, X, None
    rows = model.numbers(X)
    return metric, rows, None if rows is X else model


def _named(metric: Metric, feature_names: Sequence[str] | None, units: Units) -> Metric:
    names = metric.feature_names if feature_names is None else tuple(feature_names)
    if names == metric.feature_names and units == metric.units:
        return metric
    return rebuild(type(metric), names, metric.arrays(), units)


def _of_model(model: FittedPipeline) -> tuple[Metric, Units]:
    metric = getattr(model.learner, "metric_", None)
    if metric is not None and not isinstance(metric, Metric):
        raise TypeError(f"metric_ of {type(model.learner).__name__} must be a metric value, got {metric!r} instead.")
    estimators = model.steps if metric is not None else (*model.steps, model.learner)
    chain = [(estimator, linear_steps(estimator)) for estimator in estimators]
    parts = [step for _, steps in chain for step in steps]
    if metric is None:
        n_outputs = len(model.made)
        if parts:
            match parts[-1]:
                case Scaling(last) | Selection(last) | Mixing(last):
                    n_outputs = len(last)
        metric = DiagonalMetric(np.ones(n_outputs))
    for estimator, steps in reversed(chain):
        if isinstance(metric, LocalMetric | MonotoneMetric):
            shift = transformed(estimator, np.zeros((1, estimator.n_features_in_)))
            points = "anchors" if isinstance(metric, LocalMetric) else "knots"
            arrays = metric.arrays()
            metric = rebuild(type(metric), metric.feature_names, {**arrays, points: arrays[points] - shift})
        for step in reversed(steps):
            metric = _before(metric, step)
    return metric, units_of(parts, len(model.made)) if parts else metric.units


def _before(metric: Metric, step: Step) -> Metric:
    """Return a metric that follows a linear step, stated in the coordinates before the step."""
    if isinstance(metric, MinkowskiMetric):
        return _minkowski_before(metric, step)
    if isinstance(metric, MonotoneMetric):
        return _monotone_before(metric, step)
    arrays, kind = metric.arrays(), type(metric)
    scale = arrays.pop("scale", np.ones(metric.n_features))
    match step:
        case Scaling(scale=divisor):
            change = {"anchors": divisor, "weights": divisor**-2.0}
            arrays = {name: array * change.get(name, 1.0 / divisor) for name, array in arrays.items()}
            arrays["scale"] = scale * divisor
        case Selection():
            arrays = {name: _spread(array, step, 0.0) for name, array in arrays.items()}
            arrays["scale"] = _spread(scale, step, np.inf)
        case Mixing(components):
            if "weights" in arrays:
                mixed = np.sqrt(arrays.pop("weights"))[..., None] * components
                arrays["omega" if kind is DiagonalMetric else "omegas"] = mixed
                kind = LinearMetric if kind is DiagonalMetric else kind
            else:
                arrays = {name: array if name == "anchors" else array @ components for name, array in arrays.items()}
            if "anchors" in arrays:
                arrays["anchors"] = arrays["anchors"] @ np.linalg.pinv(components).T
            elif len(arrays["omega"]) > components.shape[1]:  # a tall map: R of its QR gives the same distances
                arrays["omega"] = np.asarray(np.linalg.qr(arrays["omega"], mode="r"))
    return rebuild(kind, None, arrays)


def _minkowski_before(metric: MinkowskiMetric, step: Step) -> Metric:
    scale = np.ones(metric.n_features) if metric.scale is None else metric.scale
    match step:
        case Scaling(scale=divisor):
            weights, scale = metric.weights * divisor**-metric.p, scale * divisor
        case Selection():
            weights, scale = _spread(metric.weights, step, 0.0), _spread(scale, step, np.inf)
        case Mixing():
            raise TypeError("A Minkowski distance behind a step that mixes columns is no distance of these columns.")
    return MinkowskiMetric(weights, metric.p, scale=scale)


def _monotone_before(metric: MonotoneMetric, step: Step) -> Metric:
    """Only the knots are values of the columns; weights and map are those of mapped columns."""
    arrays = metric.arrays()
    scale = arrays.pop("scale", np.ones(metric.n_features))
    match step:
        case Scaling(scale=divisor):
            arrays |= {"knots": arrays["knots"] * divisor, "scale": scale * divisor}
        case Selection():
            arrays = {name: _spread(array, step, 1.0 if name == "p" else 0.0) for name, array in arrays.items()}
            arrays["scale"] = _spread(scale, step, np.inf)
        case Mixing():
            raise TypeError("Monotone maps behind a step that mixes columns are no maps of these columns.")
    return rebuild(MonotoneMetric, None, arrays)


def _spread(array: Array, step: Selection, elsewhere: float) -> Array:
    """Return the array with columns inserted for the features that were not kept."""
    spread = np.full((*array.shape[:-1], step.n_inputs), elsewhere)
    spread[..., step.kept] = array
    return spread
