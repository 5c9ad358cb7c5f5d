"""What comes in from outside: feature names, finite numbers of a size that can be squared, refused by name."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from whynear.utils.arrays import Array
from whynear.utils.text import listed

# Beyond these a square leaves the range of float64 and a distance would be silently infinite or zero.
LARGEST = 1e150
SMALLEST = 1e-150


def default_names(n_features: int) -> tuple[str, ...]:
    """Names for columns that have none, as scikit-learn gives them: x0, x1, ..."""
    return tuple(f"x{i}" for i in range(n_features))


def column_names(X: Any) -> tuple[str, ...] | None:
    """The column names of a table, or None for anything without string column names."""
    columns = getattr(X, "columns", None)
    if columns is None or not all(isinstance(name, str) for name in columns):
        return None
    return tuple(columns)


def check_names(feature_names: Sequence[str] | None, n_features: int) -> tuple[str, ...]:
    """Feature names as a tuple of unique strings, one for each feature."""
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


def check_features(X: ArrayLike, feature_names: Sequence[str], what: str = "X") -> Array:
    """A float64 copy or view of the table X with the given features, every value finite and of a usable size.

    Named columns must come under the given names in the given order; a metric without names of its own takes any.
    """
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
            f"{what} must have {len(feature_names)} features ({listed(feature_names)}), got {values.shape[1]} instead."
        )
    check_finite(values, names or feature_names, what)
    check_magnitudes(values, names or feature_names, what)
    return values


def check_columns(names: Sequence[str], feature_names: Sequence[str], what: str = "X") -> None:
    """Refuse other columns than the features; features without names of their own take any but their own, shuffled."""
    unnamed = tuple(feature_names) == default_names(len(feature_names))
    if not unnamed or set(names) == set(feature_names):
        check_same_columns(names, feature_names, what)


def check_same_columns(names: Sequence[str], expected: Sequence[str], what: str = "X") -> None:
    """Refuse columns that are missing, surplus or in another order, by name."""
    if tuple(names) == tuple(expected):
        return
    missing, surplus = _without(expected, names), _without(names, expected)
    differences = [f"lacks {listed(missing)}" if missing else "", f"has unknown {listed(surplus)}" if surplus else ""]
    if missing or surplus:
        raise ValueError(f"{what} {' and '.join(filter(None, differences))}. Select the columns {listed(expected)}.")
    raise ValueError(
        f"{what} has the columns in another order than the metric's features. "
        f"Reorder them: {what}[list(metric.feature_names)]."
    )


def check_finite(values: NDArray[Any], names: Sequence[str], what: str = "X") -> None:
    """Refuse NaN and infinities, naming columns, counts and the way out."""
    if np.isfinite(values).all():
        return
    nans = np.isnan(values).sum(axis=0)
    if nans.any():
        raise ValueError(
            f"{what} contains NaN: {_counted(names, nans)}. Drop these rows or columns, or impute them first, "
            "for example with sklearn.impute.SimpleImputer."
        )
    infinite = np.isinf(values).sum(axis=0)
    raise ValueError(
        f"{what} contains infinity (inf): {_counted(names, infinite)}. Replace these values or drop their rows."
    )


def check_magnitudes(values: Array, names: Sequence[str], what: str = "X", *, by_column: bool = False) -> None:
    """Refuse values whose squares overflow, and tables (or single columns) whose squares all vanish."""
    if values.size == 0:
        return
    peaks = np.maximum(values.max(axis=0), -values.min(axis=0))
    worst = int(np.argmax(peaks))
    if peaks[worst] > LARGEST:
        raise ValueError(
            f"{what} holds {peaks[worst]:.3g} in column {names[worst]!r}: its square overflows. "
            f"Divide the column by a constant so that values stay below {LARGEST:g}."
        )
    small = peaks if by_column else np.full_like(peaks, peaks.max())
    if (vanishing := (small > 0) & (small < SMALLEST)).any():
        worst = int(np.argmax(vanishing))
        raise ValueError(
            f"{what} holds nothing larger than {peaks[worst]:.3g} in column {names[worst]!r}: its square vanishes. "
            f"Multiply the column by a constant so that values reach {SMALLEST:g}."
        )


def _without(names: Sequence[str], others: Sequence[str]) -> list[str]:
    known = set(others)
    return [name for name in names if name not in known]


def _counted(names: Sequence[str], counts: NDArray[Any]) -> str:
    """Columns with a count above zero, worst first."""
    order = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
    more = f" and in {len(order) - 5} more columns" if len(order) > 5 else ""
    return ", ".join(f"{counts[i]} in column {names[i]!r}" for i in order[:5]) + more
