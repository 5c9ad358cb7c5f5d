"""Tables in text files, and the columns that only number or name their rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.util import hash_array

from whynear.data.cells import holds_dates, holds_strings
from whynear.data.delimited import TextFile, has_unnamed_first, notes_on_names, text_file
from whynear.data.numbers import NOTHING_KNOWN, Decimal, Expected, Signs, decided, has_fractions, signs_of
from whynear.data.text_files import AUTO, USUAL_DELIMITER, as_utf_8, delimiter_of, opened_text
from whynear.utils.text import listed

Labels = Literal["numbers", "some numbers", "names"]
# Different whole numbers in any order number rows that were sorted or drawn anew, if so many of measured values would
# hardly be different: of 30 values below 120, two are equal in 98 of 100 cases.
FEWEST_SHUFFLED, DENSE = 30, 4
NOTES: dict[Labels, str] = {
    "numbers": "The first column has no name and only numbers the rows: it was left out.",
    "some numbers": "The first column has no name and different whole numbers, as if it numbered rows of a table that "
    "was larger or sorted otherwise: it was left out. To take it, give it a name in the file.",
    "names": "The first column has no name and a different text in every row: it was taken as the names of the rows. "
    "To take it as a column, give it a name in the file.",
}


def labels_in(column: pd.Series) -> Labels | None:
    """Return what a first column without a name holds: numbers of rows, names of rows, or neither.

    >>> [labels_in(pd.Series(values)) for values in ([1, 2, 3], [4, 9, 17], ["Fiat 128", "Volvo 142E"], [7, 7])]
    ['numbers', 'some numbers', 'names', None]
    """
    if pd.api.types.is_integer_dtype(column):
        if not (column.is_unique and column.min() >= 0):
            return None
        if not column.is_monotonic_increasing:
            is_dense = len(column) >= FEWEST_SHUFFLED and column.max() < DENSE * len(column)
            return "some numbers" if is_dense else None
        is_whole = column.iloc[0] <= 1 and column.iloc[-1] - column.iloc[0] == len(column) - 1
        return "numbers" if is_whole else "some numbers"
    if not holds_strings(column) or column.isna().any():
        return None
    names = column.astype(str).str.strip()
    return "names" if names.is_unique and not signs_of(names).fitting and not holds_dates(names) else None


def labels_of_files(found: Iterable[Labels | None]) -> Labels | None:
    """Return what the first columns of several files hold together."""
    kinds = set(found)
    if kinds <= {"numbers", "some numbers"}:
        return "some numbers" if "some numbers" in kinds else "numbers" if kinds else None
    return "names" if kinds == {"names"} else None


def labelled(frame: pd.DataFrame, column: str, labels: Labels) -> pd.DataFrame:
    """Return a table without its labels, which name the rows if they are names."""
    rest = frame.drop(columns=column)
    if labels != "names":
        return rest
    return rest.set_axis(pd.Index([str(name).strip() for name in frame[column]], dtype=object), axis=0)


_TEXT, _FLOATS, _WHOLE, _TRUTH = "text", "floats", "whole numbers", "truth values"
Opened = Callable[[Path], TextFile]


@dataclass(frozen=True)
class TextTable:
    """What text files hold, all of them taken as one table.

    Columns in ``texts`` are text: a value of them in some file is, or they are written with points between thousands,
    or floating-point numbers would round them.
    """

    columns: tuple[str, ...]  # their names, without a first one that has none and labels the rows
    labels: Labels | None  # what that one holds
    rows_of_files: tuple[int, ...]
    texts: frozenset[str]
    decimal: Decimal
    notes: tuple[str, ...]  # what was changed while reading the files

    def read(self, path: Path, encoding: str = AUTO) -> pd.DataFrame:
        """Return the rows of one of the files."""
        file = open_text_file(path, encoding)
        return self.completed(file.frame(), lambda: file)

    def completed(self, frame: pd.DataFrame, file: Callable[[], TextFile]) -> pd.DataFrame:
        """Return the rows of a file, which were parsed by themselves, as the rows of this table."""
        as_numbers = [name for name in frame.columns if name in self.texts and frame[name].notna().any()]
        numbers = [name for name in as_numbers if not holds_strings(frame[name])]
        frame = frame.assign(**file().as_written(numbers)) if numbers else frame
        first = str(frame.columns[0])
        return frame if self.labels is None or first in self.columns else labelled(frame, first, self.labels)


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Raise errors that name a file or folder which may not be read."""
    try:
        yield
    except PermissionError as error:
        if error.errno is None:  # a file of the folder is named
            raise
        raise PermissionError(f"{path} must be readable; it is not. Change its permissions.") from None


def check_same_header(first: Path, expected: Sequence[str], other: Path, names: Sequence[str]) -> None:
    """Refuse a file whose columns are not those of the first one; their order may differ."""
    lacking = [name for name in expected if name not in set(names)]
    surplus = [name for name in names if name not in set(expected)]
    facts = [f"lacks {listed(lacking)}"] * bool(lacking) + [f"has the further {listed(surplus)}"] * bool(surplus)
    if facts:
        raise ValueError(
            f"{other} {' and '.join(facts)}, compared with {first.name}. All files of a folder must have the same "
            "columns: correct this file, or move it elsewhere."
        )


def open_text_file(path: Path, encoding: str = AUTO) -> TextFile:
    """Return the table of a text file, which may be compressed."""
    with readable(path), opened_text(path) as text:
        data, notes = as_utf_8(text.unpacked.read(), path, encoding)
    return text_file(data, path, delimiter_of(path) or USUAL_DELIMITER, notes)


def read_texts(
    paths: Sequence[Path], encoding: str = AUTO, expected: Expected = NOTHING_KNOWN
) -> tuple[TextTable, list[pd.DataFrame]]:
    """Return the table of text files, and the rows of each of them."""
    opened = _opened(encoding)
    frames: list[pd.DataFrame] = []
    table = _table_of(paths, opened, expected, frames.append)
    return table, [table.completed(frame, partial(opened, path)) for path, frame in zip(paths, frames, strict=True)]


def open_texts(paths: Sequence[Path], encoding: str = AUTO, expected: Expected = NOTHING_KNOWN) -> TextTable:
    """Return the table of text files without its rows, which are read one file at a time."""
    return _table_of(paths, _opened(encoding), expected, lambda _: None)


def _opened(encoding: str) -> Opened:
    """Return what opens a file; the last one is kept, since a single file may be a pipe, which is read once."""
    return lru_cache(maxsize=1)(partial(open_text_file, encoding=encoding))


def _table_of(
    paths: Sequence[Path], opened: Opened, expected: Expected, keep: Callable[[pd.DataFrame], None]
) -> TextTable:
    columns, heads, rounding = _Columns(), list[_Head](), dict[str, str]()
    for path in paths:
        file = opened(path)
        frame = file.frame()
        heads.append(_Head.of(file, frame, expected))
        columns.add(frame, file.separator)
        rounding |= file.notes_on_rounding(frame)
        keep(frame)
    labels = _labels_of(heads)
    names = heads[0].columns(labels)
    for path, head in zip(paths, heads, strict=True):
        check_same_header(paths[0], names, path, head.columns(labels))
    if unsure := columns.unsure(expected):
        columns.forget_signs(unsure)
        for path in paths:
            columns.add_signs(opened(path).as_written(unsure))
    decimal, said = columns.decided(expected)
    texts = columns.texts(decimal)
    rounded = {name: note for name, note in rounding.items() if columns.has_floats(name) and name not in texts}
    of_files = dict.fromkeys(note for head in heads for note in head.all_notes(labels))
    of_labels = [] if labels is None else [NOTES[labels]]
    return TextTable(
        columns=tuple(names),
        labels=labels,
        rows_of_files=tuple(head.n_rows for head in heads),
        texts=(texts | rounded.keys()) & {*names},
        decimal=decimal,
        notes=(*of_files, *said, *rounded.values(), *of_labels),
    )


@dataclass(frozen=True)
class _Head:
    """The names of the columns of a file, the number of its rows, and what a first column without a name holds."""

    header: list[str]
    names: list[str]
    n_rows: int
    notes: tuple[str, ...]
    is_unnamed: bool
    labels: Labels | None
    hashes: NDArray[np.uint64]  # of the names of the rows, which may be many

    @classmethod
    def of(cls, file: TextFile, frame: pd.DataFrame, expected: Expected) -> _Head:
        first = frame[file.names[0]]
        is_unnamed = has_unnamed_first(file.header) and file.names[0] not in expected.columns
        labels = labels_in(first) if is_unnamed else None
        hashes = hash_array(np.array([str(name).strip() for name in first if labels == "names"], dtype=object))
        return cls(file.header, file.names, file.n_rows, file.notes, is_unnamed, labels, hashes)

    def columns(self, labels: Labels | None) -> list[str]:
        """Return the columns beside the labels of the rows."""
        return self.names[1:] if self.is_unnamed and labels is not None else self.names

    def all_notes(self, labels: Labels | None) -> list[str]:
        """Return notes on names, and all others."""
        is_left_out = self.is_unnamed and labels is not None
        return [*notes_on_names(self.header, self.names, but_first=is_left_out), *self.notes]


def _labels_of(heads: Sequence[_Head]) -> Labels | None:
    """Return what first columns without a name hold; names must differ in the rows of all files."""
    labels = labels_of_files(head.labels for head in heads if head.is_unnamed)
    if labels != "names":
        return labels
    hashes = np.concatenate([head.hashes for head in heads])
    return labels if all(head.is_unnamed for head in heads) and len(np.unique(hashes)) == len(hashes) else None


class _Columns:
    """How the columns of text files are written, all files together."""

    def __init__(self) -> None:
        self._kinds: dict[str, set[str]] = {}  # none of a column without values
        self._signs: dict[str, Signs] = {}
        self._fractions: set[str] = set()
        self._gaps: set[str] = set()
        self._has_semicolons = False

    def add(self, frame: pd.DataFrame, separator: str) -> None:
        """Add the rows of a file, as they are parsed by themselves."""
        self._has_semicolons |= separator == ";"
        for name, column in frame.items():
            kinds = self._kinds.setdefault(str(name), set())
            gaps = column.isna()
            if gaps.any():
                self._gaps.add(str(name))
            if gaps.all():
                continue
            if holds_strings(column):
                kind = _TEXT
            elif pd.api.types.is_float_dtype(column):
                kind = _FLOATS
            else:
                kind = _WHOLE if pd.api.types.is_integer_dtype(column) else _TRUTH
            kinds.add(kind)
            if kind == _FLOATS and (column.dropna() % 1 != 0).any():
                self._fractions.add(str(name))
        self.add_signs(frame[[name for name in frame.columns if holds_strings(frame[name])]])

    def add_signs(self, texts: pd.DataFrame) -> None:
        """Add the texts of a file."""
        for name, column in texts.items():
            found = signs_of(column)
            self._signs[str(name)] = self._signs.get(str(name), Signs()) & found
            if found.is_open and has_fractions(column):
                self._fractions.add(str(name))

    def forget_signs(self, names: Sequence[str]) -> None:
        """Remove the signs of columns that are added again."""
        self._signs = {name: signs for name, signs in self._signs.items() if name not in names}

    def unsure(self, expected: Expected) -> list[str]:
        """Return the columns of which all cells must be seen as they are written.

        These are columns that are no text in some file and text in the table and, where numbers may have decimal
        commas, those that were parsed with decimal points.
        """
        mixed = [name for name, kinds in self._kinds.items() if len(kinds) > 1 and self.is_text(name)]
        floats = [name for name in self._kinds if self.has_floats(name) and not self.is_text(name)]
        return [*mixed, *(floats if self._may_have_commas(expected) else ())]

    def has_floats(self, name: str) -> bool:
        """Return whether a column of numbers has fractions or gaps."""
        return _FLOATS in self._kinds[name] or name in self._gaps

    def is_text(self, name: str) -> bool:
        """Return whether a column is text: in some file, or because it holds numbers and truth values."""
        return _TEXT in self._kinds[name] or (_TRUTH in self._kinds[name] and len(self._kinds[name]) > 1)

    def decided(self, expected: Expected) -> tuple[Decimal, list[str]]:
        """Return the sign before the decimals, and notes."""
        signs = self._signs if self._may_have_commas(expected) else self._signs_of_texts
        return decided(signs, expected, self._usual(expected))

    def texts(self, decimal: Decimal) -> frozenset[str]:
        """Return the columns that are text where this is the sign before the decimals."""
        grouped = {name for name, signs in self._signs.items() if signs.is_open} if decimal == "," else set()
        return frozenset({*filter(self.is_text, self._kinds), *grouped})

    @property
    def _signs_of_texts(self) -> dict[str, Signs]:
        return {name: signs for name, signs in self._signs.items() if self.is_text(name)}

    def _may_have_commas(self, expected: Expected) -> bool:
        shown = [name for name, signs in self._signs_of_texts.items() if signs.shown == ","]
        return "," in (expected.decimal, self._usual(expected)) or any(map(expected.counts, shown))

    def _usual(self, expected: Expected) -> Decimal:
        """Return the sign that is likely where no column shows one."""
        numbers = {name for name in self._kinds if not self.is_text(name) or self._signs.get(name, Signs()).is_open}
        fractions = any(map(expected.counts, self._fractions & numbers))
        return "," if self._has_semicolons and not fractions else "."
