"""Numbers and times in the cells of a stream."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from whynear.data.cells import ISO, MISSING_SIGNS, date_formats, days
from whynear.data.numbers import DECIMALS, Decimal, plain_number
from whynear.utils.arrays import Array


@dataclass
class NumberReader:
    """Reads cells as numbers, missing ones as NaN.

    A comma is taken for a sign before decimals, or between thousands, only where that is given, or shown by an earlier
    number of the stream; so is a point between thousands. What contradicts the sign is refused.
    """

    decimal: Decimal | None = None  # the sign before the decimals; None until a number shows it
    stored: Collection[int] = ()  # places of columns stored as numbers, which are written with points in any case

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


NUMBER = "number"  # then the sign before the decimals, once it is shown
_CLOCKS = {
    "%H:%M": re.compile(r"\d{1,2}:\d{2}"),
    "%H:%M:%S": re.compile(r"\d{1,2}:\d{2}:\d{2}"),
    "%H:%M:%S.%f": re.compile(r"\d{1,2}:\d{2}:\d{2}\.\d{1,6}"),
}


def named_form(given: str, columns: Sequence[str]) -> tuple[str, str | None]:
    """Return the column of times and the format of its dates, which may be given behind its name.

    >>> named_form("day=%d/%m/%Y", ["day", "a"]), named_form("day", ["day", "a"])
    (('day', '%d/%m/%Y'), ('day', None))
    """
    column, sign, form = given.partition("=%")
    return (column, f"%{form}") if sign and given not in columns else (given, None)


@dataclass
class TimeReader:
    """Reads the times of rows as numbers, of which the larger one is later; dates in days."""

    column: str
    form: str | None = None  # of dates, or numbers: decided by the first part of a stream that has a time

    def read(self, cells: Sequence[str], first: int) -> list[float | None]:
        """Return the times of rows, None for missing ones; ``first`` is the number of the first row, for errors."""
        texts = {row: text for row, cell in enumerate(cells, first) if (text := cell.strip()) not in MISSING_SIGNS}
        if not texts:
            return [None] * len(cells)
        values, form = _values(list(texts.values()), self.form or self._form_of(texts))
        times = dict(zip(texts, values, strict=True))
        if (wrong := next((row for row, value in times.items() if value is None), None)) is not None:
            raise self._refused(texts[wrong], wrong, f"is not {_described(form)}")
        self.form = form
        return [times.get(row) for row in range(first, first + len(cells))]

    def _form_of(self, texts: dict[int, str]) -> str:
        """Return the form of times; that of the first one if they differ."""
        row, example = next(iter(texts.items()))
        forms = _forms_of(list(texts.values())) or _forms_of([example])[:1]
        if not forms:
            raise self._refused(example, row, "is neither a number, nor a date, nor a time of a day")
        if len(forms) > 1:
            raise ValueError(
                f"Column {self.column!r} holds dates such as {example!r}, whose day and month cannot be told apart. "
                f"Give their format (--time '{self.column}={forms[0]}')."
            )
        return forms[0]

    def _refused(self, text: str, row: int, fact: str) -> ValueError:
        return ValueError(
            f"Column {self.column!r} holds {text[:60]!r} in row {row:,}, which {fact}. All times must be of one form: "
            "correct it, choose another column (--time), or give the format of its dates "
            f"(--time '{self.column}=%d.%m.%Y %H:%M')."
        )


def _forms_of(texts: list[str]) -> list[str]:
    """Return what all of these times can be: none, one, or two formats where day and month can be both."""
    if None not in _values(texts, NUMBER)[0]:
        return [NUMBER]
    clocks = [form for form, pattern in _CLOCKS.items() if all(map(pattern.fullmatch, texts))]
    return [
        *date_formats(pd.Series(texts, dtype=object)),
        *(form for form in clocks if None not in _values(texts, form)[0]),
    ]


def _values(texts: list[str], form: str) -> tuple[list[float | None], str]:
    """Return times of a form as numbers, None for those of another; and what the form is known to be after them."""
    if form.startswith(NUMBER):
        sign: Decimal | None = next((sign for sign in DECIMALS if form == NUMBER + sign), None)
        reader = NumberReader(sign)
        values = [reader.number(text) for text in texts]
        return [_finite(value) for value in values], NUMBER + (reader.decimal or "")
    found = days(pd.Series(texts, dtype=object), form)
    if found is None and len(texts) > 1:
        return [_values([text], form)[0][0] for text in texts], form
    return [None] * len(texts) if found is None else [_finite(day) for day in found.tolist()], form


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _described(form: str) -> str:
    if form.startswith(NUMBER):
        return f"a number with {form[-1]!r} before its decimals" if form != NUMBER else "a number"
    return "a date such as 2024-01-31" if form == ISO else f"a date or time of the format {form}"
