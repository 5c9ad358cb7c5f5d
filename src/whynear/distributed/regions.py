"""Regions of a space: cut at medians until each holds few enough rows, with borders that overlap."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whynear.utils.arrays import Array, Indices

BORDER_SHARE = 0.1  # of the rows of a part that is cut: those nearest to the cut belong to both sides


@dataclass(frozen=True)
class Cut:
    """A part of the space cut at a value of a column; rows between ``low`` and ``high`` are on its border."""

    column: int
    value: float
    low: float
    high: float
    below: Cut | None
    above: Cut | None

    @property
    def n_regions(self) -> int:
        """Number of regions that the part is cut into."""
        return sum(1 if side is None else side.n_regions for side in (self.below, self.above))


def cut_space(sample: Array, depth: int) -> Cut | None:
    """Cut the space of a sample at medians, each time along the column that varies most; None for no cut.

    A part of which the sample shows no two different values is not cut.
    """
    if not depth or len(sample) < 2:
        return None
    column = int(np.argmax(sample.std(axis=0)))
    values = sample[:, column]
    low, value, high = np.quantile(values, [0.5 - BORDER_SHARE / 2, 0.5, 0.5 + BORDER_SHARE / 2])
    below = values < value
    if not below.any():
        return None
    sides = [cut_space(sample[side], depth - 1) for side in (below, ~below)]
    return Cut(column, float(value), float(low), float(high), *sides)


def members(cut: Cut | None, X: Array) -> list[tuple[Indices, NDArray[np.bool_]]]:
    """The rows that each region takes, borders included, and which of these are its own: every row in one region."""
    found: list[tuple[Indices, NDArray[np.bool_]]] = []
    _collect(cut, X, np.arange(len(X)), np.ones(len(X), dtype=bool), found)
    return found


def _collect(
    cut: Cut | None,
    X: Array,
    rows: Indices,
    own: NDArray[np.bool_],
    found: list[tuple[Indices, NDArray[np.bool_]]],
) -> None:
    if cut is None:
        found.append((rows, own))
        return
    values = X[rows, cut.column]
    below = values < cut.value
    for side, seen, within in ((cut.below, values < cut.high, below), (cut.above, values >= cut.low, ~below)):
        seen = seen | within
        _collect(side, X, rows[seen], (own & within)[seen], found)
