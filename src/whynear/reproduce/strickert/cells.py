"""What Strickert, Hammer, Villmann and Biehl measure: maps with fewer and fewer directions of the data kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.model_selection import train_test_split

from whynear.datasets import bin_target, load
from whynear.interpret import effective_dimension, regularize
from whynear.interpret.null_space import rank_of, regularized_at
from whynear.learn import GMLVQ, MinimumNormRegressor
from whynear.metric import LinearMetric
from whynear.reproduce.cells import Result
from whynear.reproduce.data import Split, spectra
from whynear.utils.arrays import Array

Score = Callable[[NDArray[Any], NDArray[Any]], float]


def counts(dataset: str) -> Result:
    """How many spectra there are, of what length, and how they are shared out."""
    data, parts = load(dataset), spectra(dataset, None)
    return {
        "spectra": len(data.y),
        "channels": data.X.shape[1],
        "spectra to learn from": len(parts.X),
        "spectra to test on": len(parts.X_test),
    }


def spectral_regression(dataset: str) -> Result:
    """Correlations of the pseudo-inverse of the spectra as they are, projected on their first directions."""
    data = spectra(dataset, None)
    model = MinimumNormRegressor(fit_intercept=False).fit(data.X, data.y)
    found = swept(model, data, correlation)
    K = effective_dimension(model, data.X, data.y, scoring="correlation").best
    return found | {"n_train": len(data.X), "honest": {"K": K, "test": found["test"][K - 1]}}


def coefficients(dataset: str, effective_dim: int) -> Result:
    """The pseudo-inverse of the spectra as they are, and its projection on directions of the centred ones."""
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
        "honest": {"K": K, "mse": errors["test"][K - 1]},
    }


def start(dataset: str, n_bins: int, effective_dim: int, learning: dict[str, Any], seed: int) -> Result:
    """GMLVQ from one random start: errors over the directions kept, its map before and after, and where that leads."""
    data = centred(spectra(dataset, n_bins))
    model = GMLVQ(random_state=seed, **learning).fit(data.X, data.y)
    K = effective_dimension(model, data.X, data.y).best
    errors = swept(model, data, error)
    projected = regularize(model, data.X, effective_dim)
    assert isinstance(projected, LinearMetric), "one map for all stays one"
    maps = [model.metric_.omega, projected.omega]
    places = {"prototypes": model.prototypes_, "training": data.X, "test": data.X_test}
    points = {name: [rows @ omega.T for omega in maps] for name, rows in places.items()}
    return errors | {
        "honest": {"K": K, "test": errors["test"][K - 1]},
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
    return errors | {"n_train": len(data.X), "honest": {"K": K, "test": errors["test"][K - 1]}}


def descriptors(dataset: str, seed: int, share: float, n_bins: int | None) -> Split:
    """A random split of a set whose features are replaced by ranks; a numeric target may become equal classes."""
    data = load(dataset)
    X, y = rankdata(data.X.to_numpy(dtype=float), axis=0), np.asarray(data.y)
    if n_bins is not None and len(np.unique(y)) > n_bins:
        y = bin_target(y, n_bins)
    X, X_test, y, y_test = train_test_split(X, y, train_size=share, random_state=seed)
    return centred(Split(X, y, X_test, y_test))


def centred(data: Split) -> Split:
    """All columns with the mean of the cases to learn from taken out."""
    mean = data.X.mean(axis=0)
    return data._replace(X=data.X - mean, X_test=data.X_test - mean)


def swept(model: Any, data: Split, score: Score) -> Result:
    """A score on both parts with 1, 2, ... directions of the data kept, and last with the map as it was learned."""
    kept = range(1, rank_of(model.metric_, data.X) + 1)
    models = [*(model.with_metric(metric) for metric in regularized_at(model, data.X, kept)), model]
    return {
        "train": [score(one.predict(data.X), data.y) for one in models],
        "test": [score(one.predict(data.X_test), data.y_test) for one in models],
    }


def correlation(predicted: NDArray[Any], target: NDArray[Any]) -> float:
    """Of prediction and target."""
    return float(np.corrcoef(predicted, target)[0, 1])


def squared_error(predicted: NDArray[Any], target: NDArray[Any]) -> float:
    """Its mean."""
    return float(np.mean(np.square(predicted - target)))


def error(predicted: NDArray[Any], target: NDArray[Any]) -> float:
    """The share of cases predicted wrong."""
    return float(np.mean(predicted != target))


def alignment(points: Array) -> float:
    """How much of the spread of points on a plane lies along one line: one half at least, one if all are on it."""
    spread = np.square(np.linalg.svd(points - points.mean(axis=0), compute_uv=False))
    return float(spread[0] / spread.sum())
