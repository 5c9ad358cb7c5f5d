"""Tables of any size, in parts: the row groups of Parquet files, or the text files of a folder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from whynear.tables.cells import as_text, holds_strings
from whynear.tables.folder import (
    check_alike,
    check_same_header,
    files_of_table,
    is_text_file,
    name_of_folder,
    parquet_files_with_rows,
)
from whynear.tables.parquet import TEXT, parquet_batches, parquet_facts
from whynear.tables.reading import read_file
from whynear.tables.text_encoding import AUTO
from whynear.tables.written_numbers import Decimal


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
    """A table in parts, which are read one after the other.

    Attributes
    ----------
    source : str
        Its name in messages.
    columns : tuple of str
        The names of its columns.
    parts : tuple of TablePart
        All rows, in order.
    texts : frozenset of str
        The columns that hold text in some part, and are text in all.
    notes : tuple of str
        What was changed while reading it.
    index : str or None
        The column in which pandas saved the names of the rows.
    encoding : str
        The encoding of text files.
    decimal : {".", ","}
        The sign before the decimals where a text such as ``1,234`` can be read in two ways.
    """

    source: str
    columns: tuple[str, ...]
    parts: tuple[TablePart, ...]
    texts: frozenset[str]
    notes: tuple[str, ...] = ()
    index: str | None = None
    encoding: str = AUTO
    decimal: Decimal = "."

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
            changed = {name: as_text(frame[name]) for name in self.texts if not _is_text(frame[name])}
            batch = frame.assign(**changed)[list(self.columns)]
            yield batch.set_axis(pd.RangeIndex(row, row + len(batch)), axis=0)
            row += len(batch)

    def _tables(self, part: TablePart, n_rows: int) -> Iterator[pd.DataFrame]:
        if part.group is not None:
            yield from parquet_batches(part.path, part.group, n_rows)
            return
        frame = read_file(part.path, self.encoding).frame
        for start in range(0, len(frame), n_rows):
            yield frame.iloc[start : start + n_rows]


def _is_text(column: pd.Series) -> bool:
    return isinstance(column.dtype, pd.CategoricalDtype) or bool(column.isna().all()) or holds_strings(column)


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


def open_parts(path: Path, encoding: str = AUTO) -> PartedTable:
    """Return the table of a Parquet file or of a folder in parts; refuse files that do not belong together.

    Of Parquet files only the ends are read. Text files are read once, to check them and to count their rows.
    """
    if not path.is_dir():
        return _of_parquet([path], path.name, ())
    files, notes = files_of_table(path)
    if is_text_file(files[0]):
        return _of_texts(files, name_of_folder(path), notes, encoding)
    files, empty = parquet_files_with_rows(files)
    check_alike(files)
    return _of_parquet(files, name_of_folder(path), (*notes, *empty))


def _of_parquet(files: list[Path], source: str, notes: tuple[str, ...]) -> PartedTable:
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
    several = first.index if len(first.index) > 1 else ()  # levels of names, which are no features
    return PartedTable(
        source,
        tuple(name for name in first.names if name not in several),
        tuple(parts),
        frozenset(texts),
        (*notes, *dict.fromkeys(note for found in facts.values() for note in found.notes)),
        first.index[0] if len(first.index) == 1 else None,
    )


def _of_texts(files: list[Path], source: str, notes: list[str], encoding: str) -> PartedTable:
    parts: list[TablePart] = []
    said = list(notes)
    columns: tuple[str, ...] = ()
    texts: set[str] = set()
    decimal: Decimal = "."
    before = 0
    for path in files:
        table = read_file(path, encoding)
        names = tuple(map(str, table.frame.columns))
        columns = columns or names
        check_same_header(files[0], columns, path, names)
        texts |= {name for name in names if holds_strings(table.frame[name])}
        said += table.notes
        decimal = "," if table.decimal == "," else decimal
        parts.append(TablePart(path, None, before, len(table.frame)))
        before += len(table.frame)
    return PartedTable(
        source, columns, tuple(parts), frozenset(texts), tuple(dict.fromkeys(said)), None, encoding, decimal
    )
