"""The numbers in the rows of a stream; a number shows which sign is before the decimals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from whynear.tables.cells import MISSING_SIGNS
from whynear.tables.written_numbers import DECIMALS, Decimal, plain_number
from whynear.utils.arrays import Array


@dataclass
class NumberReader:
    """Reads cells as numbers, missing ones as NaN.

    A comma is taken for a sign before decimals, or between thousands, only where that is said, or shown by an earlier
    number of the stream; so is a point between thousands. What contradicts the sign is refused.

    Attributes
    ----------
    decimal : {".", ","} or None
        The sign before the decimals; None until a number shows it.
    """

    decimal: Decimal | None = None

    def read(
        self, rows: Sequence[Sequence[str]], places: Sequence[int], names: Sequence[str], numbers: Sequence[int]
    ) -> Array:
        """Return the cells of rows in some places; ``names`` of columns and ``numbers`` of rows are for errors."""
        values = np.empty((len(rows), len(places)))
        for i, (row, number) in enumerate(zip(rows, numbers, strict=True)):
            cells = [row[place] for place in places]
            values[i] = self._plain(cells) or [
                self._number(cell, name, number) for cell, name in zip(cells, names, strict=True)
            ]
        for i, j in np.argwhere(np.isinf(values))[:1]:
            raise _refused(rows[i][places[j]], names[j], numbers[i], "is not a finite number", "Leave")
        return values

    def _plain(self, cells: Sequence[str]) -> list[float] | None:
        """Return the numbers of a row in the quickest way; None if they need another."""
        if self.decimal == ",":
            return None
        try:
            values = list(map(float, cells))
        except ValueError:
            return None
        if self.decimal is None and any("." in cell for cell in cells):
            self.decimal = "."
        return values

    def _number(self, cell: str, name: str, row: int) -> float:
        text = cell.strip()
        if text in MISSING_SIGNS:
            return math.nan
        signs = DECIMALS if self.decimal is None else (self.decimal,)
        found: dict[Decimal, float] = {sign: value for sign in signs if (value := number_of(text, sign)) is not None}
        if not found:
            raise self._no_number(text, name, row)
        if len(found) > 1 and "," in text:
            way_out = "Give the sign before the decimals (--decimal ',' or --decimal '.'), leave"
            raise _refused(text, name, row, "can be two numbers", way_out)
        sign = next(iter(found))
        if self.decimal is None and ("." in text or "," in text):
            self.decimal = sign
        return found[sign]

    def _no_number(self, text: str, name: str, row: int) -> ValueError:
        others = [sign for sign in DECIMALS if self.decimal not in (None, sign) and number_of(text, sign) is not None]
        way_out = "Leave"
        if others:
            way_out = f"Give the sign before the decimals (--decimal '{others[0]}'), leave"
        return _refused(text, name, row, "is not a number", way_out)


def number_of(text: str, decimal: Decimal) -> float | None:
    """Return a text as a number with this sign before the decimals; None if it is none.

    >>> number_of("007,5", ","), number_of("1.234,5", ","), number_of("1.234,5", ".")
    (7.5, 1234.5, None)
    """
    if decimal == "." or "." not in text:
        try:
            return float(text if decimal == "." else text.replace(",", "."))
        except ValueError:
            pass
    return plain_number(text, decimal)


def _refused(text: str, name: str, row: int, fact: str, way_out: str) -> ValueError:
    return ValueError(
        f"Column {name!r} holds {text[:60]!r} in row {row:,}, which {fact}. {way_out} the column out "
        f"(--drop {name!r}), or encode it as numbers."
    )
