"""Linear maps projected onto the main directions of the data, as by Strickert, Hammer, Villmann and Biehl."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.signal import argrelmax
from scipy.stats import rankdata
from sklearn.model_selection import train_test_split

from papers.computations import Result
from papers.splits import Split, spectra
from whynear.datasets import bin_target, load
from whynear.interpret import effective_dimension, regularize
from whynear.interpret.null_space import rank_of, regularized_at
from whynear.learn import GMLVQ, MinimumNormRegressor
from whynear.metric import LinearMetric
from whynear.utils.arrays import Array

Score = Callable[[NDArray[Any], NDArray[Any]], float]


def counts(dataset: str) -> Result:
    """The numbers of spectra, of channels, and of training and test spectra."""
    data, parts = load(dataset), spectra(dataset, None)
    return {
        "spectra": len(data.y),
        "channels": data.X.shape[1],
        "training spectra": len(parts.X),
        "test spectra": len(parts.X_test),
    }


def spectral_regression(dataset: str) -> Result:
    """Correlations for the pseudo-inverse of the uncentred spectra, projected onto their main directions."""
    data = spectra(dataset, None)
    model = MinimumNormRegressor(fit_intercept=False).fit(data.X, data.y)
    found = swept(model, data, correlation)
    K = effective_dimension(model, data.X, data.y, scoring="correlation").best
    return found | {"n_train": len(data.X), "cross_validation": {"K": K, "test": found["test"][K - 1]}}


def coefficients(dataset: str, effective_dim: int) -> Result:
    """The pseudo-inverse of the uncentred spectra, and its projection onto directions of the centred spectra."""
    data = spectra(dataset, None)
    whole, projected = (
        MinimumNormRegressor(K, fit_intercept=False).fit(data.X, data.y).coef_ for K in (None, effective_dim)
    )
    return {"whole": whole, "projected": projected}


def descriptor_regression(dataset: str, seed: int, share: float) -> Result:
    """Correlation and mean squared error of the z-scored target on one random split."""
    data = descriptors(dataset, seed, share, None)
    mean, deviation = data.y.mean(), data.y.std()
    data = data._replace(y=(data.y - mean) / deviation, y_test=(data.y_test - mean) / deviation)
    model = MinimumNormRegressor().fit(data.X, data.y)
    kept = range(1, rank_of(model.metric_, data.X) + 1)
    maps = [*regularized_at(model, data.X, kept), model.metric_]
    errors = swept(model, data, squared_error)
    K = effective_dimension(model, data.X, data.y, scoring="mse").best
    return {
        "n_train": len(data.X),
        "correlation": swept(model, data, correlation),
        "mse": errors,
        "norms": [float(metric.relevances().sum()) for metric in maps],
        "cross_validation": {"K": K, "mse": errors["test"][K - 1]},
    }


def random_start(dataset: str, n_bins: int, effective_dim: int, learning: dict[str, Any], seed: int) -> Result:
    """GMLVQ from one random start: errors against the directions kept, maps and points before and after."""
    data = centred(spectra(dataset, n_bins))
    model = GMLVQ(random_state=seed, **learning).fit(data.X, data.y)
    K = effective_dimension(model, data.X, data.y).best
    errors = swept(model, data, error)
    projected = regularize(model, data.X, effective_dim)
    assert isinstance(projected, LinearMetric), "a linear metric stays linear"
    maps = [model.metric_.omega, projected.omega]
    places = {"prototypes": model.prototypes_, "training": data.X, "test": data.X_test}
    points = {name: [rows @ omega.T for omega in maps] for name, rows in places.items()}
    return errors | {
        "cross_validation": {"K": K, "test": errors["test"][K - 1]},
        "maps": maps,
        "points": points,
        "alignment": [alignment(each) for each in points["prototypes"]],
    }


def descriptor_classes(dataset: str, seed: int, share: float, learning: dict[str, Any]) -> Result:
    """Errors of GMLVQ on one random split."""
    data = descriptors(dataset, seed, share, 2)
    model = GMLVQ(random_state=seed, **learning).fit(data.X, data.y)
    K = effective_dimension(model, data.X, data.y).best
    errors = swept(model, data, error)
    return errors | {"n_train": len(data.X), "cross_validation": {"K": K, "test": errors["test"][K - 1]}}


def descriptors(dataset: str, seed: int, share: float, n_bins: int | None) -> Split:
    """A random split of a data set with ranks as features; a numeric target can be divided into equal bins."""
    data = load(dataset)
    X, y = rankdata(data.X.to_numpy(dtype=float), axis=0), np.asarray(data.y)
    if n_bins is not None and len(np.unique(y)) > n_bins:
        y = bin_target(y, n_bins)
    X, X_test, y, y_test = train_test_split(X, y, train_size=share, random_state=seed)
    return centred(Split(X, y, X_test, y_test))


def centred(data: Split) -> Split:
    """Both parts minus the mean of the training rows."""
    mean = data.X.mean(axis=0)
    return data._replace(X=data.X - mean, X_test=data.X_test - mean)


def swept(model: Any, data: Split, score: Score) -> Result:
    """Scores on both parts with 1, 2, ... directions of the data kept, and last with the learned map."""
    kept = range(1, rank_of(model.metric_, data.X) + 1)
    models = [*(model.with_metric(metric) for metric in regularized_at(model, data.X, kept)), model]
    return {
        "train": [score(one.predict(data.X), data.y) for one in models],
        "test": [score(one.predict(data.X_test), data.y_test) for one in models],
    }


def correlation(predicted: NDArray[Any], target: NDArray[Any]) -> float:
    """The correlation of prediction and target."""
    return float(np.corrcoef(predicted, target)[0, 1])


def squared_error(predicted: NDArray[Any], target: NDArray[Any]) -> float:
    """The mean squared error."""
    return float(np.mean(np.square(predicted - target)))


def error(predicted: NDArray[Any], target: NDArray[Any]) -> float:
    """The share of rows whose class is predicted wrongly."""
    return float(np.mean(predicted != target))


def alignment(points: Array) -> float:
    """The share of the variance of points on a plane in their main direction: 1 if all are on a line, at least 1/2."""
    spread = np.square(np.linalg.svd(points - points.mean(axis=0), compute_uv=False))
    return float(spread[0] / spread.sum())


def diagonal(omega: Sequence[Sequence[float]]) -> Array:
    """The diagonal of Lambda = Omega^T Omega, from the map Omega."""
    return np.square(np.array(omega)).sum(axis=0)


def roughness(values: Array) -> float:
    """The sum of the absolute differences of neighbouring entries, divided by the sum of the entries."""
    return float(np.abs(np.diff(values)).sum() / values.sum())


def peaks(values: Array) -> list[int]:
    """The places of the two highest local maxima, counted from 1, in ascending order."""
    places = argrelmax(values)[0]
    return sorted(int(place) + 1 for place in places[np.argsort(-values[places])[:2]])
