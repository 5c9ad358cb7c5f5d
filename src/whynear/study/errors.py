"""The errors of held-out predictions: confusions and probabilities of classes, or residuals of a measured target."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats
from sklearn.base import RegressorMixin
from sklearn.metrics import confusion_matrix, roc_auc_score, roc_curve

from whynear.data.encoder import holds_text
from whynear.metric.steps import estimators_of
from whynear.study.comparison import Comparison
from whynear.utils.arrays import Array
from whynear.utils.columns import plain_name
from whynear.utils.text import printable

N_BINS = 10
TWO_SIDED_95 = 1.959964  # quantile of the normal distribution


@dataclass(frozen=True)
class CalibrationBin:
    """Predictions whose probability is between two values."""

    lower: float  # the ends of the bin; the upper one belongs to it
    upper: float
    probability: float  # the mean of its predictions
    right: float  # the share of them that is right
    least: float  # the 95% interval of that share (Wilson)
    most: float
    count: int  # of its predictions


@dataclass(frozen=True)
class ProbabilityCalibration:
    """The probabilities of predictions, compared with the shares that are right."""

    bins: tuple[CalibrationBin, ...]  # of equal width between 0 and 1; those without predictions are left out
    error: float  # the expected calibration error: the mean over predictions of abs(probability - right) of their bin

    def to_dict(self) -> dict[str, Any]:
        """Return the error and the bins."""
        return {"error": self.error, "bins": [asdict(held) for held in self.bins]}


def calibration_of(probability: Array, right: NDArray[np.bool_]) -> ProbabilityCalibration:
    """Return the calibration of predictions with these probabilities, of which some are right.

    >>> calibration_of(np.array([0.75, 0.75, 0.75, 0.75]), np.array([True, True, True, False])).error
    0.0
    """
    codes = np.clip(np.ceil(N_BINS * probability).astype(int) - 1, 0, N_BINS - 1)
    bins = []
    for code in np.unique(codes).tolist():
        inside = codes == code
        share, count = float(right[inside].mean()), int(inside.sum())
        ends, mean = (code / N_BINS, (code + 1) / N_BINS), float(probability[inside].mean())
        bins.append(CalibrationBin(*ends, mean, share, *wilson_interval(share, count), count))
    gaps = sum(held.count * abs(held.probability - held.right) for held in bins)
    return ProbabilityCalibration(tuple(bins), gaps / len(probability))


def wilson_interval(share: float, count: int) -> tuple[float, float]:
    """Return the 95% interval of a share of independent rows (Wilson 1927).

    >>> least, most = wilson_interval(0.5, 10)
    >>> f"{least:.3f} {most:.3f}"
    '0.237 0.763'
    """
    z = TWO_SIDED_95**2 / count
    centre = (share + z / 2) / (1 + z)
    half = np.sqrt(z * share * (1 - share) + z**2 / 4) / (1 + z)
    return max(0.0, float(centre - half)), min(1.0, float(centre + half))


MOST_CURVES = 6  # of the largest classes


@dataclass(frozen=True, eq=False)
class RocCurve:
    """The ROC curve of one class against the rest."""

    label: Any  # the class
    place: int  # its place in the order of the classes, from 0
    false_rate: Array  # for each threshold on its probability, from high to low, the share of other rows at or above it
    true_rate: Array  # and of the rows of the class
    area: float  # the chance that a row of the class has a higher probability of it than another row


@dataclass(frozen=True)
class Roc:
    """ROC curves of classes, one against the rest."""

    curves: tuple[RocCurve, ...]  # of two classes, that of the second; of more, those of the largest classes, in order
    area: float  # of two classes, that of the curve; of more, the mean of the areas of all classes

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
    curves = []
    for place in drawn:
        false_rate, true_rate, _ = roc_curve(true == classes[place], probabilities[:, place])
        curves.append(RocCurve(classes[place], place, false_rate, true_rate, areas[place]))
    return Roc(tuple(curves), float(np.mean(list(areas.values()))))


MOST_SHOWN = 5  # rows
MOST_WRITTEN = 100  # classes whose confusion matrix is written as a whole
COVERED = 0.9  # share of the values measured in new rows that lie within an interval of errors
CHANCE = 0.01  # of naming anything where nothing goes with the errors
MOST_NAMED = 2
FEWEST_ROWS = 20
FEWEST_OF_CATEGORY = 5  # rows


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

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return which classes were confused, recall and precision of each, and the data of the figures, by name."""
        curves = [
            pd.DataFrame({"class": curve.label, "false_rate": curve.false_rate, "true_rate": curve.true_rate})
            for curve in self.roc.curves
        ]
        return {
            "confusion": self.frame(),
            "classes": pd.DataFrame(self.by_class).rename(columns={"label": "class"}),
            "roc": pd.concat(curves),
            "calibration": pd.DataFrame(self.calibration.bins),
        }

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


@dataclass(frozen=True)
class ErrorPattern:
    """What goes with large errors."""

    feature: str | None  # a column of the table; None for the prediction itself
    correlation: float | None  # the rank correlation of its values with the absolute errors; None for categories
    category: str | None  # the one with the largest median error; None for numbers, and where gaps go with errors
    p_value: float  # of so strong a relation by chance, for this feature alone

    def __str__(self) -> str:
        what = "the prediction" if self.feature is None else f"“{printable(self.feature)}”"
        if self.correlation is None and self.category is None:
            return f"Errors are larger where {what} is missing."
        if self.correlation is None:
            return f"Errors differ with {what} and are largest where it is “{printable(str(self.category))}”."
        side = "high" if self.correlation > 0 else "low"
        so = "" if self.feature is not None else ": there, the interval of a prediction is too narrow"
        return f"Errors are larger where {what} is {side} (rank correlation {self.correlation:+.2f}){so}."


@dataclass(frozen=True)
class Residual:
    """The prediction of a row and how far it is from the measured value.

    ``row`` is the name of the row, ``residual`` the measured value less the prediction.
    """

    row: Any
    true: float
    predicted: float
    residual: float


@dataclass(frozen=True)
class Residuals:
    """The errors of held-out predictions of a numeric target.

    Attributes
    ----------
    typical : float
        The root mean squared error.
    median : float
        The median of the absolute errors.
    largest : tuple of Residual
        The rows with the largest absolute errors, largest first.
    interval : tuple of float or None
        The errors, measured less predicted, between which 90% of them lie; see `error_interval`.
    patterns : tuple of ErrorPattern
        What goes with large errors.
    """

    typical: float
    median: float
    largest: tuple[Residual, ...]
    interval: tuple[float, float] | None = None
    patterns: tuple[ErrorPattern, ...] = ()

    @property
    def classes(self) -> tuple[Any, ...]:
        """No classes: the target is measured."""
        return ()

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return no tables: the predictions contain all."""
        return {}

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return asdict(self)


def errors_of(
    comparison: Comparison, X: pd.DataFrame | None = None, groups: pd.Series | None = None
) -> ErrorAnatomy | Residuals:
    """Return the errors of the predictions of a comparison; of a measured target, what of ``X`` goes with them."""
    predictions, probabilities, wrong = comparison.predictions, comparison.probabilities, comparison.wrong
    if probabilities is None:
        return residuals_of(predictions, () if X is None else error_patterns(X, predictions, groups))
    classes, true = probabilities.columns.to_numpy(), predictions["true"].to_numpy()
    confusion = confusion_matrix(true, predictions["predicted"].to_numpy(), labels=classes)
    confusion.setflags(write=False)
    worst = predictions[wrong].sort_values("probability", ascending=False, kind="stable").head(MOST_SHOWN)
    columns = (worst[name].tolist() for name in ("true", "predicted", "probability"))
    return ErrorAnatomy(
        tuple(classes.tolist()),
        confusion,
        roc_of(true, probabilities.to_numpy(), classes),
        calibration_of(predictions["probability"].to_numpy(), ~wrong),
        tuple(map(ConfidentError, map(plain_name, worst.index), *columns)),
    )


def _dicts(values: Sequence[Any]) -> list[dict[str, Any]]:
    return [asdict(value) for value in values]


def residuals_of(predictions: pd.DataFrame, patterns: tuple[ErrorPattern, ...] = ()) -> Residuals:
    """Return the errors of predictions with the columns ``true`` and ``predicted``."""
    residuals = (predictions["true"] - predictions["predicted"]).to_numpy()
    largest = predictions.iloc[np.argsort(-np.abs(residuals), kind="stable")[:MOST_SHOWN]]
    rows = zip(largest.index, largest["true"].tolist(), largest["predicted"].tolist(), strict=True)
    return Residuals(
        root_mean_squared_error(predictions),
        float(np.median(np.abs(residuals))),
        tuple(Residual(plain_name(name), float(true), float(found), float(true - found)) for name, true, found in rows),
        error_interval(residuals),
        patterns,
    )


def root_mean_squared_error(predictions: pd.DataFrame, weights: pd.Series | None = None) -> float:
    """Return the root mean squared error of held-out predictions, which count by their weights."""
    return float(np.sqrt(np.average(np.square(predictions["true"] - predictions["predicted"]), weights=weights)))


def error_interval(errors: Array) -> tuple[float, float] | None:
    """Return two of the errors, measured less predicted, between which that of a new row lies with 90% probability.

    They are those at places floor(0.05 (n + 1)) and ceil(0.95 (n + 1)) in the order of size (split conformal
    prediction); None where there are too few rows for these.

    >>> error_interval(np.arange(1.0, 20.0)), error_interval(np.arange(1.0, 19.0))
    ((1.0, 19.0), None)
    """
    ranked, tail = np.sort(errors), (1 - COVERED) / 2 * (len(errors) + 1)
    low = math.floor(tail + 1e-9)
    if low < 1:
        return None
    return float(ranked[low - 1]), float(ranked[len(ranked) - low])


def remember_errors(model: Any, predictions: pd.DataFrame) -> Any:
    """Return a model whose learner, if it predicts a measured target, keeps the interval of held-out errors."""
    learner = estimators_of(model)[-1]
    if isinstance(learner, RegressorMixin) and hasattr(learner, "metric_"):
        found = error_interval((predictions["true"] - predictions["predicted"]).to_numpy())
        if found is not None:
            learner.error_interval_ = np.array(found)
    return model


def error_patterns(X: pd.DataFrame, predictions: pd.DataFrame, groups: pd.Series | None) -> tuple[ErrorPattern, ...]:
    """Return what goes with large errors, most significant first, by Holm's correction for all features.

    Nothing for few rows, and for rows that belong together, which the tests would take as independent.
    """
    sizes = (predictions["true"] - predictions["predicted"]).abs().to_numpy()
    if groups is not None or len(sizes) < FEWEST_ROWS or np.ptp(sizes) == 0:
        return ()
    found = sorted(_patterns(X, predictions["predicted"], sizes), key=lambda pattern: pattern.p_value)
    kept = []
    for place, pattern in enumerate(found):
        if pattern.p_value > CHANCE / (len(found) - place):
            break
        kept.append(pattern)
    return tuple(kept[:MOST_NAMED])


def _patterns(X: pd.DataFrame, predicted: pd.Series, sizes: Array) -> Iterator[ErrorPattern]:
    yield from _of_numbers(None, predicted, sizes)
    for name in X.columns:
        column = X[name]
        yield from (_of_categories if holds_text(column) else _of_numbers)(str(name), column, sizes)
        yield from _of_gaps(str(name), column, sizes)


def _of_numbers(name: str | None, column: pd.Series[Any], sizes: Array) -> Iterator[ErrorPattern]:
    known = column.notna().to_numpy()
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)[known]
    if len(values) >= FEWEST_ROWS and np.ptp(values) > 0 and np.ptp(sizes[known]) > 0:
        tested = stats.spearmanr(values, sizes[known])
        yield ErrorPattern(name, float(tested.statistic), None, float(tested.pvalue))


def _of_categories(name: str, column: pd.Series[Any], sizes: Array) -> Iterator[ErrorPattern]:
    by_category = pd.Series(sizes).groupby(column.to_numpy(dtype=object))
    large = {str(label): part.to_numpy() for label, part in by_category if len(part) >= FEWEST_OF_CATEGORY}
    if len(large) > 1 and np.ptp(np.concatenate(list(large.values()))) > 0:
        worst = max(large, key=lambda label: float(np.median(large[label])))
        yield ErrorPattern(name, None, worst, float(stats.kruskal(*large.values()).pvalue))


def _of_gaps(name: str, column: pd.Series[Any], sizes: Array) -> Iterator[ErrorPattern]:
    missing = column.isna().to_numpy()
    if min(missing.sum(), (~missing).sum()) >= FEWEST_OF_CATEGORY:
        tested = stats.mannwhitneyu(sizes[missing], sizes[~missing], alternative="greater")
        yield ErrorPattern(name, None, None, float(tested.pvalue))
