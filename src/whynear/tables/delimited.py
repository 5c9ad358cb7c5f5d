"""Tables of text with a separator: found, checked line by line, then parsed."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any

import pandas as pd

from whynear.tables.cells import MISSING_WORDS
from whynear.tables.header import BELOW_A_TITLE, distinct_names
from whynear.utils.text import counted

_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
_SEPARATOR_LINE = re.compile(rb'"?sep=([!#-/:-@[-`{-~\t])"?(?=[\r\n])', re.IGNORECASE)  # as Excel writes it
_CODE = re.compile(r"[+-]?0\d+(\.\d*)?")  # such as 007, which is no number
_WHOLE = re.compile(r"[+-]?\d{16,300}")
EXACT_WHOLE_NUMBERS = 2**53  # from which not every whole number is a floating-point number


@dataclass(frozen=True, eq=False)
class TextFile:
    """A table in text, checked line by line.

    Attributes
    ----------
    path : Path
        The file, for messages.
    data : bytes
        Its content, in UTF-8.
    separator : str
        What separates its columns.
    header : list of str
        What its first line says.
    names : list of str
        The names of its columns, made unique.
    n_rows : int
        The number of its rows.
    notes : tuple of str
        What was changed while reading it, beside names.
    """

    path: Path
    data: bytes
    separator: str
    header: list[str]
    names: list[str]
    n_rows: int
    notes: tuple[str, ...]

    def frame(self) -> pd.DataFrame:
        """Return the table: columns of plain numbers as numbers, of codes such as 007 and of all else as text."""
        codes = _columns_of_codes(_Text(self.path, self.data), self.separator)
        return self._parsed(dtype={self.names[place]: str for place in codes})

    def as_written(self, columns: Sequence[str]) -> pd.DataFrame:
        """Return some of the columns as text."""
        return self._parsed(usecols=list(columns), dtype=str)[list(columns)]

    def notes_on_rounding(self, frame: pd.DataFrame) -> dict[str, str]:
        """Return a note for each column of whole numbers that floating-point numbers round, as they do beside gaps."""
        numbers = [name for name in frame.columns if pd.api.types.is_any_real_numeric_dtype(frame[name])]
        large = [name for name in numbers if (frame[name].abs() >= EXACT_WHOLE_NUMBERS).any()]
        notes = {}
        for name, texts in self.as_written(large).items() if large else ():
            cells = (cell.strip() for cell in texts.dropna())
            if rounded := next((cell for cell in cells if _is_rounded(cell)), ""):
                notes[str(name)] = (
                    f"Column {name!r} holds whole numbers of more than 15 digits, such as {rounded}, which as a "
                    f"number is rounded to {float(rounded):.0f}; --category {name!r} keeps them as they are."
                )
        return notes

    def _parsed(self, **options: Any) -> pd.DataFrame:
        try:
            frame = pd.read_csv(
                _Text(self.path, self.data).lines(),
                sep=self.separator,
                header=0,
                names=self.names,
                index_col=False,
                na_values=list(MISSING_WORDS),
                keep_default_na=False,
                low_memory=False,
                **options,
            )
        except (ValueError, OverflowError) as error:
            raise _misread(self.path, str(error)) from error
        if len(frame) != self.n_rows:
            raise _misread(self.path, f"{self.n_rows} rows were counted and {len(frame)} parsed")
        return frame


@dataclass(frozen=True, eq=False)
class _Text:
    """The content of a text file, in UTF-8."""

    path: Path
    data: bytes

    def lines(self) -> io.TextIOWrapper:
        return io.TextIOWrapper(io.BytesIO(self.data), encoding="utf-8")

    def rows(self, separator: str) -> Any:
        return csv.reader(_without_nul(self.lines(), self.path), delimiter=separator, strict=True)


def text_file(data: bytes, path: Path, delimiter: str, said: Sequence[str] = ()) -> TextFile:
    """Return the table in UTF-8 text; ``delimiter`` is the usual separator of such files, ``said`` are notes on it."""
    notes = list(said)
    if found := _SEPARATOR_LINE.match(data):
        separator = found[1].decode()
        text = _Text(path, data[found.end() :])  # an empty line stays, so that lines are counted as in the file
        notes.append(f"The first line names the separator of the columns and was left out: {found[0].decode()!r}.")
    else:
        text = _Text(path, data)
        separator = _separator(text, delimiter)
        if separator != delimiter:
            read, usual = _SEPARATORS[separator], _SEPARATORS[delimiter]
            notes.append(f"The columns were read as separated by {read}, not {usual}.")
    header, n_rows, n_empty = _check(text, separator)
    names, _ = distinct_names(header)
    if n_empty:
        notes.append(f"Empty lines within the table were left out: {n_empty}.")
    return TextFile(path, text.data, separator, header, names, n_rows, tuple(notes))


def _columns_of_codes(text: _Text, separator: str) -> list[int]:
    """Return the places of columns with codes such as 007, which would be parsed as 7."""
    border = re.escape(f'{separator}"\r\n').encode()
    if not re.search(rb"(?:^|[%b]) *[+-]?0\d+(?:\.\d*)? *(?=[%b]|$)" % (border, border), text.data):
        return []
    rows = text.rows(separator)
    next(row for row in rows if not _is_blank(row))
    return sorted({place for row in rows for place, cell in enumerate(row) if _CODE.fullmatch(cell.strip())})


def _is_rounded(cell: str) -> bool:
    return _WHOLE.fullmatch(cell) is not None and int(float(cell)) != int(cell)


def _separator(text: _Text, usual: str) -> str:
    """Return the usual separator, unless it gives a single column and another one several in header and first row."""
    found = {separator: _first_rows(text, separator) for separator in _SEPARATORS}
    if found[usual] and len(found[usual][0]) > 1 and not _splits_better(found, usual):
        return usual
    several = [separator for separator, rows in found.items() if rows and all(len(row) > 1 for row in rows)]
    return max(several, key=lambda separator: len(found[separator][0]), default=usual)


def _splits_better(found: dict[str, list[list[str]]], usual: str) -> bool:
    """Return whether the usual separator splits header and first row unevenly, and another one evenly."""
    lengths = {separator: [len(row) for row in rows] for separator, rows in found.items()}
    if len(set(lengths[usual])) == 1:
        return False
    return any(len(set(counts)) == 1 and counts[0] > 1 for counts in lengths.values() if len(counts) > 1)


def _first_rows(text: _Text, separator: str) -> list[list[str]]:
    """Return the header and the first row as split by a separator; an empty list if its quotes are wrong."""
    try:
        return list(islice((row for row in text.rows(separator) if not _is_blank(row)), 2))
    except csv.Error:
        return []


def _is_blank(row: list[str]) -> bool:
    return not row or (len(row) == 1 and row[0] != "" and not row[0].strip(" \t"))


def _check(text: _Text, separator: str) -> tuple[list[str], int, int]:
    """Return the header, the number of rows and of empty lines; one pass, one line in memory at a time."""
    path, reader = text.path, text.rows(separator)
    header: list[str] = []
    n_rows = n_empty = pending = 0
    line = 1
    try:
        for row in reader:
            if _is_blank(row):
                pending += 1
            elif not header:
                header, pending = row, 0
            elif len(row) != len(header):
                is_title = len(row) > len(header) and (not n_rows or len(header) == 1)
                way_out = BELOW_A_TITLE if is_title else "Complete or quote the fields of this line."
                raise ValueError(
                    f"{path}, line {line}: every row must have {counted(len(header), 'field')} as the header has, "
                    f"got {len(row)} instead. {way_out}"
                )
            else:
                n_rows += 1
                n_empty, pending = n_empty + pending, 0
            line = reader.line_num + 1
    except csv.Error as error:
        if "field larger than" in str(error):
            raise ValueError(
                f"{path}, line {line}: a field must have at most {csv.field_size_limit():,} characters, got a "
                "longer one in the row that begins here instead. Close its quotes, or leave the column out of the file."
            ) from None
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


def _misread(path: Path, fact: str) -> ValueError:
    return ValueError(
        f"{path} must be a plain table, got something that could not be parsed instead ({fact.strip()}). "
        "Export it again with one header line and quotes around text."
    )
