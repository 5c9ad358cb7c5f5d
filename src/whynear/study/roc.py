"""How well probabilities rank the rows of a class before the others: ROC curves and their areas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score, roc_curve

from whynear.utils.arrays import Array

MOST_CURVES = 6  # of the largest classes


@dataclass(frozen=True, eq=False)
class RocCurve:
    """The ROC curve of one class against the rest.

    Attributes
    ----------
    label : object
        The class.
    place : int
        The place of the class in the order of the classes, from 0.
    false_rate, true_rate : ndarray
        For each threshold on the probability of the class, from high to low: the share of the rows of other classes,
        and of the rows of the class, at or above it.
    area : float
        The area under the curve: the chance that a row of the class has a higher probability of it than another row.
    """

    label: Any
    place: int
    false_rate: Array
    true_rate: Array
    area: float


@dataclass(frozen=True)
class Roc:
    """ROC curves of classes, one against the rest.

    Attributes
    ----------
    curves : tuple of RocCurve
        Of two classes, the curve of the second; of more, those of the largest classes, in the order of the classes.
    area : float
        Of two classes, the area under that curve; of more, the mean of the areas of all classes.
    """

    curves: tuple[RocCurve, ...]
    area: float

    def to_dict(self) -> dict[str, Any]:
        """Return the mean area, and label, area and points of each curve."""
        return {
            "area": self.area,
            "curves": [
                {
                    "class": str(curve.label),
                    "area": curve.area,
                    "false_rate": curve.false_rate.tolist(),
                    "true_rate": curve.true_rate.tolist(),
                }
                for curve in self.curves
            ],
        }


def roc_of(true: NDArray[Any], probabilities: Array, classes: NDArray[Any]) -> Roc:
    """Return the curves of the true classes and the probabilities of the classes, a column each."""
    counts = np.array([np.count_nonzero(true == label) for label in classes])
    judged = [1] if len(classes) == 2 else range(len(classes))
    areas = {place: float(roc_auc_score(true == classes[place], probabilities[:, place])) for place in judged}
    drawn = sorted(sorted(judged, key=lambda place: -counts[place])[:MOST_CURVES])
    curves = [_curve(true, probabilities, classes, place, areas[place]) for place in drawn]
    return Roc(tuple(curves), float(np.mean(list(areas.values()))))


def _curve(true: NDArray[Any], probabilities: Array, classes: NDArray[Any], place: int, area: float) -> RocCurve:
    false_rate, true_rate, _ = roc_curve(true == classes[place], probabilities[:, place])
    return RocCurve(classes[place], place, false_rate, true_rate, area)
