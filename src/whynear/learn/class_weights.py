"""How much the cases of each class count."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from whynear.learn.inputs import Labelled
from whynear.utils.checks import number

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
