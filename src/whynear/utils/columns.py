"""Columns and the names of rows: what estimators accept as X, and how rows are named."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.utils import check_array

from whynear.utils.arrays import Array, python_value
from whynear.utils.text import counted, listed


def names_of_rows(*tables: Any) -> NDArray[Any] | None:
    """Return the names of the rows of the first DataFrame or Series, whole numbers or text; None if there is none.

    >>> names_of_rows(np.zeros((2, 1)), pd.Series([1, 0], index=["ann", "bob"]))
    array(['ann', 'bob'], dtype=object)
    """
    index = next((table.index for table in tables if isinstance(table, pd.DataFrame | pd.Series)), None)
    if index is None:
        return None
    if is_default(index):
        return np.arange(1, len(index) + 1)
    if pd.api.types.is_integer_dtype(index.dtype):
        return index.to_numpy(dtype=np.int64)
    return np.fromiter(map(plain_name, index), dtype=object, count=len(index))


def is_default(index: pd.Index[Any]) -> bool:
    """Return whether an index is the one that pandas gives to rows without names: 0, 1, 2, ...

    >>> is_default(pd.DataFrame({"a": [5, 6]}).index), is_default(pd.Index([0, 1], name="id"))
    (True, False)
    """
    return isinstance(index, pd.RangeIndex) and index.name is None and (index.start, index.step) == (0, 1)


def rows_at(places: Iterable[int], table: Any, most: int = 10) -> str:
    """Return the names of the rows at these places, from 0, for a message; without names, their numbers from 1.

    >>> rows_at([0, 2], np.zeros(3)), rows_at([1], pd.Series([1, 0], index=["ann", "bob"]))
    ('1, 3 (counting from 1)', 'bob')
    """
    wanted, names = list(places), names_of_rows(table)
    counted = names is None or is_default(table.index)
    shown = ", ".join(str(place + 1 if names is None else names[place]) for place in wanted[:most])
    return shown + (", ..." if len(wanted) > most else "") + (" (counting from 1)" if counted else "")


def plain_name(label: Any) -> Any:
    """Return the label of a row as a whole number or text, so that it can be stored and printed.

    >>> plain_name(7.0), plain_name("7"), plain_name(pd.Timestamp(2024, 1, 31))
    (7, '7', '2024-01-31 00:00:00')
    """
    label = python_value(label)
    if isinstance(label, float) and label.is_integer():  # pandas makes floats of integers where some are missing
        return int(label)
    return label if isinstance(label, int) and not isinstance(label, bool) else str(label)


# The square of a value outside these limits leaves the range of float64: a distance would become infinite or zero.
LARGEST_VALUE = 1e150
SMALLEST_VALUE = 1e-150

# Text such as 12, -0.5, .5, 1e-3; not 007, which may be a code.
_PLAIN_NUMBER = re.compile(r"[+-]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")


def default_names(n_features: int) -> tuple[str, ...]:
    """Return names for columns that have none, as scikit-learn gives them: x0, x1, ..."""
    return tuple(f"x{i}" for i in range(n_features))


def column_names(X: Any) -> tuple[str, ...] | None:
    """Return the column names of a table, or None for anything without string column names."""
    columns = getattr(X, "columns", None)
    if columns is None or not all(isinstance(name, str) for name in columns):
        return None
    return tuple(columns)


def check_names(feature_names: Sequence[str] | None, n_features: int) -> tuple[str, ...]:
    """Return feature names as a tuple of unique strings, one for each feature."""
    if feature_names is None:
        return default_names(n_features)
    names = tuple(str(name) for name in feature_names)
    if len(names) != n_features:
        raise ValueError(
            f"feature_names must hold one name for each of the {n_features} features, got {len(names)} instead."
        )
    if len(set(names)) < n_features:
        repeated = [name for name, count in Counter(names).items() if count > 1]
        raise ValueError(f"feature_names must be unique, got {listed(repeated)} more than once.")
    return names


def is_number(value: object) -> bool:
    """Return whether a value is a real number: a boolean and a Decimal are, text is not."""
    return isinstance(value, Real | np.bool_ | Decimal)


def as_numbers(column: pd.Series, *, text: bool = False) -> Array | None:
    """Return a column as float64, missing values as NaN; None if it holds anything but real numbers.

    With ``text``, plain numbers written as text are accepted too, with or without blanks around them.

    >>> as_numbers(pd.Series(["1.5", " 2 "]), text=True)
    array([1.5, 2. ])
    """
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_complex_dtype(column):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    if not (pd.api.types.is_object_dtype(column) or (text and pd.api.types.is_string_dtype(column))):
        return None
    missing = column.isna().to_numpy()
    if not all(
        is_number(value) or (text and isinstance(value, str) and _PLAIN_NUMBER.fullmatch(value.strip()))
        for value in column[~missing]
    ):
        return None
    return np.array([math.nan if gone else _float(value) for value, gone in zip(column, missing, strict=True)])


def numbers(column: pd.Series, what: str = "X") -> Array:
    """Return a column of numbers as float64, missing values as NaN; text that ``float`` parses is accepted."""
    if pd.api.types.is_datetime64_any_dtype(column) or pd.api.types.is_timedelta64_dtype(column):
        raise ValueError(f"{what} holds dates or durations in column {column.name!r}: turn them into numbers first.")
    try:
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError, OverflowError) as error:
        found = first_non_number(column)
        if found is None and isinstance(error, OverflowError):  # whole numbers beyond all floats, read as infinite
            gone = column.isna()
            return np.array([math.nan if g else _float(value) for value, g in zip(column, gone, strict=True)])
        if found is None:
            raise
        row = f", row {rows_at(found[:1], column)}" if len(column) > 1 else ""
        raise ValueError(
            f"{what} holds {found[1]!r} in column {str(column.name)!r}{row}, which is not a number."
        ) from None


def first_non_number(column: pd.Series) -> tuple[int, Any] | None:
    """Return row, from zero, and value of the first entry that is neither missing nor a number; None without one."""
    return next(((row, value) for row, value in enumerate(column) if not reads_as_number(value)), None)


def reads_as_number(value: Any) -> bool:
    """Return whether a value is a number, text that ``float`` parses, or missing."""
    try:
        float(value)
    except OverflowError:
        return True
    except (TypeError, ValueError):
        return pd.api.types.is_scalar(value) and bool(pd.isna(value))
    return True


def check_plain(X: Any, what: str = "X") -> None:
    """Refuse masked values, dates and durations, which numpy would take as plain numbers, and text that is none."""
    check_unmasked(X, what)
    dtypes: dict[Any, Any] = X.dtypes.to_dict() if isinstance(X, pd.DataFrame) else {None: getattr(X, "dtype", None)}
    for name, kind in dtypes.items():
        if getattr(kind, "kind", "") in ("m", "M"):
            column = "" if name is None else f" in column {str(name)!r}"
            raise ValueError(
                f"{what} holds dates or durations{column}, which would be taken as plain numbers. Turn them into "
                "numbers first, for example into days since the first."
            )
    columns: Iterable[tuple[str, Any]] = ()  # that may hold text: categories and strings of pandas are objects too
    if isinstance(X, pd.DataFrame):
        columns = ((str(X.columns[j]), X.iloc[:, j]) for j, kind in enumerate(X.dtypes) if kind.kind == "O")
    elif isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "OSU":
        columns = zip(default_names(X.shape[1]), X.T, strict=True)
    for label, cells in columns:
        texts = (one for one in enumerate(cells) if isinstance(one[1], str) and not reads_as_number(one[1]))
        if (found := next(texts, None)) is not None:
            place = f"column {label!r}, row {rows_at(found[:1], X)}"
            raise ValueError(
                f"{what} holds {found[1][:60]!r} in {place}, which is not a number. Encode the column as numbers "
                "(TableEncoder before a learner does), or leave it out."
            )


def check_unmasked(X: Any, what: str = "X") -> None:
    """Refuse masked values, which numpy would take as plain numbers."""
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        raise ValueError(
            f"{what} has {int(np.ma.count_masked(X))} masked values, which would be taken as plain numbers. Fill them "
            f"({what}.filled(numpy.nan)) and impute them, or leave their rows out."
        )


def check_dense(X: Any, what: str = "X") -> None:
    """Refuse a sparse array, which numpy would take as a single value."""
    if issparse(X):
        raise TypeError(f"{what} must be a dense table, got a sparse one instead. Use {what}.toarray().")


def check_features(X: ArrayLike, feature_names: Sequence[str], what: str = "X") -> Array:
    """Return the table X as float64, every value finite and of a size that can be squared.

    Named columns must have the given names in the given order; features with default names (x0, x1, ...) take any.
    """
    check_plain(X, what)
    names = column_names(X)
    if names is not None:
        check_columns(names, feature_names, what)
    values: Array = check_array(
        X,
        dtype=np.float64,
        order="C",  # compiled loops go row by row
        ensure_all_finite=False,
        ensure_min_samples=0,
        ensure_min_features=0,
        input_name=what,
    )
    if values.shape[1] != len(feature_names):
        raise ValueError(
            f"{what} must have {counted(len(feature_names), 'feature')} ({listed(feature_names)}), got "
            f"{values.shape[1]} instead."
        )
    check_finite(values, names or feature_names, what)
    check_magnitudes(values, names or feature_names, what)
    return values


def check_columns(names: Sequence[str], feature_names: Sequence[str], what: str = "X") -> None:
    """Refuse columns that are not the features; default names (x0, ...) take any others, but not x0, ... reordered."""
    unnamed = tuple(feature_names) == default_names(len(feature_names))
    if not unnamed or set(names) == set(feature_names):
        check_same_columns(names, feature_names, what)


def check_same_columns(names: Sequence[str], expected: Sequence[str], what: str = "X") -> None:
    """Refuse columns that are missing, surplus or in another order, by name."""
    if tuple(names) == tuple(expected):
        return
    given, known = set(names), set(expected)
    missing, surplus = [name for name in expected if name not in given], [name for name in names if name not in known]
    differences = [f"lacks {listed(missing)}" if missing else "", f"has unknown {listed(surplus)}" if surplus else ""]
    if missing or surplus:
        raise ValueError(f"{what} {' and '.join(filter(None, differences))}. Select the columns {listed(expected)}.")
    raise ValueError(
        f"{what} has the columns in another order than the metric's features. "
        f"Reorder them: {what}[list(metric.feature_names)]."
    )


def check_finite(values: NDArray[Any], names: Sequence[str], what: str = "X") -> None:
    """Refuse NaN and infinities; the error names columns, counts and the way out."""
    if not np.isfinite(values).all():
        refuse_counts(np.isnan(values).sum(axis=0), np.isinf(values).sum(axis=0), names, what)


def refuse_counts(nans: NDArray[Any], infinite: NDArray[Any], names: Sequence[str], what: str = "X") -> None:
    """Refuse columns with so many NaN, or so many infinities, by name."""
    if nans.any():
        raise ValueError(
            f"{what} contains NaN: {_counted(names, nans)}. Drop these rows or columns, or impute them first, "
            "for example with sklearn.impute.SimpleImputer."
        )
    if infinite.any():
        raise ValueError(
            f"{what} contains infinity (inf): {_counted(names, infinite)}. Replace these values or drop their rows."
        )


def check_magnitudes(values: Array, names: Sequence[str], what: str = "X", *, by_column: bool = False) -> None:
    """Refuse values whose squares overflow, and tables (or single columns) whose squares are all zero."""
    if values.size == 0:
        return
    peaks = np.maximum(values.max(axis=0), -values.min(axis=0))
    worst = int(np.argmax(peaks))
    if peaks[worst] > LARGEST_VALUE:
        raise ValueError(
            f"{what} holds {peaks[worst]:.3g} in column {names[worst]!r}: its square overflows. "
            f"Divide the column by a constant so that values stay below {LARGEST_VALUE:g}."
        )
    small = peaks if by_column else np.full_like(peaks, peaks.max())
    if (vanishing := (small > 0) & (small < SMALLEST_VALUE)).any():
        worst = int(np.argmax(vanishing))
        raise ValueError(
            f"{what} holds nothing larger than {peaks[worst]:.3g} in column {names[worst]!r}: its square vanishes. "
            f"Multiply the column by a constant so that values reach {SMALLEST_VALUE:g}."
        )


def _float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:  # refused later, as any other infinity
        return math.inf


def _counted(names: Sequence[str], counts: NDArray[Any]) -> str:
    """Return the columns with a count above zero, the largest first."""
    order = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
    more = f" and in {counted(len(order) - 5, 'more column')}" if len(order) > 5 else ""
    return ", ".join(f"{counts[i]} in column {names[i]!r}" for i in order[:5]) + more
