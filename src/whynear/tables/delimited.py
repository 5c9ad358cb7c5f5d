"""Tables of text with a separator: found, checked line by line, then parsed."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from whynear.tables.cells import MISSING_WORDS
from whynear.tables.header import distinct_names
from whynear.tables.text_rows import checked_rows, is_blank, notes_on_separator, separator_of, split_rows
from whynear.tables.written_numbers import Decimal, written_numbers

_CODE = re.compile(r"[+-]?0\d+(\.\d*)?")  # such as 007, which is no number
_WHOLE = re.compile(r"[+-]?\d{16,300}")
EXACT_WHOLE_NUMBERS = 2**53  # from which not every whole number is a floating-point number
_THOUSANDS_POINTS = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})*")


@dataclass(frozen=True, eq=False)
class _Text:
    """The content of a text file, in UTF-8."""

    path: Path
    data: bytes

    def lines(self) -> io.TextIOWrapper:
        return io.TextIOWrapper(io.BytesIO(self.data), encoding="utf-8")

    def rows(self, separator: str) -> Any:
        return split_rows(self.lines(), self.path, separator)

    def parse(self, separator: str, names: list[str], **options: Any) -> pd.DataFrame:
        return pd.read_csv(
            self.lines(),
            sep=separator,
            header=0,
            names=names,
            index_col=False,
            na_values=list(MISSING_WORDS),
            keep_default_na=False,
            low_memory=False,
            **options,
        )


def read_delimited(data: bytes, path: Path, delimiter: str) -> tuple[pd.DataFrame, list[str], Decimal]:
    """Return the table in UTF-8 text, notes on what was changed, and the sign before decimals in its numbers."""
    text = _Text(path, data)
    separator = separator_of(text.rows, delimiter)
    header, n_rows, n_empty = _check(text, separator)
    names, notes = distinct_names(header)
    notes += notes_on_separator(separator, delimiter)
    if n_empty:
        notes.append(f"Empty lines within the table were left out: {n_empty}.")
    try:
        codes = {names[place]: str for place in _columns_of_codes(text, separator)}
        frame = text.parse(separator, names, dtype=codes)
        decimal = _decimal(frame, separator)
        if decimal == ",":
            frame = _with_thousands_points(frame, text, separator, names)
    except (ValueError, OverflowError) as error:
        raise _misread(path, str(error)) from error
    notes += _rounded_notes(frame, text, separator, names)
    if len(frame) != n_rows:
        raise _misread(path, f"{n_rows} rows were counted and {len(frame)} parsed")
    if not header[0].strip() and len(names) > 1 and _numbers_rows(frame[names[0]]):
        notes.append(f"The first column has no name and only numbers the rows: {names[0]!r} was left out.")
        frame = frame.drop(columns=names[0])
    return frame, notes, decimal


def _columns_of_codes(text: _Text, separator: str) -> list[int]:
    """Return the places of columns with codes such as 007, which would be parsed as 7."""
    border = re.escape(f'{separator}"\r\n').encode()
    if not re.search(rb"(?:^|[%b]) *[+-]?0\d+(?:\.\d*)? *(?=[%b]|$)" % (border, border), text.data):
        return []
    rows = text.rows(separator)
    next(row for row in rows if not is_blank(row))
    return sorted({place for row in rows for place, cell in enumerate(row) if _CODE.fullmatch(cell.strip())})


def _decimal(frame: pd.DataFrame, separator: str) -> Decimal:
    """Return the sign before the decimals: a comma if a column shows it, or if semicolons suggest it and no point."""
    for name in frame.columns[[not pd.api.types.is_numeric_dtype(kind) for kind in frame.dtypes]]:
        column = frame[name].dropna()
        if any("," in str(value) for value in column.unique()):
            written = written_numbers(column)
            if written is not None and written.decimal == ",":
                return ","
    fractions = any((frame[name].dropna() % 1 != 0).any() for name in _fractional(frame))
    return "," if separator == ";" and not fractions else "."


def _fractional(frame: pd.DataFrame) -> list[str]:
    return [str(name) for name, kind in frame.dtypes.items() if pd.api.types.is_float_dtype(kind)]


def _with_thousands_points(frame: pd.DataFrame, text: _Text, separator: str, names: list[str]) -> pd.DataFrame:
    """Return columns of numbers such as 1.234 as text again, in a table that is written with decimal commas."""
    columns = _fractional(frame)
    if not columns:
        return frame
    texts = text.parse(separator, names, usecols=columns, dtype=str)
    for name in columns:
        known = texts[name].dropna().str.strip()
        if known.str.contains(".", regex=False).any() and known.map(_is_grouped).all():
            frame[name] = texts[name]
    return frame


def _rounded_notes(frame: pd.DataFrame, text: _Text, separator: str, names: list[str]) -> list[str]:
    """Say which columns hold whole numbers that floating-point numbers round, as they do in a column with gaps."""
    columns = [name for name in _fractional(frame) if (frame[name].abs() >= EXACT_WHOLE_NUMBERS).any()]
    texts = text.parse(separator, names, usecols=columns, dtype=str) if columns else frame[[]]
    notes = []
    for name in columns:
        cells = (cell.strip() for cell in texts[name].dropna())
        if rounded := next((cell for cell in cells if _WHOLE.fullmatch(cell) and int(float(cell)) != int(cell)), ""):
            notes.append(
                f"Column {name!r} holds whole numbers of more than 15 digits, such as {rounded}, which was rounded to "
                f"{float(rounded):.0f}; --category {name!r} keeps them as they are."
            )
    return notes


def _is_grouped(cell: str) -> bool:
    return _THOUSANDS_POINTS.fullmatch(cell) is not None or cell.lstrip("+-").isdigit()


def _numbers_rows(column: pd.Series) -> bool:
    """Return whether a column holds 0, 1, 2, ... or 1, 2, 3, ..., like a saved index."""
    return any(column.equals(pd.Series(range(start, start + len(column)))) for start in (0, 1))


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
