"""Features of a stream of dicts, which may appear and vanish at any time."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from whynear.stream.kernels import Memory
from whynear.utils.arrays import Array
from whynear.utils.columns import LARGEST_VALUE

MOST_FEATURES = 10_000  # of a stream; later ones are left out


def numbers_of(x: Mapping[Any, Any]) -> dict[str, float]:
    """Return the values of a case by the names of their features; missing ones (None, NaN) are left out.

    >>> numbers_of({"a": 1, "b": None, "c": True})
    {'a': 1.0, 'c': 1.0}
    """
    values = {}
    for name, value in x.items():
        if value is None:
            continue
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise ValueError(
                f"x holds {value!r} in {str(name)!r}, which is not a number. Encode it first, for example one-hot."
            ) from None
        if abs(number) > LARGEST_VALUE:
            raise ValueError(
                f"x holds {number:.3g} in {str(name)!r}: its square overflows. Give finite values below "
                f"{LARGEST_VALUE:g}, or None where it is missing."
            )
        if not math.isnan(number):
            values[str(name)] = number
    return values


def row_of(values: Mapping[str, float], features: Sequence[str], means: Array) -> Array:
    """Return a case as a row; a feature that it lacks takes its running mean.

    >>> row_of({"b": 5.0, "new": 1.0}, ["a", "b"], np.array([0.5, 2.0]))
    array([0.5, 5. ])
    """
    return np.array([values.get(name, mean) for name, mean in zip(features, means.tolist(), strict=True)])


def with_features(memory: Memory, values: Sequence[float], weight: float, *, case_weights: bool = False) -> Memory:
    """Return a memory with further features, which have the same value in all earlier cases: distances stay."""
    new = np.asarray(values, dtype=np.float64)
    d, n_known = len(new), len(memory.weights)

    def widened(cases: Array) -> Array:
        shape = d, cases.shape[1]
        weights = [cases[n_known:], np.ones(shape)] if case_weights else []
        return np.vstack([cases[:n_known], np.broadcast_to(new[:, None], shape), *weights])

    return memory._replace(
        cases=widened(memory.cases),
        long_cases=widened(memory.long_cases),
        weights=np.concatenate([memory.weights, np.full(d, weight)]),
        weights_before=np.concatenate([memory.weights_before, np.full(d, weight)]),
        log_weights=np.concatenate([memory.log_weights, np.zeros(d)]),
        moments=np.hstack([memory.moments, np.vstack([new, np.zeros(d)])]),
    )
