"""A uniform sample of the rows of a table that is read in batches, the same for all sizes of batches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from whynear.tables.parquet import joined

FEWEST_OF_CLASS = 2  # rows, in a sample, of a class that has as many
_STEP, _FIRST, _SECOND = (np.uint64(n) for n in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


def draws(rows: NDArray[np.int64], seed: int) -> NDArray[np.uint64]:
    """Return a random number for each row, which depends on its number and the seed alone (Steele et al. 2014).

    >>> draws(np.array([1, 2, 3]), 0)[1] == draws(np.array([2]), 0)[0]
    np.True_
    """
    state = _mixed(np.array([seed], dtype=np.uint64) * _STEP + _STEP) + rows.astype(np.uint64) * _STEP
    return _mixed(state)


def _mixed(state: NDArray[np.uint64]) -> NDArray[np.uint64]:
    state = (state ^ (state >> np.uint64(30))) * _FIRST
    state = (state ^ (state >> np.uint64(27))) * _SECOND
    return state ^ (state >> np.uint64(31))


class RowSample:
    """The rows with the smallest random numbers, and of each class at least two.

    Every set of ``most`` rows is equally likely to be the sample, before rows of rare classes are added.
    """

    def __init__(self, most: int, seed: int) -> None:
        self.most, self.seed = most, seed
        self._pieces: list[pd.DataFrame] = []
        self._draws: list[NDArray[np.uint64]] = []
        self._limit = np.uint64(2**64 - 1)
        self._has_classes = True
        self._of_classes: dict[Any, list[tuple[int, int]]] = {}  # draw and row

    def add(self, batch: pd.DataFrame, classes: NDArray[Any] | None = None) -> None:
        """Draw among further rows, whose index are their numbers; ``classes`` are theirs, if they have any."""
        rows = batch.index.to_numpy()
        numbers = draws(rows, self.seed)
        chosen = numbers <= self._limit
        if classes is not None and self._has_classes:
            chosen[self._first_of_classes(numbers, rows, classes)] = True
        if chosen.any():
            self._pieces.append(batch[chosen])
            self._draws.append(numbers[chosen])
        if sum(map(len, self._draws)) > 2 * self.most + FEWEST_OF_CLASS * len(self._of_classes):
            self._reduce()

    def forget_classes(self) -> None:
        """Draw all rows alike from now on, and keep none for its class."""
        self._has_classes = False
        self._of_classes.clear()

    def _first_of_classes(
        self, numbers: NDArray[np.uint64], rows: NDArray[np.int64], classes: NDArray[Any]
    ) -> list[int]:
        """Return the places of rows that are among the first two of their classes, so far, by their draws."""
        codes, names = pd.factorize(classes)
        order = np.lexsort((numbers, codes))
        starts = np.searchsorted(codes[order], np.arange(len(names)))
        found = []
        for code, (name, start) in enumerate(zip(names, starts.tolist(), strict=True)):
            places = [place for place in order[start : start + FEWEST_OF_CLASS].tolist() if codes[place] == code]
            new = [(int(numbers[place]), int(rows[place])) for place in places]
            kept = sorted([*self._of_classes.get(name, ()), *new])[:FEWEST_OF_CLASS]
            self._of_classes[name] = kept
            found += [place for place, pair in zip(places, new, strict=True) if pair in kept]
        return found

    def _reduce(self) -> None:
        """Drop the rows that can no longer be in the sample."""
        frame, numbers = joined_rows(self._pieces), np.concatenate(self._draws)
        if len(numbers) > self.most:
            self._limit = np.partition(numbers, self.most - 1)[self.most - 1]
        of_classes = [row for pairs in self._of_classes.values() for _, row in pairs]
        kept = (numbers <= self._limit) | np.isin(frame.index.to_numpy(), of_classes)
        self._pieces, self._draws = [frame[kept]], [numbers[kept]]

    def frame(self) -> pd.DataFrame:
        """Return the sample in the order of the table."""
        if not self._pieces:
            return pd.DataFrame()
        self._reduce()
        return self._pieces[0].sort_index()


def joined_rows(pieces: list[pd.DataFrame]) -> pd.DataFrame:
    """Return batches as one table, with the numbers of their rows."""
    if len(pieces) == 1:
        return pieces[0]
    columns = {name: joined([piece[name] for piece in pieces]) for name in pieces[0].columns}
    rows = np.concatenate([piece.index.to_numpy() for piece in pieces])
    return pd.DataFrame(columns).set_axis(pd.Index(rows), axis=0)
