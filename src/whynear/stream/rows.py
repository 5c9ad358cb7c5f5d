"""The rows of a text table, of a Parquet file, of standard input or of a data set, a part at a time."""

from __future__ import annotations

import csv
import hashlib
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd

from whynear.datasets.opening import open_table
from whynear.tables.cells import MISSING_WORDS
from whynear.tables.header import distinct_names
from whynear.tables.parquet import parquet_batches, parquet_facts
from whynear.tables.written_numbers import Decimal
from whynear.utils.arrays import Array
from whynear.utils.text import listed

STANDARD_INPUT = "-"
BATCH_ROWS = 5_000  # of a Parquet file, read at once
SEPARATORS = (",", ";", "\t", "|")
MISSING_CELLS = frozenset({*MISSING_WORDS, "", "?"})


@dataclass(frozen=True)
class StreamPart:
    """Rows that follow each other, as text."""

    first: int  # the number of the first row, from 1
    rows: list[list[str]]
    digest: str  # of all rows up to the last one
    share: float  # of the file that is read

    @property
    def last(self) -> int:
        """The number of the last row."""
        return self.first + len(self.rows) - 1


class Rows(ABC):
    """The rows of a table, of which only a part is in memory.

    Attributes
    ----------
    source : str
        The table, for messages.
    columns : list of str
        The names of the columns.
    target : str or None
        The column to predict, where the table has one of its own.
    decimal : {".", ","}
        The sign before the decimals.
    """

    source: str
    columns: list[str]
    size: int | None
    target: str | None = None
    decimal: Decimal = "."
    n_read: int = 0

    def place(self, name: str) -> int:
        """Return the place of a column."""
        if name not in self.columns:
            raise ValueError(f"{self.source} has no column {name!r}. Its columns are {listed(self.columns, 10)}.")
        return self.columns.index(name)

    def parts(self, n_rows: int) -> Iterator[StreamPart]:
        """Yield all rows, ``n_rows`` at a time."""
        digest, number = hashlib.sha256(), 0
        rows: list[list[str]] = []
        for row in self._rows():
            digest.update(repr(row).encode())
            rows.append(row)
            number += 1
            if len(rows) == n_rows:
                yield StreamPart(number - len(rows) + 1, rows, digest.hexdigest(), self._share())
                rows = []
        if rows:
            yield StreamPart(number - len(rows) + 1, rows, digest.hexdigest(), 1.0)

    @abstractmethod
    def _rows(self) -> Iterator[list[str]]:
        """Yield the rows as text, and count in ``n_read`` what of ``size`` is read."""

    def _texts_of(self, frame: pd.DataFrame) -> Iterator[list[str]]:
        """Yield the rows of a frame as text, and count them."""
        for row in zip(*(_texts(frame[name]) for name in frame.columns), strict=True):
            self.n_read += 1
            yield list(row)

    def _share(self) -> float:
        return 0.0 if not self.size else min(1.0, self.n_read / self.size)


class TextRows(Rows):
    """The rows of a text table; ``size`` is the length of the text, if known."""

    def __init__(self, source: str, lines: IO[str], size: int | None, decimal: Decimal = ".") -> None:
        self.source, self.lines, self.size, self.decimal = source, lines, size, decimal
        header = lines.readline()
        if not header.strip():
            raise ValueError(f"{source} must begin with the names of its columns, got an empty line instead.")
        self.separator = max(SEPARATORS, key=header.count)
        self.columns = distinct_names(next(csv.reader([header], delimiter=self.separator)))[0]

    def _rows(self) -> Iterator[list[str]]:
        reader = csv.reader(self._counted_lines(), delimiter=self.separator, strict=True)
        try:
            for row in reader:
                if not row:
                    continue
                if len(row) != len(self.columns):
                    raise ValueError(
                        f"{self.source}, line {reader.line_num + 1}: every row must have {len(self.columns)} fields as "
                        f"the header has, got {len(row)} instead. Complete or quote the fields of this line."
                    )
                yield row
        except csv.Error as error:
            raise ValueError(f"{self.source}, line {reader.line_num + 1}: {error}. Correct the quotes.") from None

    def _counted_lines(self) -> Iterator[str]:
        for line in self.lines:
            self.n_read += len(line)
            yield line


class ParquetRows(Rows):
    """The rows of a Parquet file, as they would be written in a text table."""

    def __init__(self, path: Path) -> None:
        self.source, self.path, self.facts = path.name, path, parquet_facts(path)
        self.columns, self.size = list(self.facts.names), self.facts.n_rows

    def _rows(self) -> Iterator[list[str]]:
        for group in range(len(self.facts.rows_of_groups)):
            for batch in parquet_batches(self.path, group, BATCH_ROWS):
                yield from self._texts_of(batch)


class DataSetRows(Rows):
    """The rows of a data set, as they would be written in a text table."""

    def __init__(self, name: str) -> None:
        opened = open_table(name)
        self.source, self.target, self.frame = opened.source, opened.target, opened.frame
        self.columns, self.size = list(self.frame.columns), len(self.frame)

    def _rows(self) -> Iterator[list[str]]:
        yield from self._texts_of(self.frame)


def _texts(column: pd.Series) -> list[str]:
    """Return the cells of a column as text, missing ones empty.

    >>> _texts(pd.Series([0.1, None]))
    ['0.1', '']
    """
    missing = column.isna().tolist()
    return ["" if gone else str(value) for value, gone in zip(column.tolist(), missing, strict=True)]


@contextmanager
def opened_rows(table: str, encoding: str = "utf-8", decimal: Decimal = ".") -> Iterator[Rows]:
    """Open a text file, a Parquet file, standard input for ``-``, or a data set by its name."""
    if table == STANDARD_INPUT:
        yield TextRows("standard input", sys.stdin, None, decimal)
        return
    path = Path(table)
    if not path.is_file():
        if path.suffix or path.exists() or len(path.parts) > 1:
            raise FileNotFoundError(
                f"{table} is no file. Give a text file (CSV, TSV), a Parquet file, - for standard input, or the name "
                "of a data set (whynear datasets)."
            )
        yield DataSetRows(table)
        return
    if path.suffix.lower() == ".parquet":
        yield ParquetRows(path)
        return
    try:
        with path.open(encoding="utf-8-sig" if encoding in ("auto", "utf-8") else encoding, newline="") as lines:
            yield TextRows(path.name, lines, path.stat().st_size, decimal)
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{table} is not written in {error.encoding}. Name its encoding: --encoding latin-1."
        ) from None


def numbers_of_rows(
    rows: Sequence[Sequence[str]],
    places: Sequence[int],
    names: Sequence[str],
    numbers: Sequence[int],
    decimal: Decimal = ".",
) -> Array:
    """Return cells as numbers, missing ones as NaN; ``numbers`` are those of the rows, for errors."""
    values = np.empty((len(rows), len(places)))
    for i, (row, number) in enumerate(zip(rows, numbers, strict=True)):
        for j, place in enumerate(places):
            values[i, j] = _number(row[place], names[j], number, decimal)
    return values


def _number(cell: str, name: str, row: int, decimal: Decimal) -> float:
    text = cell.strip()
    if text in MISSING_CELLS:
        return np.nan
    try:
        return float(text if decimal == "." else _with_point(text))
    except ValueError:
        other: Decimal = "," if decimal == "." else "."
        way = f"Give the sign before the decimals (--decimal '{other}'), leave" if other in text else "Leave"
        raise ValueError(
            f"Column {name!r} holds {text[:60]!r} in row {row:,}, which is not a number. {way} the column out "
            f"(--drop {name!r}), or encode it as numbers."
        ) from None


def _with_point(text: str) -> str:
    """Return a number with a decimal comma as Python writes it; a point would be one between thousands.

    >>> _with_point("3,5")
    '3.5'
    """
    if "." in text:
        raise ValueError(text)
    return text.replace(",", ".")


def times_of(cells: Sequence[str]) -> list[Any]:
    """Return times as numbers if all are, else as text, whose order is that of ISO dates; missing ones as None.

    >>> times_of(["10", "", "9"]), times_of(["2024-01-31", "9"])
    ([10.0, None, 9.0], ['2024-01-31', '9'])
    """
    known = [None if cell.strip() in MISSING_CELLS else cell.strip() for cell in cells]
    try:
        return [None if cell is None else float(cell) for cell in known]
    except ValueError:
        return known
