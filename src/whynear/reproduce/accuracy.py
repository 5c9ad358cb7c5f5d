"""The accuracy of a learner on one fold, for every table that compares learners."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis
from sklearn.pipeline import make_pipeline

from whynear.learn.registry import LEARNERS
from whynear.reproduce.cells import Cell, Found, Result
from whynear.reproduce.data import N_FOLDS, Protocol, fold
from whynear.reproduce.outcome import Measured

# Rows and features of each set, to know roughly how long a fit takes before it is read.
SIZES = {
    "artificial": (2000, 20),
    "breast_cancer": (569, 30),
    "digits": (1797, 64),
    "gamma_telescope": (19020, 10),
    "hia_hou_mordred": (578, 1096),
    "image_segmentation": (2310, 16),
    "ionosphere": (351, 34),
    "iris": (150, 4),
    "isolet": (7797, 617),
    "letter": (20000, 16),
    "outdoor": (4000, 21),
    "pendigits": (10992, 16),
    "pima": (768, 8),
    "robot_navigation": (5456, 24),
    "usps": (9298, 256),
    "wine": (178, 13),
}


def accuracy(dataset: str, learner: str, protocol: Protocol, number: int, settings: Mapping[str, Any]) -> Result:
    """Learn from one part of a fold, and tell the share of the other part that is predicted right."""
    data = fold(dataset, protocol, number)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # small classes and slow descents are part of the comparison
        model = classifier(learner, data.X.shape[1], settings).fit(data.X, data.y)
        return {"accuracy": model.score(data.X_test, data.y_test)}


def classifier(learner: str, n_features: int, settings: Mapping[str, Any]) -> Any:
    """A learner by name. Settings under ``wide`` hold for tables with more features than ``wide.above``."""
    given = {name: value for name, value in settings.items() if name != "wide"}
    wide = dict(settings.get("wide", {}))
    if wide and n_features > wide.pop("above"):
        given |= wide
    match learner:
        case "kNN":
            return KNeighborsClassifier(5, weights="distance", **given)
        case "NCA":
            nca = NeighborhoodComponentsAnalysis(random_state=0, **given)
            return make_pipeline(nca, KNeighborsClassifier(5, weights="distance"))
        case "boosting":
            return HistGradientBoostingClassifier(random_state=0, **given)
    return LEARNERS[learner.lower()](random_state=0, **given)


def accuracy_cells(
    dataset: str, learner: str, protocol: Protocol, settings: Mapping[str, Mapping[str, Any]]
) -> list[Cell]:
    """One for each fold."""
    n_rows, n_features = SIZES[dataset]
    n_train = n_rows * (0.2 if protocol == "fifth" else 0.9)
    weight = 0.5 + n_train * n_features * 4e-6 * (5 if learner.startswith("LG") else 1)
    given = {"dataset": dataset, "learner": learner, "protocol": protocol}
    return [
        Cell(accuracy, {**given, "number": number, "settings": dict(settings.get(learner, {}))}, weight)
        for number in range(N_FOLDS[protocol])
    ]


def mean_accuracy(cells: list[Cell], found: Found) -> Measured:
    """Mean and standard deviation over the folds."""
    scores = [found(cell)["accuracy"] for cell in cells]
    return Measured(float(np.mean(scores)), float(np.std(scores)))
