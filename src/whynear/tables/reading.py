"""Tables in files: read strictly, with line numbers in every error."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from whynear.tables.delimited import read_delimited
from whynear.tables.folder import name_of_folder, read_folder
from whynear.tables.parquet import read_parquet
from whynear.tables.text_encoding import AUTO, as_utf_8, check_encoding
from whynear.tables.text_files import TEXT_ENDINGS, delimiter_of, opened_text
from whynear.tables.workbooks import read_workbook
from whynear.tables.written_numbers import Decimal

_SUPPORTED = f"{TEXT_ENDINGS}, .parquet and .xlsx"


@dataclass(frozen=True, eq=False)
class NamedTable:
    """A table, its name in messages, notes on what was changed while reading it, and its target if known.

    ``decimal`` is the sign before the decimals where a text such as ``1,234`` can be read in two ways.
    """

    source: str
    frame: pd.DataFrame
    notes: tuple[str, ...] = ()
    target: str | None = None
    decimal: Decimal = "."


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
        written plainly, such as ``3,5`` or ``31%``, and codes such as ``007`` stay text.
    notes : list of str
        What was changed while reading: duplicate names suffixed (``name``, ``name.1``), columns without a
        name named, a first column without a name that only numbers the rows left out, empty lines left out,
        another separator (semicolon, tab, vertical bar, comma) than the extension means, another encoding than UTF-8.

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
    filled up silently.

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


def read_file(path: str | os.PathLike[str], encoding: str = AUTO) -> NamedTable:
    """Read a table as `read_table` does, and name it."""
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist. Check the name and the folder.")
    if path.is_dir():
        check_encoding(encoding)
        return _read_folder(path, encoding)
    ending, delimiter = path.suffix.lower(), delimiter_of(path)
    if ending not in (".parquet", ".xlsx") and delimiter is None:
        raise ValueError(
            f"{path} must end in {_SUPPORTED}, got {path.suffix or 'no extension'} instead. "
            "Rename the file or export the table in one of these formats."
        )
    check_encoding(encoding)
    try:
        if delimiter is None:
            frame, notes = read_parquet(path) if ending == ".parquet" else read_workbook(path)
            return NamedTable(path.name, frame, tuple(notes))
        with opened_text(path) as text:
            data, found = as_utf_8(text.unpacked.read(), path, encoding)
    except PermissionError:
        raise PermissionError(f"{path} must be readable; it is not. Change its permissions.") from None
    frame, notes, decimal = read_delimited(data, path, delimiter)
    return NamedTable(path.name, frame, (*found, *notes), decimal=decimal)


def _read_folder(folder: Path, encoding: str) -> NamedTable:
    try:
        frame, notes, decimal = read_folder(folder, lambda path: read_file(path, encoding))
    except PermissionError as error:
        if error.errno is None:  # said already
            raise
        raise PermissionError(f"{folder} must be readable; it is not. Change its permissions.") from None
    return NamedTable(name_of_folder(folder), frame, tuple(notes), decimal="," if decimal == "," else ".")
