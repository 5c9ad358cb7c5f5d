"""Statistics of a column that is read in batches of rows, and the rows that show what it holds."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from whynear.tables.cells import MISSING_SIGNS, holds_strings
from whynear.utils.columns import as_numbers

MOST_LEVELS = 1_000  # different texts of a column whose rows are counted; beyond them only signs for missing values
MOST_DISTINCT = 4_096  # different values that are counted exactly
MOST_SHOWN_LEVELS = 60  # of which each has a row that shows it: more than categories can be
MOST_SHAPES = 200  # of texts beyond these, each with a row that shows it
_DIGITS, _LETTERS = re.compile(r"\d+"), re.compile(r"[^\W\d_]+")


class DistinctValues:
    """The number of different values, from the smallest of their hashes: exact for few, an estimate for many."""

    def __init__(self, most: int = MOST_DISTINCT) -> None:
        self.most = most
        self._smallest: NDArray[np.uint64] = np.empty(0, dtype=np.uint64)

    def add(self, values: NDArray[Any]) -> None:
        """Count further values."""
        hashes = pd.util.hash_array(values)
        if len(self._smallest) > self.most:
            hashes = hashes[hashes < self._smallest[-1]]
        if len(hashes):
            self._smallest = np.union1d(self._smallest, hashes)[: self.most + 1]

    @property
    def count(self) -> int:
        """The number of different values."""
        if len(self._smallest) <= self.most:
            return len(self._smallest)
        return round(self.most * 2.0**64 / float(self._smallest[-1]))


class ColumnStatistics:
    """What a column holds, whatever the batches in which its rows are added.

    Attributes
    ----------
    n_rows, missing, infinite : int
        The number of its rows, of missing values and of infinite ones.
    minimum, maximum, mean : float
        Of its finite numbers; NaN without any.
    levels : Counter of str
        The number of rows of each text; of more than 1,000 different ones, only those of signs for missing values.
    shown : dict of str to int
        Rows that show what the column holds: a missing value, the extremes, a fraction, each of few texts, each shape
        of many.
    """

    def __init__(self) -> None:
        self.n_rows = self.missing = self.infinite = self._n_numbers = 0
        self.minimum = self.maximum = self.mean = math.nan
        self._sum_of_squares = 0.0
        self.levels: Counter[str] = Counter()
        self.has_many_levels = False
        self.shown: dict[str, int] = {}
        self._shapes: set[str] = set()
        self._distinct = DistinctValues()

    @property
    def deviation(self) -> float:
        """The standard deviation of the finite numbers, with n - 1; NaN for fewer than two."""
        return math.sqrt(self._sum_of_squares / (self._n_numbers - 1)) if self._n_numbers > 1 else math.nan

    @property
    def distinct(self) -> int:
        """The number of different values: exact up to 4,096, an estimate beyond."""
        if self.levels and not self.has_many_levels:
            return len(self.levels)
        return min(self._distinct.count, self.n_rows - self.missing)

    def add(self, column: pd.Series) -> None:
        """Add a batch of rows, whose index are the numbers of the rows."""
        self.n_rows += len(column)
        gone = column.isna().to_numpy()
        self.missing += int(gone.sum())
        self._show("missing", column, gone)
        known = column[~gone]
        if not len(known):
            return
        if isinstance(column.dtype, pd.CategoricalDtype) or holds_strings(known):
            self._add_texts(known)
        elif (numbers := as_numbers(known)) is not None:
            self._add_numbers(numbers, known)
        else:
            self._distinct.add(known.astype(str).to_numpy(dtype=object))

    def _show(self, what: str, column: pd.Series, where: NDArray[np.bool_]) -> None:
        """Keep the first of the rows as one that shows something, unless there is one already."""
        if what not in self.shown and where.any():
            self.shown[what] = int(column.index[int(where.argmax())])

    def _add_numbers(self, numbers: NDArray[np.float64], column: pd.Series) -> None:
        infinite = np.isinf(numbers)
        self.infinite += int(infinite.sum())
        self._show("infinite", column, infinite)
        if infinite.any():
            numbers, column = numbers[~infinite], column[~infinite]
        if not len(numbers):
            return
        self._distinct.add(numbers + 0.0)  # -0.0 is 0.0
        self._show("fraction", column, numbers != np.round(numbers))
        least, largest = int(numbers.argmin()), int(numbers.argmax())
        if not numbers[least] >= self.minimum:  # which is NaN at first
            self.minimum, self.shown["least"] = float(numbers[least]), int(column.index[least])
        if not numbers[largest] <= self.maximum:
            self.maximum, self.shown["largest"] = float(numbers[largest]), int(column.index[largest])
        self._add_moments(numbers)

    def _add_moments(self, numbers: NDArray[np.float64]) -> None:
        """Join mean and sum of squares with those of a batch (Chan, Golub, LeVeque 1979)."""
        n, before = len(numbers), self._n_numbers
        with np.errstate(over="ignore", invalid="ignore"):  # of magnitudes that are refused later
            mean = float(numbers.mean())
            difference = mean - (self.mean if before else mean)
            self._sum_of_squares += float(np.square(numbers - mean).sum())
            self._sum_of_squares += difference * difference * (before * n / (before + n))
            self.mean = (self.mean if before else mean) + difference * (n / (before + n))
        self._n_numbers += n

    def _add_texts(self, column: pd.Series) -> None:
        codes, values = pd.factorize(column.astype(object).to_numpy())
        counts = np.bincount(codes, minlength=len(values))
        first = np.empty(len(values), dtype=np.intp)
        first[codes[::-1]] = np.arange(len(codes))[::-1]
        texts = [str(value).strip() for value in values]
        self._distinct.add(np.array(texts, dtype=object))
        for text, count, place in zip(texts, counts.tolist(), first.tolist(), strict=True):
            if text not in self.levels:
                self._show_text(text, int(column.index[place]))
            if not self.has_many_levels or text in MISSING_SIGNS:
                self.levels[text] += count
        if len(self.levels) > MOST_LEVELS and not self.has_many_levels:
            self.has_many_levels = True
            self.levels = Counter({text: count for text, count in self.levels.items() if text in MISSING_SIGNS})

    def _show_text(self, text: str, row: int) -> None:
        if not self.has_many_levels and len(self.levels) < MOST_SHOWN_LEVELS:
            self.shown[f"text {text}"] = row
        elif len(self._shapes) < MOST_SHAPES:
            shape = _LETTERS.sub("a", _DIGITS.sub("0", text))
            if shape not in self._shapes:
                self._shapes.add(shape)
                self.shown[f"shape {shape}"] = row
