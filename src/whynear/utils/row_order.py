"""Rows that follow each other in time: those held out are later than all rows that are learned from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from whynear.utils.arrays import Indices

RowSplit: TypeAlias = tuple[Indices, Indices]  # rows to learn from, rows held out


@dataclass(frozen=True, eq=False)
class TimeOrder:
    """The time of each row. Taken in the place of ``groups`` wherever rows are held out.

    Attributes
    ----------
    times : array-like of shape (n_rows,)
        Numbers or dates; rows of the same time are not separated.
    name : str
        What the times are called.
    """

    times: NDArray[Any]
    name: str = "time"

    def __post_init__(self) -> None:
        times = np.array(self.times)
        times.setflags(write=False)
        object.__setattr__(self, "times", times)

    def __len__(self) -> int:
        return len(self.times)

    def __getitem__(self, rows: Any) -> TimeOrder:
        return TimeOrder(self.times[rows], self.name)


Separation: TypeAlias = pd.Series | TimeOrder  # the group of each row, or its time


def taken(separation: Separation | None, rows: NDArray[Any]) -> Any:
    """Return the groups or times of some of the rows, at positions from 0; None if there are none."""
    if separation is None:
        return None
    return separation.iloc[rows] if isinstance(separation, pd.Series) else separation[rows]


def n_different(separation: ArrayLike | TimeOrder) -> int:
    """Return the number of groups, or of different times.

    >>> n_different(["p", "q", "p"]), n_different(TimeOrder([3, 1, 2]))
    (2, 3)
    """
    return len(np.unique(separation.times if isinstance(separation, TimeOrder) else separation))


def groups_in(separation: Any) -> Any:
    """Return groups, within which rows are not independent; None for times, and where there are none."""
    return None if isinstance(separation, TimeOrder) else separation


def forward_splits(
    order: TimeOrder, n_folds: int, y: NDArray[Any] | None = None, first: float | None = None
) -> list[RowSplit]:
    """Return folds that follow each other in time; each is learned from all rows before it (an expanding window).

    The first part is never held out. It has the share ``first`` of the rows, or is as large as a fold, and is longer
    where that is needed for two rows of each of two classes ``y``; if they never come together, there is no fold. Rows
    of the same time are in the same part.

    >>> [(train.tolist(), test.tolist()) for train, test in forward_splits(TimeOrder([1, 1, 2, 3, 3]), 2)]
    [([0, 1], [2]), ([0, 1, 2], [3, 4])]
    """
    place = np.unique(order.times, return_inverse=True)[1]
    before = np.concatenate([[0], np.cumsum(np.bincount(place))])  # rows before each time, and all rows
    last = int(place.max())
    share = 1 / (n_folds + 1) if first is None else first
    start = min(max(1, int(np.searchsorted(before, len(order) * share - 1e-9))), last)
    if y is not None:
        start = max(start, _two_classes(place, y))
    if not 1 <= start <= last:
        return []
    middles = (before[start:-1] + before[start + 1 :]) / 2 - before[start]
    fold_of_time = np.floor(middles * min(n_folds, len(middles)) / (before[-1] - before[start])).astype(np.intp)
    firsts = start + np.unique(fold_of_time, return_index=True)[1]
    ends = [*firsts[1:], len(before)]
    return [
        (np.flatnonzero(place < first), np.flatnonzero((place >= first) & (place < end)))
        for first, end in zip(firsts, ends, strict=True)
    ]


def _two_classes(place: Indices, y: NDArray[Any]) -> int:
    """Return the first time before which two classes have two rows each; one past the last if there is none."""
    codes = np.unique(y, return_inverse=True)[1]
    of_classes = (np.sort(place[codes == code]) for code in np.unique(codes))
    second = sorted(times[1] for times in of_classes if len(times) > 1)
    return int(second[1]) + 1 if len(second) > 1 else int(place.max()) + 1
