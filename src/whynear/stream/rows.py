"""The rows of a text table, of a Parquet file, of standard input or of a data set, a part at a time."""

from __future__ import annotations

import hashlib
import io
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import cast

import pandas as pd

from whynear.data.cells import DASHES, MISSING_SIGNS
from whynear.data.delimited import distinct_names, found_rows
from whynear.data.numbers import DECIMALS
from whynear.data.opening import open_table
from whynear.data.parquet import NUMBERS, parquet_batches, parquet_facts
from whynear.data.text_files import (
    AUTO,
    TEXT_ENDINGS,
    USUAL_DELIMITER,
    TextPieces,
    check_encoding,
    delimiter_of,
    opened_text,
)
from whynear.stream.values import number_of
from whynear.utils.text import listed

STANDARD_INPUT = "-"
BATCH_ROWS = 5_000  # of a Parquet file, read at once
PIECE = 1 << 16  # bytes of a text, read at once
PARQUET, WORKBOOKS = ".parquet", (".xlsx", ".xlsm", ".xls")
MISSING_CLASSES = MISSING_SIGNS - DASHES  # a dash may be the class beside a plus


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
    """The rows of a table, of which only a part is in memory."""

    source: str  # the table, for messages
    columns: list[str]
    size: int | None
    target: str | None = None  # where the table has one of its own
    aside: Sequence[str] = ()  # columns that hold the names of the rows, and are no features
    stored: Sequence[str] = ()  # columns that are stored as numbers, and written with decimal points
    changes: list[str]  # of the names of the columns, and which of them are aside
    n_read: int = 0

    def place(self, name: str) -> int:
        """Return the place of a column."""
        if name not in self.columns:
            raise ValueError(f"{self.source} has no column {name!r}. Its columns are {listed(self.columns, 10)}.")
        return self.columns.index(name)

    def name(self, columns: Collection[str]) -> None:
        """Set what is known of columns: names or times of rows, the target, or left out."""
        for column in columns:
            self.place(column)  # refuses unknown ones

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

    def notes(self) -> list[str]:
        """Return what was changed in what is read so far, and what was found out about it."""
        return list(self.changes)

    @abstractmethod
    def _rows(self) -> Iterator[list[str]]:
        """Yield the rows as text."""

    def _texts_of(self, frame: pd.DataFrame) -> Iterator[list[str]]:
        """Yield the rows of a frame as text, and count them."""
        for row in zip(*(_texts(frame[name]) for name in frame.columns), strict=True):
            self.n_read += 1
            yield list(row)

    def _share(self) -> float:
        """Return the share of ``size`` that is read."""
        return 0.0 if not self.size else min(1.0, self.n_read / self.size)


class TextRows(Rows):
    """The rows of a text table."""

    def __init__(
        self,
        source: str,
        text: io.BufferedIOBase,
        encoding: str,
        delimiter: str | None = None,  # that the ending of the file means
        file: io.BufferedIOBase | None = None,  # on the disk: its position is the number of bytes read
    ) -> None:
        self.source, self.file = source, file
        self.size = None if file is None else os.fstat(file.fileno()).st_size
        self.text = TextPieces(source, encoding)
        pieces = iter(lambda: text.read1(PIECE), b"")
        of_separator, self.checked = found_rows(self.text.lines(pieces), source, delimiter or USUAL_DELIMITER)
        header, first = next(self.checked), next(filter(None, self.checked), None)
        self.columns, changes = distinct_names(header)
        self.changes, self.numbers_rows = [*changes, *(of_separator if delimiter else [])], False
        self.checked = chain([] if first is None else [first], self.checked)
        self.about_names: list[str] = []
        if len(header) > 1 and not header[0].strip() and first is not None:
            self._set_aside_names(first[0].strip())

    def _set_aside_names(self, first: str) -> None:
        """Set the first column aside, which has no name, if its first cell is a number or a name of a row."""
        self.numbers_rows = first.isdecimal()
        is_name = first not in MISSING_SIGNS and all(number_of(first, sign) is None for sign in DECIMALS)
        if self.numbers_rows or is_name:
            self.aside = self.columns[:1]
            what = "numbers the rows" if self.numbers_rows else "names the rows"
            self.about_names = [f"The first column has no name and {what}: {self.columns[0]!r} is no feature."]

    def name(self, columns: Collection[str]) -> None:
        """Take a first column without a name for what it is, whatever its numbers are."""
        super().name(columns)
        if self.columns[0] in columns:
            self.aside, self.about_names, self.numbers_rows = (), [], False

    def notes(self) -> list[str]:
        """Return also the notes on the encoding that was found."""
        return [*self.changes, *self.about_names, *self.text.notes()]

    def _rows(self) -> Iterator[list[str]]:
        rows = filter(None, self.checked)  # an empty line is an empty row
        return self._numbered(rows) if self.numbers_rows else rows

    def _numbered(self, rows: Iterator[list[str]]) -> Iterator[list[str]]:
        """Yield rows that the first column numbers, as it does if its numbers rise."""
        before = -1
        for place, row in enumerate(rows, start=1):
            now = int(row[0]) if row[0].strip().isdecimal() else -1
            if now <= before:
                raise ValueError(
                    f"{self.source}: the first column has no name and numbers the rows, but holds {row[0][:60]!r} in "
                    f"row {place:,}. Give the column a name in the header."
                )
            before = now
            yield row

    def _share(self) -> float:
        self.n_read = 0 if self.file is None else self.file.tell()
        return super()._share()


class ParquetRows(Rows):
    """The rows of a Parquet file, as they would be written in a text table."""

    def __init__(self, path: Path) -> None:
        self.source, self.path, self.facts = path.name, path, parquet_facts(path)
        self.columns, self.size, self.aside = list(self.facts.names), self.facts.n_rows, self.facts.index
        self.stored = [name for name, kind in zip(self.columns, self.facts.kinds, strict=True) if kind == NUMBERS]
        index = [f"The index that pandas saved is no feature: {listed(self.aside)}."] if self.aside else []
        self.changes = [*self.facts.notes, *index]

    def _rows(self) -> Iterator[list[str]]:
        for group in range(len(self.facts.rows_of_groups)):
            for batch in parquet_batches(self.path, group, BATCH_ROWS):
                yield from self._texts_of(batch)


class DataSetRows(Rows):
    """The rows of a data set, as they would be written in a text table."""

    def __init__(self, name: str) -> None:
        opened = open_table(name)
        self.source, self.target, self.frame = opened.source, opened.target, opened.frame
        self.columns, self.size, self.changes = list(self.frame.columns), len(self.frame), list(opened.notes)
        self.stored = list(self.frame.select_dtypes("number").columns)

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
def opened_rows(table: str, encoding: str = AUTO) -> Iterator[Rows]:
    """Open a text file, a Parquet file, a pipe, standard input for ``-``, or a data set by its name."""
    check_encoding(encoding)
    path = Path(table)
    if table == STANDARD_INPUT:
        yield TextRows("standard input", cast(io.BufferedIOBase, sys.stdin.buffer), encoding)
    elif path.is_file() and path.suffix.lower() == PARQUET:
        yield ParquetRows(path)
    elif path.is_file():
        delimiter = _delimiter_of(path)
        with opened_text(path) as (text, file):
            yield TextRows(path.name, text, encoding, delimiter, file)
    elif path.exists() and not path.is_dir():
        with path.open("rb") as text:
            yield TextRows("a pipe", text, encoding)  # its name may be another when a killed run goes on
    elif path.suffix or path.exists() or len(path.parts) > 1:
        raise FileNotFoundError(
            f"{table} is no file. Give a text file (CSV, TSV), a Parquet file, - for standard input, or the name "
            "of a data set (whynear datasets)."
        )
    else:
        yield DataSetRows(table)


def _delimiter_of(path: Path) -> str:
    delimiter = delimiter_of(path)
    if delimiter is None:
        is_workbook = path.suffix.lower() in WORKBOOKS
        way_out = (
            "Save its sheet as CSV or Parquet: the rows of a workbook cannot be read one after the other."
            if is_workbook
            else f"Rename the file, or give its text to standard input: whynear stream - < {path}."
        )
        raise ValueError(
            f"{path} must end in {TEXT_ENDINGS}, or .parquet, got {path.suffix or 'no extension'} instead. {way_out}"
        )
    return delimiter
