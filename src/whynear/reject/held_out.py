"""The output of a learner for cases that it was not fitted to, by folds."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from whynear.reject.inputs import rows_of
from whynear.reject.nearness import Nearness, nearness_of
from whynear.utils.row_groups import split_rows


def held_out_nearness(
    learner: Any,
    X: Any,
    labels: NDArray[Any],
    classes: NDArray[Any],
    n_folds: int,
    seed: int,
    groups: NDArray[Any] | None = None,
) -> Nearness:
    """Return the output of clones of a learner for the cases of each fold, fitted to the other folds."""
    n_folds = max(2, min(n_folds, int(np.unique(labels, return_counts=True)[1].max())))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
        folds = split_rows(labels, n_folds, seed, stratified=True, groups=groups)
    tests = [test for _, test in folds]
    parts = [
        nearness_of(clone(learner).fit(rows_of(X, train), labels[train]), rows_of(X, test), classes)
        for train, test in folds
    ]
    return joined(parts).rows(np.argsort(np.concatenate(tests), kind="stable"))


def joined(parts: list[Nearness]) -> Nearness:
    """Return the output for the cases of all parts, one after the other; distances only if all parts have them."""

    def together(name: str) -> Any:
        tables = [getattr(part, name) for part in parts]
        return None if any(table is None for table in tables) else np.concatenate(tables)

    return Nearness(*(together(name) for name in ("predicted", "probabilities", "sq_by_class", "near_shares")))
