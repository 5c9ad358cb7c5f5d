"""Statistics and samples of a table, gathered part by part."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from whynear.data.cells import MISSING_SIGNS, holds_strings, is_code, is_missing, missing_signs
from whynear.data.column_types import MOST_CLASSES, class_names
from whynear.data.parquet import joined
from whynear.large.parts import PartedTable, TablePart
from whynear.utils.columns import as_numbers
from whynear.utils.progress import Report

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
    """What a column holds, whatever the batches in which its rows are added."""

    def __init__(self) -> None:
        self.n_rows = self.missing = self.infinite = 0
        self.minimum = self.maximum = math.nan  # of its finite numbers
        self.levels: Counter[str] = Counter()  # the rows of each text; of many texts only signs for missing values
        self.has_many_levels = False  # more than 1,000
        self.shown: dict[str, int] = {}  # a row for a gap, the extremes, a fraction, each of few texts, shapes of many
        self._shapes: set[str] = set()
        self._distinct = DistinctValues()

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


MOST_CLASSES_COUNTED = 5_000
MOST_ROWS_NAMED = 11  # of rows with a fault, in a message


class ClassCounts:
    """The number of rows of each value of a target, of all rows and of those that are not held out."""

    def __init__(self, is_text: bool) -> None:
        self.most_counted = MOST_CLASSES_COUNTED if is_text else MOST_CLASSES + 2  # with infinities
        self.n_missing = 0  # rows without a target
        self.faults: Counter[str] = Counter()  # rows of signs for missing values and of infinities
        self.counts: Counter[str] = Counter()  # of each value, as long as there are not too many
        self.learned: Counter[str] = Counter()  # the same of rows that are not held out
        self.too_many = False
        self.rows: dict[str, list[int]] = {}  # the first, of signs for missing values and of infinities
        self.least, self.most = math.inf, -math.inf

    def add(self, column: pd.Series, is_held_out: bool) -> pd.Series:
        """Count a batch; return the class of each row, None where it is missing."""
        gone = is_missing(column)
        self.n_missing += int(gone.sum())
        self._note("", column, gone)
        known = column[~gone]
        numbers = None if pd.api.types.is_bool_dtype(known) else as_numbers(known)
        if numbers is not None and len(numbers) and np.isfinite(numbers).any():
            self.least = min(self.least, float(numbers[np.isfinite(numbers)].min()))
            self.most = max(self.most, float(numbers[np.isfinite(numbers)].max()))
        codes, values = pd.factorize(known)
        names = class_names(pd.Series(values)).to_numpy(dtype=object)
        classes = pd.Series(None, index=column.index, dtype=object)
        classes[~gone] = names[codes]
        counts: Counter[str] = Counter()  # values that differ in blanks have one name
        for name, count in zip(names.tolist(), np.bincount(codes, minlength=len(names)).tolist(), strict=True):
            counts[name] += count
        for name in {*MISSING_SIGNS, "inf", "-inf"} & set(counts):
            self.faults[name] += counts[name]
            self._note(name, column, (classes == name).to_numpy())
        if not self.too_many:
            self.counts.update(counts)
            if not is_held_out:
                self.learned.update(counts)
            self.too_many = len(self.counts) > self.most_counted
        return classes

    def _note(self, name: str, column: pd.Series, where: np.ndarray) -> None:
        known = self.rows.setdefault(name, [])
        if len(known) < MOST_ROWS_NAMED and where.any():
            known += column.index[where][: MOST_ROWS_NAMED - len(known)].tolist()

    def faulty(self, names: Iterable[str]) -> tuple[int, list[int]]:
        """Return how many rows have one of these values, and the first of them."""
        found = [name for name in names if name in self.faults]
        rows = sorted(row for name in found for row in self.rows.get(name, ()))
        return sum(self.faults[name] for name in found), rows

    @property
    def signs(self) -> tuple[str, ...]:
        """The values that stand for missing ones."""
        return missing_signs(pd.Series([*self.counts, *self.faults], dtype=object))


@dataclass(frozen=True, eq=False)
class Scan:
    """What one pass over a table found."""

    columns: dict[str, ColumnStatistics]
    classes: ClassCounts
    sample: pd.DataFrame  # uniform, of the rows that are not held out, with at least two of each class
    rare_rows: pd.DataFrame  # further ones that show what the columns hold: extremes, missing values, rare texts


def scan(
    table: PartedTable,
    target: str,
    *,
    n_sample: int,
    seed: int,
    n_rows: int,
    report: Report,
    held_out: Collection[TablePart] = (),
    missing: tuple[str, ...] = (),
) -> Scan:
    """Read all parts in batches of ``n_rows`` rows; values in ``missing`` stand for missing ones.

    No row of a part that is held out is in the sample. Rows without a target count only as such.
    """
    columns = {name: ColumnStatistics() for name in table.columns if name != target}
    classes, sample = ClassCounts(target in table.texts), RowSample(n_sample, seed)
    shown: list[pd.DataFrame] = []
    for part in table.parts:
        for batch in table.batches(part, n_rows):
            first = int(batch.index[0])
            report(f"read the table, row {first:,} of {table.n_rows:,}", first / table.n_rows)
            of_batch = classes.add(_without_codes(batch[target], missing), part in held_out)
            known = of_batch.notna().to_numpy()
            batch, of_batch = (batch, of_batch) if known.all() else (batch[known], of_batch[known])
            for name, statistics in columns.items():
                statistics.add(_without_codes(batch[name], missing))
            if part not in held_out:
                sample.add(batch, of_batch.to_numpy())
            if classes.too_many:
                sample.forget_classes()
            shown.append(_rows_shown(batch, columns))
    drawn, pieces = sample.frame(), [piece for piece in shown if len(piece)]
    rare_rows = _rows_shown(joined_rows(pieces), columns) if pieces else pd.DataFrame()
    return Scan(columns, classes, drawn, rare_rows[~rare_rows.index.isin(drawn.index)])


def _without_codes(column: pd.Series, codes: tuple[str, ...]) -> pd.Series:
    return column.mask(is_code(column, codes)) if codes else column


def _rows_shown(batch: pd.DataFrame, columns: dict[str, ColumnStatistics]) -> pd.DataFrame:
    """Return the rows that statistics of columns name."""
    return batch[batch.index.isin([row for statistics in columns.values() for row in statistics.shown.values()])]
