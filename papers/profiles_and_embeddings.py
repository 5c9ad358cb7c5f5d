"""Cells of Göpfert, Wersing and Hammer: relevance profiles of classes, and embeddings on a plane."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from papers.accuracy import classifier
from papers.computations import Result
from whynear.datasets import load, make_licorice
from whynear.embed import embed, embedding_score
from whynear.explain import class_profiles
from whynear.learn import LANN
from whynear.metric import DiagonalMetric
from whynear.utils.arrays import Array

N_PERMUTATIONS = 999


def profiles(dataset: str, learning: dict[str, Any]) -> Result:
    """Mean relevances of each class, fitted to all rows, and a permutation test of their difference."""
    data = load(dataset)
    X = StandardScaler().fit_transform(data.X)
    model = LANN(random_state=0, **learning).fit(X, data.y)
    shares = model.metric_.relevances()
    shares = shares / shares.sum(axis=1, keepdims=True)
    rng = np.random.default_rng(0)
    difference = _profile_difference(shares, data.y)
    permuted = [_profile_difference(shares, rng.permutation(data.y)) for _ in range(N_PERMUTATIONS)]
    table = class_profiles(model)
    return {
        "features": data.feature_names,
        "profiles": {data.target_names[code]: table[code].tolist() for code in table},
        "difference": difference,
        "p_value": (1 + sum(other >= difference for other in permuted)) / (1 + N_PERMUTATIONS),
    }


def _profile_difference(shares: Array, y: NDArray[np.int64]) -> float:
    """The share of relevance that must be moved between features to make the profiles of two classes equal."""
    return float(np.abs(shares[y == 0].mean(axis=0) - shares[y == 1].mean(axis=0)).sum() / 2)


def embedding(dataset: str, method: str, settings: dict[str, Any]) -> Result:
    """Positions on a plane, and the accuracy of the five nearest neighbours there."""
    X, labels = scaled_rows(dataset)
    if method == "Euclidean":
        points = embed(DiagonalMetric(np.ones(X.shape[1])), X, method="euclidean", random_state=0)
    else:
        points = embed(classifier(method, settings).fit(X, labels), X, random_state=0)
    return {"points": np.round(points, 4), "score": embedding_score(points, labels)}


def scaled_rows(dataset: str) -> tuple[Array, NDArray[np.str_]]:
    """All columns as z-scores, and the class name of each row."""
    data = make_licorice(random_state=0) if dataset == "licorice" else load(dataset)
    columns = data.get("columns", data.feature_names)
    return StandardScaler().fit_transform(data.X[columns].to_numpy(dtype=float)), np.array(data.target_names)[data.y]
