"""The numbers in the rows of a stream; a number shows which sign is before the decimals."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from whynear.tables.cells import MISSING_SIGNS
from whynear.tables.written_numbers import DECIMALS, Decimal, plain_number
from whynear.utils.arrays import Array


@dataclass
class NumberReader:
    """Reads cells as numbers, missing ones as NaN.

    A comma is taken for a sign before decimals, or between thousands, only where that is given, or shown by an earlier
    number of the stream; so is a point between thousands. What contradicts the sign is refused.

    Attributes
    ----------
    decimal : {".", ","} or None
        The sign before the decimals; None until a number shows it.
    stored : collection of int
        The places of columns that are stored as numbers, and written with decimal points whatever the others have.
    """

    decimal: Decimal | None = None
    stored: Collection[int] = ()

    def read(
        self, rows: Sequence[Sequence[str]], places: Sequence[int], names: Sequence[str], numbers: Sequence[int]
    ) -> Array:
        """Return the cells of rows in some places; ``names`` of columns and ``numbers`` of rows are for errors."""
        values = np.empty((len(rows), len(places)))
        stored = [j for j, place in enumerate(places) if place in self.stored]
        texts = [j for j, place in enumerate(places) if place not in self.stored]
        for reader, columns in (self, texts), (NumberReader("."), stored):
            of_columns = [places[j] for j in columns]
            for i, (row, number) in enumerate(zip(rows, numbers, strict=True) if columns else ()):
                cells = [row[place] for place in of_columns]
                values[i, columns if stored else slice(None)] = reader._plain(cells) or [
                    reader._number(cell, names[j], number) for cell, j in zip(cells, columns, strict=True)
                ]
        for i, j in np.argwhere(np.isinf(values))[:1]:
            raise self._refused(rows[i][places[j]], names[j], numbers[i])
        return values

    def _plain(self, cells: Sequence[str]) -> list[float] | None:
        """Return the numbers of a row in the quickest way; None if they need another."""
        if self.decimal == ",":
            return None
        try:
            values = list(map(float, cells))
        except ValueError:
            return None
        if "_" in "".join(cells):  # which only Python takes between digits
            return None
        if self.decimal is None and any("." in cell for cell in cells):
            self.decimal = "."
        return values

    def number(self, text: str) -> float | None:
        """Return a text as a number; None if it is none, or if it can be two."""
        found = self._readings(text)
        if not found or (len(found) > 1 and "," in text):
            return None
        sign, value = next(iter(found.items()))
        if self.decimal is None and ("." in text or "," in text):
            self.decimal = sign
        return value

    def _readings(self, text: str) -> dict[Decimal, float]:
        """Return the number that a text can be, by the sign before its decimals."""
        signs = DECIMALS if self.decimal is None else (self.decimal,)
        return {sign: value for sign in signs if (value := number_of(text, sign)) is not None}

    def _number(self, cell: str, name: str, row: int) -> float:
        text = cell.strip()
        if text in MISSING_SIGNS:
            return math.nan
        value = self.number(text)
        if value is None:
            raise self._refused(text, name, row)
        return value

    def _refused(self, text: str, name: str, row: int) -> ValueError:
        found = self._readings(text)
        others = [sign for sign in DECIMALS if sign not in found and number_of(text, sign) is not None]
        fact, signs = "is not a number", others[:1]
        if math.inf in map(abs, found.values()):
            fact = "is not a finite number"
        elif len(found) > 1:
            fact, signs = "can be two numbers", list(found)
        options = " or ".join(f"--decimal '{sign}'" for sign in signs)
        way_out = f"Give the sign before the decimals ({options}), leave" if signs else "Leave"
        return ValueError(
            f"Column {name!r} holds {text[:60]!r} in row {row:,}, which {fact}. {way_out} the column out "
            f"(--drop {name!r}), or encode it as numbers."
        )


def number_of(text: str, decimal: Decimal) -> float | None:
    """Return a text as a number with this sign before the decimals; None if it is none.

    >>> number_of("007,5", ","), number_of("1.234,5", ","), number_of("1.234,5", ".")
    (7.5, 1234.5, None)
    """
    if (decimal == "." or "." not in text) and "_" not in text:
        try:
            return float(text if decimal == "." else text.replace(",", "."))
        except ValueError:
            pass
    return plain_number(text, decimal)
