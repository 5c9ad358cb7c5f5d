"""Delimited text: its separator, its header, its rows, and how it is written."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

import pandas as pd

from whynear.data.cells import MISSING_WORDS
from whynear.utils.files import StrPath, write_data
from whynear.utils.text import counted, harmless, printable

# The way out where the first row has fewer fields than the next.
BELOW_A_TITLE = "The names of the columns must come first: if there is a title above them, remove it from the file."


def distinct_names(header: list[str]) -> tuple[list[str], list[str]]:
    """Return names without blanks around them, none empty, none twice; and notes on what was changed."""
    names: list[str] = []
    given_out: set[str] = set()
    last_number: Counter[str] = Counter()
    taken = {name.strip() for name in header}
    for place, raw in enumerate(header, start=1):
        given = raw.strip()
        name = given or f"column_{place}"
        base = name
        while name in given_out or (name != given and name in taken):
            last_number[base] += 1
            name = f"{base}.{last_number[base]}"
        names.append(name)
        given_out.add(name)
    return names, notes_on_names(header, names)


def notes_on_names(header: list[str], names: list[str], *, but_first: bool = False) -> list[str]:
    """Return notes on the names that `distinct_names` changed, of all columns or of those behind the first."""
    suffixed, named = [], []
    for place, (raw, name) in enumerate(zip(header, names, strict=True), start=1):
        given = raw.strip()
        if place == 1 and but_first:
            continue
        if not given:
            named.append(f"column {place} is now {name!r}")
        elif name != given:
            suffixed.append(f"{given!r} (column {place}) is now {name!r}")
    notes = []
    if suffixed:
        notes.append(f"Duplicate column names were suffixed: {', '.join(suffixed)}.")
    if named:
        notes.append(f"Columns without a name were named: {', '.join(named)}.")
    return notes


def has_unnamed_first(header: list[str]) -> bool:
    """Return whether the first of several columns has no name."""
    return len(header) > 1 and not header[0].strip()


_NAMED = re.compile(r'"?sep=([!#-/:-@[-`{-~\t])"?', re.IGNORECASE)
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}


def split_rows(lines: Iterable[str], source: object, separator: str) -> Any:
    """Return a reader of the rows of lines; a NUL byte is refused by its line."""
    return csv.reader(_without_nul(lines, source), delimiter=separator, strict=True)


def checked_rows(lines: Iterable[str], source: object, separator: str) -> Iterator[list[str]]:
    """Yield the header and the rows of lines, and an empty list for each empty line below the header.

    What has no header, rows of another length than the header, and wrong quotes are refused by line.
    """
    reader = split_rows(lines, source, separator)
    header: list[str] = []
    n_rows, line = 0, 1
    try:
        for row in reader:
            if is_blank(row):
                if header:
                    yield []
            elif not header:
                header = row
                yield row
            elif len(row) != len(header):
                is_title = len(row) > len(header) and (not n_rows or len(header) == 1)
                way_out = BELOW_A_TITLE if is_title else "Complete or quote the fields of this line."
                raise ValueError(
                    f"{source}, line {line}: every row must have {counted(len(header), 'field')} as the header has, "
                    f"got {len(row)} instead. {way_out}"
                )
            else:
                n_rows += 1
                yield row
            line = reader.line_num + 1
    except csv.Error as error:
        if "field larger than" in str(error):
            raise ValueError(
                f"{source}, line {line}: a field must have at most {csv.field_size_limit():,} characters, got a "
                "longer one in the row that begins here instead. Close its quotes, or leave the column out of the file."
            ) from None
        raise ValueError(
            f"{source}, line {line}: quotes must be closed and quotes inside a field doubled; they are not "
            f"in the row that begins here ({error}). Correct the quotes."
        ) from None
    if not header:
        raise ValueError(f"{source} must have a header and rows, got an empty file instead. Export it again.")


def found_rows(lines: Iterable[str], source: object, usual: str) -> tuple[list[str], Iterator[list[str]]]:
    """Return the notes on the separator of lines that can be read only once, and their checked rows."""
    others = iter(lines)
    first = list(islice(others, 1))
    if first and (named := named_separator(first[0].rstrip("\n"))):
        # An empty line stays, so that lines are counted as in the file.
        return [note_on_named_separator(first[0].rstrip("\n"))], checked_rows(chain(["\n"], others), source, named)

    def again() -> Iterator[str]:
        yield from first
        for line in others:
            first.append(line)
            yield line

    separator = separator_of(lambda separator: split_rows(again(), source, separator), usual)
    return notes_on_separator(separator, usual), checked_rows(chain(first, others), source, separator)


def named_separator(line: str) -> str | None:
    """Return the separator that a first line names, as Excel writes it.

    >>> named_separator("sep=;"), named_separator("sep;size")
    (';', None)
    """
    found = _NAMED.fullmatch(line)
    return found[1] if found else None


def note_on_named_separator(line: str) -> str:
    """Return the notes on a first line that names the separator."""
    return f"The first line names the separator of the columns and was left out: {line!r}."


def separator_of(rows: Callable[[str], Iterable[list[str]]], usual: str) -> str:
    """Return the usual separator, unless it gives a single column and another one several in header and first row.

    ``rows`` gives the rows as a separator splits them.
    """

    def first_two(separator: str) -> list[list[str]]:
        try:
            return list(islice((row for row in rows(separator) if not is_blank(row)), 2))
        except csv.Error:  # wrong quotes
            return []

    found = {separator: first_two(separator) for separator in SEPARATORS}
    lengths = {separator: [len(row) for row in rows] for separator, rows in found.items()}
    is_uneven = len(set(lengths[usual])) != 1  # and another one splits header and first row evenly
    better = is_uneven and any(len(set(n)) == 1 and n[0] > 1 for n in lengths.values() if len(n) > 1)
    if found[usual] and len(found[usual][0]) > 1 and not better:
        return usual
    several = [separator for separator, first in found.items() if first and all(len(row) > 1 for row in first)]
    return max(several, key=lambda separator: len(found[separator][0]), default=usual)


def notes_on_separator(separator: str, usual: str) -> list[str]:
    """Return the notes on a separator that is not the usual one."""
    if separator == usual:
        return []
    return [f"The columns were read as separated by {SEPARATORS[separator]}, not {SEPARATORS[usual]}."]


def is_blank(row: list[str]) -> bool:
    """Return whether a row is that of an empty line."""
    return not row or (len(row) == 1 and row[0] != "" and not row[0].strip(" \t"))


def _without_nul(lines: Iterable[str], source: object) -> Iterator[str]:
    for number, line in enumerate(lines, start=1):
        if "\0" in line:
            raise ValueError(
                f"{source}, line {number}: a text table must not have NUL bytes, got one here instead. Remove "
                "it, or name the encoding if this is another one (--encoding utf-16)."
            )
        yield line


_CODE = re.compile(r"[+-]?0\d+(\.\d*)?")  # such as 007, which is no number
_WHOLE = re.compile(r"[+-]?\d{16,300}")
EXACT_WHOLE_NUMBERS = 2**53  # from which not every whole number is a floating-point number


@dataclass(frozen=True, eq=False)
class TextFile:
    """A table in text, checked line by line."""

    path: Path  # for messages
    data: bytes  # in UTF-8
    separator: str
    header: list[str]  # the content of its first line
    names: list[str]  # of its columns, made unique
    n_rows: int
    notes: tuple[str, ...]  # what was changed while reading it, beside names

    def frame(self) -> pd.DataFrame:
        """Return the table: columns of plain numbers as numbers, of codes such as 007 and of all else as text."""
        border = re.escape(f'{self.separator}"\r\n').encode()
        if not re.search(rb"(?:^|[%b]) *[+-]?0\d+(?:\.\d*)? *(?=[%b]|$)" % (border, border), self.data):
            return self._parsed()
        rows = (row for row in split_rows(_lines(self.data), self.path, self.separator) if not is_blank(row))
        next(rows)
        codes = {place for row in rows for place, cell in enumerate(row) if _CODE.fullmatch(cell.strip())}
        return self._parsed(dtype={self.names[place]: str for place in sorted(codes)})

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
            whole = (cell for cell in cells if _WHOLE.fullmatch(cell))
            if rounded := next((cell for cell in whole if int(float(cell)) != int(cell)), ""):
                notes[str(name)] = (
                    f"Column {name!r} holds whole numbers of more than 15 digits, such as {rounded}, which as a "
                    f"number is rounded to {float(rounded):.0f}; --category {name!r} keeps them as they are."
                )
        return notes

    def _parsed(self, **options: Any) -> pd.DataFrame:
        try:
            frame = pd.read_csv(
                _lines(self.data),
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


def _lines(data: bytes) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8")


def text_file(data: bytes, path: Path, delimiter: str, said: Sequence[str] = ()) -> TextFile:
    """Return the table in UTF-8 text; ``delimiter`` is the usual separator of such files, ``said`` are notes on it."""
    notes, first = list(said), _lines(data).readline().rstrip("\n")
    if separator := named_separator(first):
        data = data[len(first.encode()) :]  # an empty line stays, so that lines are counted as in the file
        notes.append(note_on_named_separator(first))
    else:
        separator = separator_of(lambda separator: split_rows(_lines(data), path, separator), delimiter)
        notes += notes_on_separator(separator, delimiter)
    rows = checked_rows(_lines(data), path, separator)
    header = next(rows)
    n_rows = n_empty = pending = 0
    for row in rows:
        if row:
            n_rows, n_empty, pending = n_rows + 1, n_empty + pending, 0
        else:
            pending += 1
    if not n_rows:
        raise ValueError(
            f"{path} must have rows below its header, got {len(header)} column names and no rows instead. "
            "Add at least one row."
        )
    if n_empty:
        notes.append(f"Empty lines within the table were left out: {n_empty}.")
    return TextFile(path, data, separator, header, distinct_names(header)[0], n_rows, tuple(notes))


def _misread(path: Path, fact: str) -> ValueError:
    return ValueError(
        f"{path} must be a plain table, got something that could not be parsed instead ({fact.strip()}). "
        "Export it again with one header line and quotes around text."
    )


_SIGNED_NUMBER = re.compile(r"[-+](\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")  # such as the class -1: no formula


def csv_text(frame: pd.DataFrame) -> str:
    """Return a table as comma-separated values, none of which a spreadsheet evaluates as a formula."""

    def safe_cell(value: Any) -> Any:
        return value if not isinstance(value, str) or _SIGNED_NUMBER.fullmatch(value) else harmless(value)

    safe = frame.copy()
    for name in safe.columns:
        safe[name] = [safe_cell(value) for value in safe[name]]
    return str(safe.rename(columns=lambda name: harmless(printable(str(name)))).to_csv(index=False))


def write_csv(frame: pd.DataFrame, path: StrPath) -> None:
    """Write a table as comma-separated values, completely or not at all."""
    write_data(path, csv_text(frame))
