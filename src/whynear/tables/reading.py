"""Tables in files: read strictly, with line numbers in every error."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from whynear.tables.decimal_sign import NOTHING_KNOWN, Expected, decimal_of
from whynear.tables.folder import (
    PARQUET,
    check_alike,
    files_of_table,
    is_text_file,
    joined_files,
    name_of_folder,
    parquet_files_with_rows,
    readable,
)
from whynear.tables.parquet import read_parquet
from whynear.tables.text_encoding import AUTO, check_encoding
from whynear.tables.text_files import TEXT_ENDINGS
from whynear.tables.text_table import read_texts
from whynear.tables.workbooks import read_workbook
from whynear.tables.written_numbers import Decimal

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
        decimal, said = decimal_of(self.frame, expected)
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
