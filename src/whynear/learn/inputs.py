"""What learners accept: features, classes, weights of rows and of classes."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple, Self, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d, validate_data

from whynear.data.rows import TimeOrder
from whynear.utils.checks import number
from whynear.utils.columns import (
    check_finite,
    check_magnitudes,
    check_plain,
    column_names,
    default_names,
    names_of_rows,
    rows_at,
)
from whynear.utils.text import counted


class Labelled(NamedTuple):
    """A checked training set: the classes are coded as their places in ``classes``; rows have names or not."""

    X: NDArray[np.float64]
    codes: NDArray[np.intp]
    classes: NDArray[Any]
    feature_names: tuple[str, ...]
    weights: NDArray[np.float64]
    row_names: NDArray[Any] | None = None

    @property
    def shares(self) -> NDArray[np.float64]:
        """The weights, made to sum to one."""
        return self.weights / self.weights.sum()

    @property
    def varying(self) -> NDArray[np.bool_]:
        """Which columns vary; all of them where none does."""
        found = self.X.max(axis=0) > self.X.min(axis=0)
        return found if found.any() else ~found

    def distinct(self) -> Self:
        """The same training set, each different row once, without a name, with the weight of all its copies.

        The order of the rows depends on their values only: a fit to them depends neither on the order of the table nor
        on whether a row is repeated or weighted, not even by rounding.
        """
        _, first, group = np.unique(row_keys(self.X, self.codes), return_index=True, return_inverse=True)
        if not (np.array_equal(self.X[first][group], self.X) and np.array_equal(self.codes[first][group], self.codes)):
            return self  # two different rows share a hash, which is very rare: then copies stay
        weights = np.zeros(len(first))
        np.add.at(weights, group, self.weights)
        return self._replace(X=self.X[first], codes=self.codes[first], weights=weights, row_names=None)


def row_keys(X: NDArray[np.float64], codes: NDArray[np.intp]) -> NDArray[np.uint64]:
    """Return a hash of the values and the class of each row: numbers spread evenly, the same for equal rows."""
    rows = pd.DataFrame(X + 0.0)  # -0.0 is 0.0
    return np.asarray(pd.util.hash_pandas_object(rows.assign(code=codes), index=False), dtype=np.uint64)


def fit_inputs(learner: BaseEstimator, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Labelled:
    """Check a training set; set ``n_features_in_``, ``feature_names_in_`` and ``input_range_`` of the learner.

    Refused by name are NaN and infinities, values whose squares leave the range of float64, missing targets, negative
    weights, and a target with a single class. Rows of weight zero are left out. Constant columns, which have no part
    in any distance, are named in a warning.
    """
    values, labels, names = table_and_labels(learner, X, y, reset=True, least=2)
    check_magnitudes(values, names, by_column=True)
    weights, rows = checked_weights(sample_weight, len(values), X), names_of_rows(X, y)
    if not weights.all():
        rows = None if rows is None else rows[weights > 0]
        values, labels, weights = values[weights > 0], labels[weights > 0], weights[weights > 0]
    classes, codes = np.unique(labels, return_inverse=True)
    check_classes(learner, classes)
    learner.input_range_ = range_of_columns(values)
    forget_table(learner)
    data = Labelled(values, codes.astype(np.intp), classes, names, weights, rows)
    warn_of_constant_columns(names, data.varying)
    return data


def check_classes(learner: BaseEstimator, classes: NDArray[Any]) -> None:
    """Refuse a single class."""
    if len(classes) < 2:
        raise ValueError(
            f"y holds the single class {classes.tolist()[0]!r}, and {type(learner).__name__} needs at least two. "
            "Add rows of another class or choose another target."
        )


def warn_of_constant_columns(names: Sequence[str], varying: NDArray[np.bool_]) -> None:
    """Name the columns that do not vary in a warning."""
    constant = [name for name, varies in zip(names, varying, strict=True) if not varies]
    if constant:
        listed = ", ".join(constant[:10]) + (", ..." if len(constant) > 10 else "")
        columns = counted(len(constant), "column, which gets", "columns, which get")
        warnings.warn(
            f"X holds the same value in every row of {columns} no weight: {listed}.",
            UserWarning,
            stacklevel=4,
        )


def stream_inputs(
    learner: BaseEstimator,
    X: ArrayLike,
    y: ArrayLike,
    classes: ArrayLike | None,
    sample_weight: ArrayLike | None = None,
    least: int = 2,
) -> Labelled:
    """Check a part of a stream; the first part needs all classes that may occur, and at least ``least`` rows.

    Rows of weight zero are left out. The columns keep the names that they had first.
    """
    first = not hasattr(learner, "classes_")
    if first and classes is None:
        raise ValueError("classes must be passed on the first call to partial_fit: all labels that may occur.")
    values, labels, names = table_and_labels(learner, X, y, reset=first, least=least if first else 1)
    check_magnitudes(values, names)
    known = np.unique(np.asarray(classes)) if first else learner.classes_
    if classes is not None and not np.array_equal(np.unique(np.asarray(classes)), known):
        raise ValueError(f"classes={classes!r} is not the same as on the first call to partial_fit: {known.tolist()}.")
    if len(known) < 2:
        raise ValueError(f"classes holds {len(known)} class, and {type(learner).__name__} needs at least two.")
    codes = np.searchsorted(known, labels).clip(max=len(known) - 1)
    new = np.unique(labels[known[codes] != labels])
    if len(new):
        raise ValueError(
            f"y holds {new.tolist()[0]!r}, which is not among the classes {known.tolist()}. Fit again with all classes."
        )
    weights = checked_weights(sample_weight, len(values), X)
    counting = weights > 0
    if hasattr(learner, "metric_"):
        names = learner.metric_.feature_names
    forget_table(learner)
    if first or hasattr(learner, "input_range_"):
        before = values[counting][:0] if first else learner.input_range_
        learner.input_range_ = range_of_columns(np.vstack([before, values[counting]]))
    rows = names_of_rows(X, y)
    rows = None if rows is None else rows[counting]
    return Labelled(values[counting], codes[counting].astype(np.intp), known, names, weights[counting], rows)


def range_of_columns(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the smallest and the largest value of each column, in two rows."""
    return np.array([values.min(axis=0), values.max(axis=0)])


def forget_table(learner: BaseEstimator) -> None:
    """Remove what a study noted in the learner about the table that it was fitted to before."""
    for name in ("row_gaps_", "row_column_", "error_interval_", "held_out_certainty_"):
        vars(learner).pop(name, None)


def table_and_labels(
    learner: BaseEstimator, X: ArrayLike, y: ArrayLike, *, reset: bool, least: int
) -> tuple[NDArray[np.float64], NDArray[Any], tuple[str, ...]]:
    """Return checked values, labels and names of columns; ``reset``: whether the learner takes new columns."""
    if y is None:
        raise ValueError(f"{type(learner).__name__} requires y to be passed, but the target y is None.")
    values, names = table_inputs(learner, X, ensure_min_samples=least, reset=reset)
    labels = _labels(y)
    check_consistent_length(values, labels)
    return values, labels, names


def checked_weights(sample_weight: ArrayLike | None, n: int, table: Any = None) -> NDArray[np.float64]:
    """Return the weight of each row, one without weights; an error names the row of ``table`` and its value."""
    weights = np.ones(n) if sample_weight is None else np.array(sample_weight, dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(n, float(weights))
    if weights.shape != (n,):
        raise ValueError(f"sample_weight must hold one number for each of the {n} rows, got shape {weights.shape}.")
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(wrong):
        raise ValueError(
            f"sample_weight must hold finite numbers, none negative, got {weights[wrong[0]]} in row "
            f"{rows_at(wrong[:1], table)} instead."
        )
    if not (weights.any() and np.isfinite(weights.sum())):
        raise ValueError("sample_weight must have a finite sum above zero. Give at least one row a weight.")
    return weights


def predict_inputs(learner: BaseEstimator, X: ArrayLike) -> NDArray[np.float64]:
    """Check cases to be predicted against the columns that the learner was fitted on."""
    check_is_fitted(learner)
    values, names = table_inputs(learner, X, reset=False)
    check_magnitudes(values, names)
    return values


def table_inputs(learner: BaseEstimator, X: ArrayLike, **checks: Any) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Return finite values row by row, and the names of the columns; ``checks`` are those of ``validate_data``."""
    check_plain(X)
    values = validate_data(learner, X, dtype=np.float64, order="C", ensure_all_finite=False, **checks)
    names = column_names(X) or default_names(values.shape[1])
    check_finite(values, names)
    return values, names


def measurable_inputs(learner: Any, X: ArrayLike) -> NDArray[np.float64]:
    """Check cases to be predicted as `predict_inputs` does, and that the metric of the learner can measure them."""
    values = predict_inputs(learner, X)  # first: it refuses a learner that is not fitted, which has no metric
    measurable: NDArray[np.float64] = learner.metric_.measurable(values)
    return measurable


class FarRowsWarning(UserWarning):
    """Numbers are predicted for rows that are far from all training rows.

    Attributes
    ----------
    far : ndarray of shape (n_rows,)
        Which of the rows are far.
    constant : float
        What their predictions approach.
    """

    def __init__(self, far: NDArray[np.bool_], constant: float, table: Any) -> None:
        self.far, self.constant = far, constant
        which = f"row {rows_at([int(far.argmax())], table)}"
        if len(far) > 1:
            which = f"{far.sum():,} of {len(far):,} rows (first: {which})"
        super().__init__(
            f"Far from all training rows: {which}. Such predictions approach {constant:.6g}, a mean of the training "
            "targets."
        )


@contextmanager
def far_rows_unsaid() -> Iterator[None]:
    """Leave out the warnings of rows that are far: held-out rows show in their errors what it means."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FarRowsWarning)
        yield


@contextmanager
def far_rows_by_name(table: Any) -> Iterator[None]:
    """Name the rows in warnings of rows that are far as a table does, instead of by their numbers."""
    with warnings.catch_warnings(record=True) as caught:
        yield
    for found in caught:
        if isinstance(found.message, FarRowsWarning):
            warnings.warn(FarRowsWarning(found.message.far, found.message.constant, table), stacklevel=4)
        else:
            warnings.warn_explicit(found.message, found.category, found.filename, found.lineno)


def _labels(y: ArrayLike) -> NDArray[Any]:
    labels = column_or_1d(y, warn=True)
    missing = np.flatnonzero(pd.isna(labels))
    if len(missing):
        rows = rows_at(missing, y)
        raise ValueError(
            f"y contains NaN or None: {len(missing)} targets are missing, in rows {rows}. Drop these rows."
        )
    firsts = {isinstance(label, str): label for label in labels} if labels.dtype == object else {}
    if len(firsts) > 1:  # they have no order
        raise ValueError(
            f"y mixes text and other values: {firsts[True]!r} and {firsts[False]!r}. Write all classes in one way, "
            "for example y.astype(str)."
        )
    check_classification_targets(labels)
    return labels


def groups_that_count(
    groups: ArrayLike | TimeOrder | None, n_rows: int, sample_weight: ArrayLike | None
) -> NDArray[np.intp] | TimeOrder | None:
    """Return the number of the group, or the time, of each row that has a weight.

    >>> groups_that_count(["p3", "p1", "p2"], 3, [1.0, 0.0, 2.0])
    array([1, 0])
    """
    codes = group_codes(groups, n_rows)
    if codes is None or sample_weight is None:
        return codes
    counting = np.broadcast_to(np.asarray(sample_weight, dtype=np.float64), n_rows) > 0
    return group_codes(codes[counting], int(counting.sum()))


def group_codes(groups: ArrayLike | TimeOrder | None, n_rows: int) -> NDArray[np.intp] | TimeOrder | None:
    """Return the number of the group of each row; an error if there are more or fewer groups than rows.

    >>> group_codes(["p2", "p1", "p2"], 3)
    array([1, 0, 1])
    """
    if groups is None:
        return None
    codes: NDArray[np.intp] | TimeOrder
    if isinstance(groups, TimeOrder):
        codes = groups
    else:
        codes = np.unique(column_or_1d(groups), return_inverse=True)[1].astype(np.intp)
    if len(codes) != n_rows:
        raise ValueError(f"groups must have as many rows as X, got {len(codes)} and {n_rows} instead.")
    return codes


ClassWeight: TypeAlias = Literal["balanced"] | Mapping[Any, float] | None


def weighed(data: Labelled, class_weight: ClassWeight) -> Labelled:
    """Return the training set with the weight of each row times that of its class.

    "balanced" gives all classes the same weight together: n / (K n_c) for the n_c of n rows of one of K classes, where
    a row counts by its own weight, so that one of weight two still counts as two copies.
    """
    if class_weight is None:
        return data
    totals = np.array([data.weights[data.codes == code].sum() for code in range(len(data.classes))])
    factors = class_factors(class_weight, data.classes, totals)
    return data._replace(weights=data.weights * factors[data.codes])


def check_for_stream(class_weight: ClassWeight) -> None:
    """Refuse "balanced" for a stream, of which no part shows how many rows the classes have."""
    if class_weight == "balanced":
        raise ValueError(
            "class_weight='balanced' needs all rows at once, and partial_fit sees a part of them. Give a weight for "
            "each class, such as class_weight={'rare': 10}, or use fit."
        )


def class_factors(class_weight: ClassWeight, classes: NDArray[Any], totals: NDArray[np.float64]) -> NDArray[np.float64]:
    """What the weights of rows are multiplied by, for each class; ``totals`` are the weights of the classes."""
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, Mapping):
        known = classes.tolist()
        if unknown := [label for label in class_weight if label not in known]:
            raise ValueError(f"class_weight names {unknown[0]!r}, which is none of the classes {known}.")
        given = {label: class_weight.get(label, 1.0) for label in known}
        return np.array([number(f"class_weight[{label!r}]", value, above=0.0) for label, value in given.items()])
    if not (isinstance(class_weight, str) and class_weight == "balanced"):
        raise ValueError(f"class_weight must be 'balanced', a weight for each class, or None, got {class_weight!r}.")
    return np.asarray(totals.sum() / (len(totals) * totals))
