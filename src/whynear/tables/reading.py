"""Tables in files: read strictly, with line numbers in every error."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import IO, cast

import pandas as pd

from whynear.tables.header import distinct_names
from whynear.tables.workbooks import read_workbook

_DELIMITERS = {".csv": ",", ".tsv": "\t", ".txt": "\t"}
_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
_SUPPORTED = ".csv, .tsv, .txt (tab-separated), each also with .gz, .parquet and .xlsx"
_MISSING = ["", "NA", "N/A", "NaN", "nan", "null", "NULL"]
_CHUNK = 1 << 20


@dataclass(frozen=True, eq=False)
class NamedTable:
    """A table, its name in messages, notes on what was changed while reading it, and its target if known."""

    source: str
    frame: pd.DataFrame
    notes: tuple[str, ...] = ()
    target: str | None = None


def read_table(path: str | os.PathLike[str], encoding: str = "utf-8") -> tuple[pd.DataFrame, list[str]]:
    """Read a table whose first line names the columns; refuse what could be misread.

    Parameters
    ----------
    path : path
        A ``.csv``, ``.tsv`` or ``.txt`` file (the latter two tab-separated), these with ``.gz`` too, a ``.parquet``
        file, or the first sheet of an ``.xlsx`` workbook.
    encoding : str, default="utf-8"
        Encoding of a text file. A byte order mark is stripped.

    Returns
    -------
    frame : DataFrame
        The table. Empty fields and NA, N/A, NaN, nan, null, NULL are missing values.
    notes : list of str
        What was changed while reading: duplicate names suffixed (``name``, ``name.1``), columns without a
        name named, a first column without a name that only numbers the rows left out, empty lines left out,
        another separator (semicolon, tab, vertical bar, comma) than the extension means.

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
    Text is read twice, once to check it and once to parse it, so a short row is never filled up
    silently. The check holds one line in memory at a time.

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
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist. Check the name and the folder.")
    if path.is_dir():
        raise ValueError(f"{path} must be a file, got a folder instead. Name a file in it.")
    *_, inner, outer = ["", "", *(suffix.lower() for suffix in path.suffixes)]
    kind = inner if outer == ".gz" else outer
    if outer not in (".parquet", ".xlsx") and kind not in _DELIMITERS:
        raise ValueError(
            f"{path} must end in {_SUPPORTED}, got {path.suffix or 'no extension'} instead. "
            "Rename the file or export the table in one of these formats."
        )
    try:
        if outer == ".parquet":
            return _read_parquet(path)
        if outer == ".xlsx":
            return read_workbook(path)
        return _read_text(path, encoding, _DELIMITERS[kind], zipped=outer == ".gz")
    except PermissionError:
        raise PermissionError(f"{path} must be readable; it is not. Change its permissions.") from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(
            f"{path} must be a whole gzip file, got a damaged one instead ({error}). Compress it again."
        ) from error


def _read_text(path: Path, encoding: str, delimiter: str, zipped: bool) -> tuple[pd.DataFrame, list[str]]:
    try:
        io.TextIOWrapper(io.BytesIO(), encoding=encoding)  # some codecs turn text into text, or bytes into bytes
    except (LookupError, ValueError):
        raise ValueError(
            f"encoding must be a text encoding that Python knows, got {encoding!r} instead. Try utf-8 or latin-1."
        ) from None
    try:
        separator = _separator(path, encoding, delimiter, zipped)
        header, n_rows, n_empty = _check(path, encoding, separator, zipped)
    except UnicodeError:
        raise _wrong_encoding(path, encoding, zipped) from None
    names, notes = distinct_names(header)
    if separator != delimiter:
        notes.append(f"The columns were read as separated by {_SEPARATORS[separator]}, not {_SEPARATORS[delimiter]}.")
    if n_empty:
        notes.append(f"Empty lines within the table were left out: {n_empty}.")
    try:
        with _open(path, zipped) as raw, io.TextIOWrapper(raw, encoding=encoding) as text:
            frame = pd.read_csv(
                text,
                sep=separator,
                header=0,
                names=names,
                index_col=False,
                na_values=_MISSING,
                keep_default_na=False,
                low_memory=False,
            )
    except (ValueError, OverflowError) as error:
        raise _misread(path, str(error)) from error
    if len(frame) != n_rows:
        raise _misread(path, f"{n_rows} rows were counted and {len(frame)} parsed")
    if not header[0].strip() and len(names) > 1 and _numbers_rows(frame[names[0]]):
        notes.append(f"The first column has no name and only numbers the rows: {names[0]!r} was left out.")
        frame = frame.drop(columns=names[0])
    return frame, notes


def _numbers_rows(column: pd.Series) -> bool:
    """Return whether a column holds 0, 1, 2, ... or 1, 2, 3, ..., like a saved index."""
    return any(column.equals(pd.Series(range(start, start + len(column)))) for start in (0, 1))


def _separator(path: Path, encoding: str, usual: str, zipped: bool) -> str:
    """Return the usual separator, unless it gives a single column and another one several in header and first row."""
    found = {separator: _first_rows(path, encoding, separator, zipped) for separator in _SEPARATORS}
    if found[usual] and len(found[usual][0]) > 1:
        return usual
    several = [separator for separator, rows in found.items() if rows and all(len(row) > 1 for row in rows)]
    return max(several, key=lambda separator: len(found[separator][0]), default=usual)


def _first_rows(path: Path, encoding: str, separator: str, zipped: bool) -> list[list[str]]:
    """Return the header and the first row as split by a separator; an empty list if its quotes are wrong."""
    with _open(path, zipped) as raw, io.TextIOWrapper(raw, encoding=encoding) as text:
        reader = csv.reader(_without_nul(text, path), delimiter=separator, strict=True)
        try:
            return list(islice((row for row in reader if not _is_blank(row)), 2))
        except csv.Error:
            return []


def _is_blank(row: list[str]) -> bool:
    return not row or (len(row) == 1 and row[0] != "" and not row[0].strip(" \t"))


def _check(path: Path, encoding: str, delimiter: str, zipped: bool) -> tuple[list[str], int, int]:
    """Return the header, the number of rows and of empty lines; one pass, one line in memory at a time."""
    header: list[str] = []
    n_rows = n_empty = pending = 0
    with _open(path, zipped) as raw, io.TextIOWrapper(raw, encoding=encoding) as text:
        reader = csv.reader(_without_nul(text, path), delimiter=delimiter, strict=True)
        line = 1
        try:
            for row in reader:
                if _is_blank(row):
                    pending += 1
                elif not header:
                    header, pending = row, 0
                elif len(row) != len(header):
                    raise ValueError(
                        f"{path}, line {line}: every row must have {len(header)} fields as the header has, "
                        f"got {len(row)} instead. Complete or quote the fields of this line."
                    )
                else:
                    n_rows += 1
                    n_empty, pending = n_empty + pending, 0
                line = reader.line_num + 1
        except csv.Error as error:
            raise ValueError(
                f"{path}, line {line}: quotes must be closed and quotes inside a field doubled; they are not "
                f"in the row that begins here ({error}). Correct the quotes."
            ) from None
    if not header:
        raise ValueError(f"{path} must have a header and rows, got an empty file instead. Export it again.")
    if not n_rows:
        raise ValueError(
            f"{path} must have rows below its header, got {len(header)} column names and no rows instead. "
            "Add at least one row."
        )
    return header, n_rows, n_empty


def _without_nul(lines: IO[str], path: Path) -> Iterator[str]:
    for number, line in enumerate(lines, start=1):
        if "\0" in line:
            raise ValueError(
                f"{path}, line {number}: a text table must not have NUL bytes, got one here instead. Remove "
                "it, or name the encoding if this is another one (--encoding utf-16)."
            )
        yield line


@contextmanager
def _open(path: Path, zipped: bool) -> Iterator[IO[bytes]]:
    """Open for reading bytes, after a UTF-8 byte order mark if there is one."""
    with gzip.open(path) if zipped else path.open("rb") as opened:
        raw = cast(IO[bytes], opened)
        if raw.read(len(codecs.BOM_UTF8)) != codecs.BOM_UTF8:
            raw.seek(0)
        yield raw


def _wrong_encoding(path: Path, encoding: str, zipped: bool) -> ValueError:
    """Return the error that names the first byte outside the encoding, and an encoding to try."""
    with _open(path, zipped) as raw:
        begin = raw.tell()
        is_utf16 = begin == 0 and raw.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
        raw.seek(begin)
        decoder = codecs.getincrementaldecoder(encoding)()
        offset, line, detail = begin, 1, "the file ends within a character"
        while True:
            chunk = raw.read(_CHUNK)
            kept = len(decoder.getstate()[0])
            try:
                decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as error:
                line += chunk.count(b"\n", 0, max(error.start - kept, 0))
                offset += error.start - kept
                detail = f"0x{error.object[error.start]:02x}"
                break
            except UnicodeError as error:
                detail = str(error)
                break
            if not chunk:
                break
            line += chunk.count(b"\n")
            offset += len(chunk)
    other = "utf-16" if is_utf16 else "utf-8" if codecs.lookup(encoding).name != "utf-8" else "latin-1"
    return ValueError(
        f"{path} must be {encoding} text, got {detail} at byte offset {offset} (line {line}) instead. "
        f"Name the right encoding, for example --encoding {other}."
    )


def _read_parquet(path: Path) -> tuple[pd.DataFrame, list[str]]:
    try:
        pyarrow = import_module("pyarrow")
        parquet = import_module("pyarrow.parquet")
    except ImportError as error:
        raise ImportError(
            f'{path} needs pyarrow to be read; it is not installed. Type: pip install "whynear[parquet]"'
        ) from error
    try:
        table = parquet.ParquetFile(path).read()
        names, notes = distinct_names([str(name) for name in table.column_names])
        frame = table.rename_columns(names).to_pandas() if notes else table.to_pandas()
    except PermissionError:
        raise
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise ValueError(
            f"{path} must be a whole parquet file, got a damaged one instead ({error}). Export it again."
        ) from error
    if frame.empty:
        raise ValueError(
            f"{path} must have rows and columns, got a table of {frame.shape[0]} x {frame.shape[1]} instead. "
            "Export it again."
        )
    frame.columns = [str(name) for name in frame.columns]
    return frame, notes


def _misread(path: Path, fact: str) -> ValueError:
    return ValueError(
        f"{path} must be a plain table, got something that could not be parsed instead ({fact.strip()}). "
        "Export it again with one header line and quotes around text."
    )
