"""Tables in Excel workbooks: the first sheet, whose first row names the columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd

from whynear.tables.decimal_sign import NOTHING_KNOWN, Expected
from whynear.tables.header import BELOW_A_TITLE, distinct_names, has_unnamed_first, notes_on_names
from whynear.tables.row_labels import NOTES, labelled, labels_in
from whynear.utils.text import counted


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
        cells = list(_rows(book.worksheets[0]))
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


def _rows(sheet: Any) -> Iterator[Sequence[Any]]:
    """Yield the rows of a sheet without the empty cells at their ends."""
    sheet.reset_dimensions()  # those stated in a file may be wrong, and rows beyond them would be left out
    for row in sheet.iter_rows(values_only=True):
        last = max((place for place, cell in enumerate(row) if cell is not None), default=-1)
        yield row[: last + 1]
