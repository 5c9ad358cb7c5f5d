"""The times of the rows of a stream: numbers, dates, or times of a day, all of one form."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from whynear.stream.numbers import NumberReader
from whynear.tables.cells import MISSING_SIGNS
from whynear.tables.dates import ISO, date_formats, days
from whynear.tables.written_numbers import DECIMALS, Decimal

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
    """Reads the times of rows as numbers, of which the larger one is later; dates in days.

    Attributes
    ----------
    column : str
        The name of the column.
    form : str or None
        What the times are: the format of dates, or numbers. The first part of a stream that has a time decides.
    """

    column: str
    form: str | None = None

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
