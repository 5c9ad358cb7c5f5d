"""Tables that are read part by part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from whynear.data.numbers import NOTHING_KNOWN, Decimal, Expected, decimal_of
from whynear.data.parquet import BATCH_ROWS, TEXT, UNNAMED_INDEX, parquet_batches, parquet_facts
from whynear.data.reading import (
    check_alike,
    files_of_table,
    is_text_file,
    name_of_folder,
    parquet_files_with_rows,
    read_file,
)
from whynear.data.text_files import AUTO
from whynear.data.text_table import TextTable, open_texts


@dataclass(frozen=True)
class TablePart:
    """Rows of a table that follow each other: a row group of a Parquet file, or a text file.

    ``before`` is the number of rows of the table before them.
    """

    path: Path
    group: int | None
    before: int
    n_rows: int


@dataclass(frozen=True, eq=False)
class PartedTable:
    """A table in parts, which are read one after the other."""

    source: str  # its name in messages
    columns: tuple[str, ...]
    parts: tuple[TablePart, ...]  # all rows, in order
    texts: frozenset[str]  # the columns that hold text in some part, and are text in all
    notes: tuple[str, ...] = ()  # on what was changed while reading it
    index: str | None = None  # the names of the rows: saved by pandas, or a column without a name in text files
    encoding: str = AUTO  # of text files
    decimal: Decimal | None = None  # in texts such as ``1,234``, which can be read in two ways; None if undecided yet
    written: TextTable | None = None  # how text files are written

    @property
    def n_rows(self) -> int:
        """The number of rows of all parts."""
        return sum(part.n_rows for part in self.parts)

    @property
    def noun(self) -> str:
        """What the parts are, in the plural."""
        return "files" if self.parts[0].group is None else "row groups"

    def batches(self, part: TablePart, n_rows: int) -> Iterator[pd.DataFrame]:
        """Yield the rows of a part, at most ``n_rows`` at a time; their index is their number in the table, from 1."""
        row = part.before + 1
        for frame in self._tables(part, n_rows):
            yield frame[list(self.columns)].set_axis(pd.RangeIndex(row, row + len(frame)), axis=0)
            row += len(frame)

    def _tables(self, part: TablePart, n_rows: int) -> Iterator[pd.DataFrame]:
        if self.written is None:
            assert part.group is not None, "a part of a Parquet file is a row group"
            yield from parquet_batches(part.path, part.group, n_rows)
            return
        frame = self.written.read(part.path, self.encoding)
        if self.index is not None:
            frame = frame.reset_index(names=self.index)
        for start in range(0, len(frame), n_rows):
            yield frame.iloc[start : start + n_rows]


def has_parts(path: Path) -> bool:
    """Return whether a path is that of a table that can be read in parts: a Parquet file or a folder."""
    return path.is_dir() or (path.suffix.lower() == ".parquet" and path.is_file())


def rows_and_columns(path: Path, encoding: str = AUTO) -> tuple[int, int]:
    """Return the size of the table of a Parquet file or of a folder; rows of text files are estimated from the first.

    Files that cannot be read are refused when the table is.
    """
    files = files_of_table(path)[0] if path.is_dir() else [path]
    if is_text_file(files[0]):
        frame = read_file(files[0], encoding).frame
        share = files[0].stat().st_size / sum(file.stat().st_size for file in files)
        return round(len(frame) / share), frame.shape[1]
    facts = [parquet_facts(file) for file in files]
    return sum(found.n_rows for found in facts), len(facts[0].names)


def open_parts(path: Path, encoding: str = AUTO, expected: Expected = NOTHING_KNOWN) -> PartedTable:
    """Return the table of a Parquet file or of a folder in parts; refuse files that do not belong together.

    Of Parquet files only the ends are read, and the columns of text in which a model takes numbers. Text files are read
    once or twice, to check them, to count their rows and to see how their numbers are written. ``expected`` is how the
    tables of a model are written.
    """
    if not path.is_dir():
        return _of_parquet([path], path.name, (), expected)
    files, notes = files_of_table(path)
    if is_text_file(files[0]):
        return _of_texts(files, name_of_folder(path), notes, encoding, expected)
    files, empty = parquet_files_with_rows(files)
    check_alike(files)
    return _of_parquet(files, name_of_folder(path), (*notes, *empty), expected)


def _of_parquet(files: list[Path], source: str, notes: tuple[str, ...], expected: Expected) -> PartedTable:
    facts = {path: parquet_facts(path) for path in files}
    first = facts[files[0]]
    parts: list[TablePart] = []
    before = 0
    for path, found in facts.items():
        for group, n_rows in enumerate(found.rows_of_groups):
            if n_rows:
                parts.append(TablePart(path, group, before, n_rows))
            before += n_rows
    if not parts or not first.names:
        raise ValueError(
            f"{files[0]} must have rows and columns, got a table of {before} x {len(first.names)} instead. "
            "Export it again."
        )
    texts = {
        name for found in facts.values() for name, kind in zip(found.names, found.kinds, strict=True) if kind == TEXT
    }
    decimal, said = expected.decimal, list[str]()
    if columns := [name for name in texts if name in (expected.numbers or ())]:  # a model takes numbers stored as text
        batches = (parquet_batches(part.path, part.group or 0, BATCH_ROWS, columns) for part in parts)
        decimal, said = decimal_of((frame for frames in batches for frame in frames), expected)
    several = first.index if len(first.index) > 1 else ()  # levels of names, which are no features
    return PartedTable(
        source=source,
        columns=tuple(name for name in first.names if name not in several),
        parts=tuple(parts),
        texts=frozenset(texts),
        notes=(*notes, *dict.fromkeys(note for found in facts.values() for note in found.notes), *said),
        index=first.index[0] if len(first.index) == 1 else None,
        decimal=decimal,
    )


def _of_texts(files: list[Path], source: str, notes: list[str], encoding: str, expected: Expected) -> PartedTable:
    written = open_texts(files, encoding, expected)
    before = np.cumsum([0, *written.rows_of_files]).tolist()
    parts = [TablePart(path, None, *rows) for path, *rows in zip(files, before, written.rows_of_files, strict=False)]
    index = (UNNAMED_INDEX,) if written.labels == "names" else ()
    return PartedTable(
        source=source,
        columns=(*index, *written.columns),
        parts=tuple(parts),
        texts=written.texts | {*index},
        notes=(*notes, *written.notes),
        index=index[0] if index else None,
        encoding=encoding,
        decimal=written.decimal,
        written=written,
    )
