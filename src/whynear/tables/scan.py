"""One pass over a table of any size: statistics of its columns, its classes, a uniform sample, and rare rows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from whynear.tables.cells import MISSING_SIGNS, is_code, missing_signs
from whynear.tables.column_statistics import ColumnStatistics
from whynear.tables.parts import PartedTable, TablePart
from whynear.tables.row_sample import RowSample, joined_rows
from whynear.tables.target import MOST_CLASSES, class_names, is_missing
from whynear.utils.columns import as_numbers
from whynear.utils.progress import Report

MOST_CLASSES_COUNTED = 5_000
MOST_ROWS_NAMED = 11  # of rows with a fault, in a message


class ClassCounts:
    """The number of rows of each value of a target, of all rows and of those that are not held out.

    Attributes
    ----------
    n_missing : int
        The number of rows without a target.
    counts, learned : Counter of str
        Rows of each value, as long as there are not ``too_many``: more than 5,000 texts, or more numbers than classes
        can have.
    faults : Counter of str
        Rows of signs for missing values and of infinities.
    """

    def __init__(self, is_text: bool) -> None:
        self.most_counted = MOST_CLASSES_COUNTED if is_text else MOST_CLASSES + 2  # with infinities
        self.n_missing = 0
        self.faults: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()
        self.learned: Counter[str] = Counter()
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
    """What one pass over a table found.

    Attributes
    ----------
    columns : dict of str to ColumnStatistics
        What each column holds, in all rows.
    classes : ClassCounts
        What the target holds.
    sample : DataFrame
        A uniform sample of the rows that are not held out, with at least two of each class.
    rare_rows : DataFrame
        Further rows, that show what the columns hold: extremes, missing values, rare texts.
    """

    columns: dict[str, ColumnStatistics]
    classes: ClassCounts
    sample: pd.DataFrame
    rare_rows: pd.DataFrame


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
    rows = _TellingRows()
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
            rows.keep(batch, columns)
    drawn = sample.frame()
    rare_rows = rows.frame(columns)
    return Scan(columns, classes, drawn, rare_rows[~rare_rows.index.isin(drawn.index)])


def _without_codes(column: pd.Series, codes: tuple[str, ...]) -> pd.Series:
    return column.mask(is_code(column, codes)) if codes else column


class _TellingRows:
    """The rows that statistics of columns name."""

    def __init__(self) -> None:
        self._pieces: list[pd.DataFrame] = []

    def keep(self, batch: pd.DataFrame, columns: dict[str, ColumnStatistics]) -> None:
        if not len(batch):
            return
        first, last = int(batch.index[0]), int(batch.index[-1])
        shown = {row for statistics in columns.values() for row in statistics.shown.values()}
        if new := sorted(row for row in shown if first <= row <= last):
            self._pieces.append(batch.loc[new])

    def frame(self, columns: dict[str, ColumnStatistics]) -> pd.DataFrame:
        shown = {row for statistics in columns.values() for row in statistics.shown.values()}
        if not self._pieces:
            return pd.DataFrame()
        frame = joined_rows(self._pieces)
        return frame[frame.index.isin(list(shown))]
