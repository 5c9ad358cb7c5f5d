"""Tables from files (text, Parquet, Excel, folders), and the columns of them that a fitted model takes."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd

from whynear.data.cells import as_text, holds_strings
from whynear.data.column_reading import NUMBER, NUMBER_OR_MISSING, Codes, ColumnReader, as_recorded
from whynear.data.delimited import BELOW_A_TITLE, distinct_names, has_unnamed_first, notes_on_names
from whynear.data.encoder import TableEncoder
from whynear.data.numbers import DECIMALS, NOTHING_KNOWN, Decimal, Expected, decimal_of
from whynear.data.options import Reading
from whynear.data.parquet import joined, parquet_facts, read_parquet
from whynear.data.text_files import AUTO, DELIMITERS, TEXT_ENDINGS, check_encoding, delimiter_of
from whynear.data.text_table import NOTES, check_same_header, labelled, labels_in, read_texts, readable
from whynear.utils.columns import is_default
from whynear.utils.text import counted, listed


def read_workbook(path: Path, expected: Expected = NOTHING_KNOWN) -> tuple[pd.DataFrame, list[str]]:
    """Return the table of the first sheet, formulas as their saved values, and notes on changes and omissions.

    ``expected`` is how the tables of a model are written.
    """
    try:
        openpyxl = import_module("openpyxl")
    except ImportError as error:
        raise ImportError(
            f'{path} needs openpyxl to be read; it is not installed. Type: pip install "whynear[excel]"'
        ) from error
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        sheets = book.sheetnames
        sheet = book.worksheets[0]
        sheet.reset_dimensions()  # those stated in a file may be wrong, and rows beyond them would be left out
        ends = (
            (row, max((place for place, cell in enumerate(row) if cell is not None), default=-1) + 1)
            for row in sheet.iter_rows(values_only=True)
        )
        cells = [row[:end] for row, end in ends]  # without the empty cells at their ends
        book.close()
    except PermissionError:
        raise
    except Exception as error:  # openpyxl and its parser raise many kinds of errors on damaged parts
        fact = str(error) or type(error).__name__
        raise ValueError(
            f"{path} must be a whole workbook, got a damaged one instead ({fact}). Export it again."
        ) from error
    rows = [row for row in cells[1:] if row]
    if not rows:
        raise ValueError(
            f"{path}: the sheet {sheets[0]!r} must have a row of names and rows below it, got "
            f"{counted(len(cells), 'row')}."
        )
    for number, row in enumerate(cells[1:], start=2):
        if len(row) > len(cells[0]):
            is_first = not any(cells[1 : number - 1])
            way_out = BELOW_A_TITLE if is_first else "Name the columns, or clear what stands beside the table."
            raise ValueError(
                f"{path}: row {number} of the sheet {sheets[0]!r} has {len(row)} fields, the first row "
                f"{counted(len(cells[0]), 'name')}. {way_out}"
            )
    header = ["" if name is None else str(name) for name in cells[0]]
    names, _ = distinct_names(header)
    columns = {name: [row[place] if place < len(row) else None for row in rows] for place, name in enumerate(names)}
    frame = pd.DataFrame(columns)
    is_unnamed = has_unnamed_first(header) and names[0] not in expected.columns
    labels = labels_in(frame[names[0]]) if is_unnamed else None
    notes = notes_on_names(header, names, but_first=labels is not None)
    if len(sheets) > 1:
        notes.append(f"Of {len(sheets)} sheets the first was read: {sheets[0]!r}.")
    if empty := len(cells) - 1 - len(rows):
        notes.append(f"Empty lines within the table were left out: {empty}.")
    if labels is None:
        return frame, notes
    return labelled(frame, names[0], labels), [*notes, NOTES[labels]]


PARQUET = ".parquet"
TEXT = "text"
_HIDDEN = (".", "_")  # first letters of the files that Spark and others add, such as _SUCCESS


def name_of_folder(folder: Path) -> str:
    """Return the name of a folder in messages and reports, with a slash."""
    return f"{folder.resolve().name}/"


def files_of_table(folder: Path) -> tuple[list[Path], list[str]]:
    """Return the files of a folder that hold its table, in order, and notes on others.

    Numbers within names count as numbers: ``part-2`` comes before ``part-10``.
    """

    def order(path: Path) -> tuple[list[tuple[int, int | str]], str]:
        words = re.split(r"(\d+)", path.name)
        return [(0, int(word)) if word.isdecimal() else (1, word) for word in words if word], path.name

    shown = sorted((path for path in folder.iterdir() if not path.name.startswith(_HIDDEN)), key=order)
    for path in shown:
        if path.is_dir() and (held := [inner for inner in path.iterdir() if _kind(inner)]):
            raise ValueError(
                f"{folder} holds the folder {path.name!r} with tables of its own, such as {held[0].name!r}. "
                "Move all files of the table into one folder."
            )
    files = [path for path in shown if path.is_file() and _kind(path)]
    others = [path.name for path in shown if path not in files]
    if not files:
        found = f"got {listed(others)}" if others else "got an empty folder"
        raise ValueError(
            f"{folder} must hold Parquet files ({PARQUET}) or text files ({', '.join(DELIMITERS)}, "
            f"each also with .gz), {found} instead. Name a folder with files of one table, or a file."
        )
    kinds = {_kind(path): path for path in reversed(files)}
    if len(kinds) > 1:
        one, another = list(kinds.values())[-2:]
        raise ValueError(
            f"{folder} holds files of different kinds, such as {one.name!r} and {another.name!r}. Keep the files of "
            "one table and of one kind in the folder."
        )
    left_out = f"{counted(len(others), 'file', 'files')} of the folder that can hold no part of the table"
    return files, [f"{left_out} {'was' if len(others) == 1 else 'were'} left out: {listed(others)}."] if others else []


def parquet_files_with_rows(files: Sequence[Path]) -> tuple[list[Path], list[str]]:
    """Return the Parquet files that have rows, and a note on those that have none."""
    empty = [path for path in files if not parquet_facts(path).n_rows]
    if len(empty) == len(files):
        raise ValueError(f"{files[0].parent} must hold rows, got only files without any instead. Export it again.")
    note = f"Files without rows were left out: {listed([path.name for path in empty])}."
    return [path for path in files if path not in empty], [note] if empty else []


def joined_files(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the rows of the files of a folder as one table."""
    pieces = {name: _in_one_kind([frame[name] for frame in frames]) for name in frames[0].columns}
    whole = pd.DataFrame({name: joined(parts) for name, parts in pieces.items()})
    if all(is_default(frame.index) for frame in frames):
        return whole
    return whole.set_axis(frames[0].index.append([frame.index for frame in frames[1:]]), axis=0)


def check_alike(files: Sequence[Path]) -> None:
    """Refuse Parquet files whose columns differ in name or type, or of which some are the index."""
    first = parquet_facts(files[0])
    for path in files[1:]:
        facts = parquet_facts(path)
        check_same_header(files[0], first.names, path, facts.names)
        if facts.index != first.index:
            held = [f"the index {listed(index)}" if index else "no index" for index in (facts.index, first.index)]
            raise ValueError(
                f"{path} has {held[0]}, and {files[0].name} has {held[1]}. Export the files again, all with the same "
                "index or all without one."
            )
        expected = dict(zip(first.names, first.kinds, strict=True))
        for name, kind in zip(facts.names, facts.kinds, strict=True):
            if None not in (kind, expected[name]) and kind != expected[name]:
                raise ValueError(
                    f"{path} holds {kind} in column {name!r}, and {files[0].name} holds {expected[name]}. Export the "
                    "files again with one type for the column."
                )


def _in_one_kind(parts: list[pd.Series]) -> list[pd.Series]:
    """Return the pieces of a column as text if one holds text: a sign such as '?' may stand in a single file."""
    texts = [holds_strings(part) for part in parts]
    if all(texts) or not any(texts):
        return parts
    return [
        part if is_text or isinstance(part.dtype, pd.CategoricalDtype) else as_text(part)
        for part, is_text in zip(parts, texts, strict=True)
    ]


def is_text_file(path: Path) -> bool:
    """Return whether a file holds a table as text."""
    return _kind(path) == TEXT


def _kind(path: Path) -> str | None:
    """Return the kind of a file of a table; all text files are of one kind."""
    if path.suffix.lower() == PARQUET:
        return PARQUET
    return TEXT if delimiter_of(path) is not None else None


WORKBOOK = ".xlsx"
_SUPPORTED = f"{TEXT_ENDINGS}, .parquet and .xlsx"


@dataclass(frozen=True, eq=False)
class NamedTable:
    """A table, its name in messages, notes on what was changed while reading it, and its target if known.

    ``decimal`` is the sign before the decimals where a text such as ``1,234`` can be read in two ways, None where it is
    not decided yet.
    """

    source: str
    frame: pd.DataFrame
    notes: tuple[str, ...] = ()
    target: str | None = None
    decimal: Decimal | None = None

    def decided(self, expected: Expected = NOTHING_KNOWN) -> tuple[Decimal, tuple[str, ...]]:
        """Return the sign before the decimals, and the notes; columns of text show it where no text file did."""
        if self.decimal is not None:
            return self.decimal, self.notes
        decimal, said = decimal_of([self.frame], expected)
        return decimal, (*self.notes, *said)


def read_table(path: str | os.PathLike[str], encoding: str = AUTO) -> tuple[pd.DataFrame, list[str]]:
    """Read a table whose first line names the columns; refuse what could be misread.

    Parameters
    ----------
    path : path
        A ``.csv``, ``.tsv`` or ``.txt`` file (the latter two tab-separated), these with ``.gz`` too, a ``.parquet``
        file, the first sheet of an ``.xlsx`` workbook, or a folder of Parquet files or of text files with the same
        columns, which are one table in the order of their names.
    encoding : str, default="auto"
        Encoding of a text file. ``"auto"`` finds UTF-8, UTF-16, and Windows-1252 or latin-1. A byte order mark is
        stripped.

    Returns
    -------
    frame : DataFrame
        The table. Empty fields and NA, N/A, n/a, #N/A, NaN, nan, null, NULL are missing values. Numbers that are not
        written plainly, such as ``3,5`` or ``31%``, codes such as ``007``, and whole numbers that floating-point
        numbers would round, stay text. A first column without a name is the index if it holds a different text in every
        row, and is left out if it holds different whole numbers that number rows.
    notes : list of str
        What was changed while reading: duplicate names suffixed (``name``, ``name.1``), columns without a
        name named, a first column without a name left out or taken as names of the rows, empty lines left out,
        another separator (semicolon, tab, vertical bar, comma) than the extension means, another encoding than UTF-8;
        and numbers such as ``1.234`` that could be read in two ways because columns are written in different ways.

    Raises
    ------
    ValueError
        If the extension is unknown, the file is empty or has only a header, bytes do not fit the encoding,
        a NUL byte occurs, a quote is not closed, or a row has more or fewer fields than the header; the
        message names the line.
    FileNotFoundError
        If there is no such file.
    ImportError
        If a ``.parquet`` file is read without pyarrow, or an ``.xlsx`` file without openpyxl.

    Notes
    -----
    A file is read once. Its text is gone through twice, once to check it and once to parse it, so a short row is never
    filled up silently. How a column is written, and which sign stands before the decimals, is decided for all files of
    a folder together, so that it is read as a single file with all their rows.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name) / "small.csv"
    >>> _ = path.write_text("a,a,b\\n1,2,x\\n3,NA,y\\n")
    >>> frame, notes = read_table(path)
    >>> list(frame.columns), notes
    (['a', 'a.1', 'b'], ["Duplicate column names were suffixed: 'a' (column 2) is now 'a.1'."])
    >>> folder.cleanup()
    """
    table = read_file(path, encoding)
    return table.frame, list(table.notes)


def read_file(path: str | os.PathLike[str], encoding: str = AUTO, expected: Expected = NOTHING_KNOWN) -> NamedTable:
    """Read a table as `read_table` does, and name it; ``expected`` is how the tables of a model are written."""
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist. Check the name and the folder.")
    if not path.is_dir() and not is_text_file(path) and path.suffix.lower() not in (PARQUET, WORKBOOK):
        raise ValueError(
            f"{path} must end in {_SUPPORTED}, got {path.suffix or 'no extension'} instead. "
            "Rename the file or export the table in one of these formats."
        )
    check_encoding(encoding)
    if path.is_dir():
        with readable(path):
            return _read_folder(path, encoding, expected)
    if is_text_file(path):
        table, (frame,) = read_texts([path], encoding, expected)
        return NamedTable(path.name, frame, table.notes, decimal=table.decimal)
    with readable(path):
        frame, notes = read_parquet(path) if path.suffix.lower() == PARQUET else read_workbook(path, expected)
    return NamedTable(path.name, frame, tuple(notes))


def _read_folder(folder: Path, encoding: str, expected: Expected) -> NamedTable:
    files, notes = files_of_table(folder)
    source = name_of_folder(folder)
    if is_text_file(files[0]):
        table, frames = read_texts(files, encoding, expected)
        return NamedTable(source, joined_files(frames), (*notes, *table.notes), decimal=table.decimal)
    files, empty = parquet_files_with_rows(files)
    check_alike(files)
    tables = [read_file(path) for path in files]
    said = dict.fromkeys(note for table in tables for note in table.notes)
    return NamedTable(source, joined_files([table.frame for table in tables]), (*notes, *empty, *said))


@dataclass(frozen=True, eq=False)
class ModelColumns:
    """The columns of a model, and how they were written in the table it was fitted to."""

    names: tuple[str, ...]
    texts: tuple[str, ...]  # those that hold categories
    readings: Mapping[str, str]  # as in a `TableEncoder`
    missing: Codes  # as in a `TableEncoder`

    @classmethod
    def behind(
        cls, encoder: TableEncoder | None, names: Sequence[str], texts: Sequence[str] | None = None
    ) -> ModelColumns:
        """Return the columns that an encoder takes; ``texts`` may be known to other steps of a model."""
        known: Any = ({}, {}) if encoder is None else (encoder.readings or {}, encoder.missing or {})
        of_encoder = () if encoder is None else encoder.text_columns
        return cls(tuple(names), tuple(of_encoder if texts is None else texts), *known)

    @property
    def plain(self) -> list[str]:
        """The columns of numbers that were written plainly."""
        return [name for name in self.names if name not in self.texts and name not in self.readings]

    @property
    def written(self) -> dict[Decimal, list[str]]:
        """The columns of numbers that were not written plainly, by the sign before their decimals."""
        ways = {sign: (f"{NUMBER} {sign}", f"{NUMBER_OR_MISSING} {sign}") for sign in DECIMALS}
        return {sign: [name for name, how in self.readings.items() if how in ways[sign]] for sign in ways}

    @property
    def expected(self) -> Expected:
        """How the tables of the model are written."""
        signs = [sign for sign in DECIMALS if self.written[sign]]
        numbers = [*self.plain, *(name for names in self.written.values() for name in names)]
        return Expected(
            decimal=signs[0] if len(signs) == 1 else None,
            numbers=frozenset(numbers),
            plain=frozenset(self.plain),
            columns=frozenset(self.names),
        )

    def read(self, table: NamedTable) -> NamedTable:
        """Return a table with numbers read as numbers, and notes on how.

        Columns that were not written plainly are left to the encoder of the model, unless the table shows another sign
        before the decimals than the table of the model had.
        """
        expected = self.expected
        decimal, notes = table.decided(expected)
        reader = ColumnReader(table.source, Reading(), decimal)
        texts = [name for name in self.plain if name in table.frame.columns and holds_strings(table.frame[name])]
        frame = table.frame.assign(**{name: reader.read(table.frame[name]) for name in texts})
        if expected.decimal not in (None, decimal):
            other = {name: self.readings[name][:-1] + decimal for names in self.written.values() for name in names}
            frame = as_recorded(frame, other, {name: codes for name, codes in self.missing.items() if name in other})
        return replace(table, frame=frame, notes=(*notes, *reader.notes()), decimal=decimal)
