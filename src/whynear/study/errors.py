"""The errors of held-out predictions of classes: which classes are confused, and how sure the wrong predictions are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import confusion_matrix

from whynear.study.calibration import ProbabilityCalibration, calibration_of
from whynear.study.comparison import Comparison
from whynear.study.roc import Roc, roc_of
from whynear.utils.row_names import plain_name

MOST_WORST = 5  # rows
MOST_WRITTEN = 100  # classes whose confusion matrix is written as a whole


@dataclass(frozen=True)
class ClassErrors:
    """The errors of one class.

    ``count`` is the number of its rows, ``recall`` the share of them predicted right, ``predicted`` the number of rows
    predicted as this class, and ``precision`` the share of those that is right, None where there are none.
    """

    label: Any
    count: int
    recall: float
    predicted: int
    precision: float | None


@dataclass(frozen=True)
class Confused:
    """How many rows of one class were predicted as another."""

    true: Any
    predicted: Any
    count: int


@dataclass(frozen=True)
class ConfidentError:
    """A wrong prediction and its probability; ``row`` is the name of the row."""

    row: Any
    true: Any
    predicted: Any
    probability: float


@dataclass(frozen=True, eq=False)
class ErrorAnatomy:
    """The errors of held-out predictions, each by the learner chosen without the row.

    Attributes
    ----------
    classes : tuple
        All classes, sorted.
    confusion : ndarray of shape (n_classes, n_classes)
        The number of rows of each class (row) that were predicted as each class (column).
    roc : Roc
        ROC curves of classes, one against the rest, and their mean area.
    calibration : ProbabilityCalibration
        The probabilities of the predictions, compared with the shares that are right.
    worst : tuple of ConfidentError
        The wrong predictions with the highest probability, highest first.
    """

    classes: tuple[Any, ...]
    confusion: NDArray[np.intp]
    roc: Roc
    calibration: ProbabilityCalibration
    worst: tuple[ConfidentError, ...]

    @property
    def n_rows(self) -> int:
        """Number of held-out predictions."""
        return int(self.confusion.sum())

    @property
    def n_wrong(self) -> int:
        """Number of wrong predictions."""
        return self.n_rows - int(self.confusion.trace())

    @property
    def accuracy(self) -> float:
        """The share of rows predicted right."""
        return float(self.confusion.trace() / self.confusion.sum())

    @property
    def balanced_accuracy(self) -> float:
        """The mean recall of the classes."""
        return float(np.mean([held.recall for held in self.by_class]))

    @property
    def by_class(self) -> tuple[ClassErrors, ...]:
        """The errors of each class."""
        right, counts, predicted = self.confusion.diagonal(), self.confusion.sum(axis=1), self.confusion.sum(axis=0)
        return tuple(
            ClassErrors(label, n, hits / n, named, hits / named if named else None)
            for label, hits, n, named in zip(
                self.classes, right.tolist(), counts.tolist(), predicted.tolist(), strict=True
            )
        )

    @property
    def shares(self) -> NDArray[np.float64]:
        """The confusion matrix as shares of the rows of each class."""
        return self.confusion / self.confusion.sum(axis=1, keepdims=True)

    @property
    def confused(self) -> tuple[Confused, ...]:
        """The pairs of classes that were confused, most frequent first."""
        pairs = self.frame().query("true != predicted").sort_values("count", ascending=False, kind="stable")
        return tuple(Confused(*pair) for pair in pairs.itertuples(index=False))

    def frame(self) -> pd.DataFrame:
        """Return the confusion matrix with a row for each pair of classes: ``true``, ``predicted`` and ``count``.

        Pairs without any row are left out.
        """
        true, predicted = np.nonzero(self.confusion)
        names = np.array(self.classes, dtype=object)
        count = self.confusion[true, predicted]
        return pd.DataFrame({"true": names[true], "predicted": names[predicted], "count": count})

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values; ``confusion`` is None where there are many classes."""
        return {
            "classes": [str(label) for label in self.classes],
            "confusion": self.confusion.tolist() if len(self.classes) <= MOST_WRITTEN else None,
            "confused": _dicts(self.confused),
            "accuracy": self.accuracy,
            "balanced_accuracy": self.balanced_accuracy,
            "by_class": _dicts(self.by_class),
            "roc": self.roc.to_dict(),
            "calibration": self.calibration.to_dict(),
            "worst": _dicts(self.worst),
        }


def errors_of(comparison: Comparison) -> ErrorAnatomy:
    """Return the errors of the predictions of a comparison of classifiers."""
    assert comparison.probabilities is not None, "classes are predicted"
    predictions, classes = comparison.predictions, comparison.probabilities.columns.to_numpy()
    true, predicted = predictions["true"].to_numpy(), predictions["predicted"].to_numpy()
    confusion = confusion_matrix(true, predicted, labels=classes)
    confusion.setflags(write=False)
    return ErrorAnatomy(
        tuple(classes.tolist()),
        confusion,
        roc_of(true, comparison.probabilities.to_numpy(), classes),
        calibration_of(predictions["probability"].to_numpy(), ~comparison.wrong),
        _worst(predictions, comparison.wrong),
    )


def _worst(predictions: pd.DataFrame, wrong: NDArray[np.bool_]) -> tuple[ConfidentError, ...]:
    places = np.flatnonzero(wrong)
    order = np.argsort(-predictions["probability"].to_numpy()[places], kind="stable")[:MOST_WORST]
    found = []
    for place in places[order].tolist():
        row = predictions.iloc[place]
        name, probability = plain_name(predictions.index[place]), float(row["probability"])
        found.append(ConfidentError(name, row["true"], row["predicted"], probability))
    return tuple(found)


def _dicts(values: Sequence[Any]) -> list[dict[str, Any]]:
    return [asdict(value) for value in values]
