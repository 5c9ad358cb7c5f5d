"""Checks of a fitted learner that was read from a file: no parameter or array that `fit` cannot make is used."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from whynear.metric import LocalMetric, Metric
from whynear.utils.checks import number, whole
from whynear.utils.threads import n_threads

# d features, n training cases, m prototypes
SHAPES: dict[str, tuple[int | str, ...]] = {
    "input_range_": (2, "d"),
    "cases_": ("n", "d"),
    "codes_": ("n",),
    "targets_": ("n",),
    "case_places_": ("n",),
    "origin_": ("d",),
    "_factors": ("d",),
    "prototypes_": ("m", "d"),
    "prototype_labels_": ("m",),
    "row_names_": ("n",),
}
NUMBERS = ("certainty_", "target_origin_")
LABELS = ("prototype_labels_", "row_names_")


class CheckedWhenLoaded:
    """Adds to a learner that `whynear.load` refuses parameters and arrays that do not fit together."""

    def check_settings(self) -> None:
        """Refuse parameters that `fit` refuses."""
        raise NotImplementedError

    def restore_fields(self) -> None:
        """Check what `whynear.load` set."""
        if hasattr(self, "metric_"):
            check_fitted_state(self)
            self.check_settings()
            n_threads(getattr(self, "n_jobs", None))


def check_fitted_state(learner: Any) -> None:
    """Refuse attributes of a fitted learner that do not fit together; the error names the attribute."""
    sizes: dict[int | str, int] = {2: 2, "d": whole("n_features_in_", learner.n_features_in_)}
    metric = learner.metric_
    _require(isinstance(metric, Metric) and metric.n_features == sizes["d"], "metric_", "of other features")
    for name, shape in SHAPES.items():
        array = getattr(learner, name, None)
        if array is not None:
            _require(isinstance(array, np.ndarray) and array.ndim == len(shape), name, f"no array of {shape}")
            for size, found in zip(shape, array.shape, strict=True):
                _require(found == sizes.setdefault(size, found), name, f"of shape {array.shape}")
            _require(name in LABELS or _all_numbers(array), name, "not all finite numbers")
    for name in NUMBERS:
        if hasattr(learner, name):
            number(name, getattr(learner, name), least=-np.inf)
    whole("n_votes_", getattr(learner, "n_votes_", 1))
    if isinstance(metric, LocalMetric):
        _require(len(metric) == sizes.get("n", sizes.get("m")), "metric_", "of other cases")
    if hasattr(learner, "classes_"):
        _check_classes(learner, learner.classes_)


def _check_classes(learner: Any, classes: Any) -> None:
    fits = isinstance(classes, np.ndarray) and classes.ndim == 1 and len(classes) > 1
    _require(fits and bool(np.all(classes[:-1] < classes[1:])), "classes_", "not a sorted list of classes")
    if (codes := getattr(learner, "codes_", None)) is not None:
        inside = codes.dtype.kind == "i" and codes.min(initial=0) >= 0 and codes.max(initial=0) < len(classes)
        _require(inside, "codes_", "not a class for each case")
    if (labels := getattr(learner, "prototype_labels_", None)) is not None:
        _require(bool(np.isin(labels, classes).all()), "prototype_labels_", "not among the classes")
        _require(bool(np.all(labels[:-1] <= labels[1:])), "prototype_labels_", "not sorted")


def _all_numbers(array: NDArray[Any]) -> bool:
    return array.dtype.kind == "i" or (array.dtype == np.float64 and bool(np.isfinite(array).all()))


def _require(holds: bool, name: str, fault: str) -> None:
    if not holds:
        raise ValueError(f"{name} is {fault}")
