"""Tables of text with a separator: found, checked line by line, then parsed."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from whynear.tables.cells import MISSING_WORDS
from whynear.tables.header import distinct_names
from whynear.tables.text_rows import (
    checked_rows,
    is_blank,
    named_separator,
    note_on_named_separator,
    notes_on_separator,
    separator_of,
    split_rows,
)

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
        The content of its first line.
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
        return split_rows(self.lines(), self.path, separator)


def text_file(data: bytes, path: Path, delimiter: str, said: Sequence[str] = ()) -> TextFile:
    """Return the table in UTF-8 text; ``delimiter`` is the usual separator of such files, ``said`` are notes on it."""
    text, notes = _Text(path, data), list(said)
    first = text.lines().readline().rstrip("\n")
    if separator := named_separator(first):
        text = _Text(path, data[len(first.encode()) :])  # an empty line stays, so that lines are counted as in the file
        notes.append(note_on_named_separator(first))
    else:
        separator = separator_of(text.rows, delimiter)
        notes += notes_on_separator(separator, delimiter)
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
    next(row for row in rows if not is_blank(row))
    return sorted({place for row in rows for place, cell in enumerate(row) if _CODE.fullmatch(cell.strip())})


def _is_rounded(cell: str) -> bool:
    return _WHOLE.fullmatch(cell) is not None and int(float(cell)) != int(cell)


def _check(text: _Text, separator: str) -> tuple[list[str], int, int]:
    """Return the header, the number of rows and of empty lines within them."""
    rows = checked_rows(text.lines(), text.path, separator)
    header = next(rows)
    n_rows = n_empty = pending = 0
    for row in rows:
        if row:
            n_rows, n_empty, pending = n_rows + 1, n_empty + pending, 0
        else:
            pending += 1
    if not n_rows:
        raise ValueError(
            f"{text.path} must have rows below its header, got {len(header)} column names and no rows instead. "
            "Add at least one row."
        )
    return header, n_rows, n_empty


def _misread(path: Path, fact: str) -> ValueError:
    return ValueError(
        f"{path} must be a plain table, got something that could not be parsed instead ({fact.strip()}). "
        "Export it again with one header line and quotes around text."
    )
