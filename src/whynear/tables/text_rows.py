"""The rows of a text with a separator, of which only a line must be in memory: split, and checked by line."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import Any

from whynear.tables.header import BELOW_A_TITLE
from whynear.utils.text import counted

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
    found = {separator: _first_two(rows(separator)) for separator in SEPARATORS}
    if found[usual] and len(found[usual][0]) > 1 and not _splits_better(found, usual):
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


def _splits_better(found: dict[str, list[list[str]]], usual: str) -> bool:
    """Return whether the usual separator splits header and first row unevenly, and another one evenly."""
    lengths = {separator: [len(row) for row in rows] for separator, rows in found.items()}
    if len(set(lengths[usual])) == 1:
        return False
    return any(len(set(counts)) == 1 and counts[0] > 1 for counts in lengths.values() if len(counts) > 1)


def _first_two(rows: Iterable[list[str]]) -> list[list[str]]:
    """Return the header and the first row; an empty list if their quotes are wrong."""
    try:
        return list(islice((row for row in rows if not is_blank(row)), 2))
    except csv.Error:
        return []


def _without_nul(lines: Iterable[str], source: object) -> Iterator[str]:
    for number, line in enumerate(lines, start=1):
        if "\0" in line:
            raise ValueError(
                f"{source}, line {number}: a text table must not have NUL bytes, got one here instead. Remove "
                "it, or name the encoding if this is another one (--encoding utf-16)."
            )
        yield line
