"""The accuracy of a learner on one fold, for every table that compares learners."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis
from sklearn.pipeline import make_pipeline

from papers.computations import Cell, Result, ResultOf
from papers.outcome import Measured, mean_of
from papers.splits import N_FOLDS, Protocol, fold
from whynear.learn.registry import LEARNERS

# Rows and features of each data set, to estimate the time of a fit before the data are read.
DATASET_SIZES = {
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
    """Fit a learner to the training rows of a fold, and return its accuracy on the test rows."""
    data = fold(dataset, protocol, number)
    model = classifier(learner, settings).fit(data.X, data.y)
    return {"accuracy": model.score(data.X_test, data.y_test)}


def classifier(learner: str, settings: Mapping[str, Any]) -> Any:
    """The learner with this name, not yet fitted."""
    match learner:
        case "kNN":
            return KNeighborsClassifier(5, weights="distance", **settings)
        case "NCA":
            nca = NeighborhoodComponentsAnalysis(random_state=0, **settings)
            return make_pipeline(nca, KNeighborsClassifier(5, weights="distance"))
        case "boosting":
            return HistGradientBoostingClassifier(random_state=0, **settings)
    return LEARNERS[learner.lower()](random_state=0, **settings)


def accuracy_cells(
    dataset: str, learner: str, protocol: Protocol, settings: Mapping[str, Mapping[str, Any]]
) -> list[Cell]:
    """One cell for each fold; the settings in ``wide`` apply if there are more features than ``wide.above``."""
    n_rows, n_features = DATASET_SIZES[dataset]
    n_train = n_rows * (0.2 if protocol == "fifth" else 0.9)
    weight = 0.5 + n_train * n_features * 4e-6 * (5 if learner.startswith("LG") else 1)
    arguments = {
        "dataset": dataset,
        "learner": learner,
        "protocol": protocol,
        "settings": _settings_for_width(settings.get(learner, {}), n_features),
    }
    return [Cell(accuracy, {**arguments, "number": number}, weight) for number in range(N_FOLDS[protocol])]


def _settings_for_width(settings: Mapping[str, Any], n_features: int) -> dict[str, Any]:
    usual = {name: value for name, value in settings.items() if name != "wide"}
    wide = dict(settings.get("wide", {"above": n_features}))
    return usual | wide if n_features > wide.pop("above") else usual


def mean_accuracy(cells: list[Cell], result_of: ResultOf) -> Measured:
    """The mean accuracy over the folds, and its standard deviation."""
    return mean_of(result_of(cell)["accuracy"] for cell in cells)
