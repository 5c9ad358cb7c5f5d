"""What Göpfert, Wersing and Hammer show of metrics: profiles of classes, and maps of the cases."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from whynear.datasets import load, make_licorice
from whynear.embedding import embed, embedding_score
from whynear.explain import class_profiles
from whynear.learn import LANN
from whynear.metric import DiagonalMetric
from whynear.reproduce.accuracy import classifier
from whynear.reproduce.cells import Result
from whynear.utils.arrays import Array

SHUFFLES = 999


def profiles(dataset: str, learning: dict[str, Any]) -> Result:
    """Class-wise relevances of LANN, learned from all cases, and whether the classes differ by chance."""
    data = load(dataset)
    X = StandardScaler().fit_transform(data.X)
    model = LANN(random_state=0, **learning).fit(X, data.y)
    shares = model.metric_.relevances()
    shares = shares / shares.sum(axis=1, keepdims=True)
    rng = np.random.default_rng(0)
    apart = _apart(shares, data.y)
    shuffled = [_apart(shares, rng.permutation(data.y)) for _ in range(SHUFFLES)]
    table = class_profiles(model)
    return {
        "features": data.feature_names,
        "profiles": {data.target_names[code]: table[code].tolist() for code in table},
        "apart": apart,
        "chance": (1 + sum(other >= apart for other in shuffled)) / (1 + SHUFFLES),
    }


def _apart(shares: Array, y: NDArray[np.int64]) -> float:
    """What would have to move from feature to feature to make the mean shares of two classes equal."""
    return float(np.abs(shares[y == 0].mean(axis=0) - shares[y == 1].mean(axis=0)).sum() / 2)


def embedding(dataset: str, method: str, settings: dict[str, Any]) -> Result:
    """Positions on a plane, and how many of the cases their five nearest others there predict right."""
    X, labels = embedded_cases(dataset)
    if method == "Euclidean":
        points = embed(DiagonalMetric(np.ones(X.shape[1])), X, method="euclidean", random_state=0)
    else:
        points = embed(classifier(method, settings).fit(X, labels), X, random_state=0)
    return {"points": np.round(points, 4), "score": embedding_score(points, labels)}


def embedded_cases(dataset: str) -> tuple[Array, NDArray[np.str_]]:
    """Z-scored columns, and the names of the classes."""
    data = make_licorice(random_state=0) if dataset == "licorice" else load(dataset)
    columns = data.get("columns", data.feature_names)
    return StandardScaler().fit_transform(data.X[columns].to_numpy(dtype=float)), np.array(data.target_names)[data.y]
