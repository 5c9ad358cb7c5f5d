"""What the text of a column is read as, and the record of it that a model keeps."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
import pandas as pd

from whynear.data.cells import (
    ISO,
    MISSING_SIGNS,
    as_text,
    date_formats,
    date_of,
    days,
    holds_strings,
    is_code,
    is_iso,
    missing_signs,
    spelling,
)
from whynear.data.numbers import Decimal, WrittenNumbers, numbers_or_missing, written_numbers
from whynear.data.options import Reading, TableRefused
from whynear.utils.text import counted, joined, listed

Codes = Mapping[str, tuple[str, ...]]  # that stand for missing values, by column
CATEGORY, NUMBER, NUMBER_OR_MISSING, DATE = "category", "number", "number-or-missing", "date"


def as_recorded(frame: pd.DataFrame, readings: Mapping[str, str], missing: Codes) -> pd.DataFrame:
    """Return a table read as the table that a model was fitted to; what cannot be read so stays as it is.

    ``readings`` and ``missing``, by column, are those of a `TableEncoder`.
    """
    changed = {}
    for name in [name for name in frame.columns if name in readings or name in missing]:
        kind, _, how = readings.get(name, "").partition(" ")
        codes = missing.get(name, ())
        read = _recorded(frame[name].mask(is_code(frame[name], codes)), kind, how)
        changed[name] = read.mask(is_code(read, codes))
    return frame.assign(**changed) if changed else frame


def _recorded(column: pd.Series, kind: str, how: str) -> pd.Series:
    if kind == CATEGORY:
        return as_text(column)
    if kind == DATE:
        return _dates(column, how)
    if kind in (NUMBER, NUMBER_OR_MISSING) and holds_strings(column):
        cleaned = column.mask(is_code(column, tuple(MISSING_SIGNS)))
        decimal: Decimal = "," if how == "," else "."
        written, is_odd = numbers_or_missing(cleaned, decimal)
        if is_odd.any() and kind == NUMBER:
            return column
        if is_odd.any():
            warnings.warn(not_numbers_note(column, is_odd), stacklevel=3)
            return cleaned.mask(is_odd) if written is None else pd.Series(written.values, index=column.index)
        return column if written is None else pd.Series(written.values, index=column.index)
    return column


def _dates(column: pd.Series, how: str) -> pd.Series:
    """Return dates of a format, or as ISO 8601 writes them, as days since 1970-01-01; these stay what they are."""
    if pd.api.types.is_numeric_dtype(column):  # dates such as 20200131 have as many digits as their format
        n_digits = len(datetime(2000, 12, 31).strftime(how))
        if how == ISO or set(how) & set("-/. ") or (column.abs() < 10 ** (n_digits - 1)).any():
            return column
    if (values := days(column, how)) is not None:
        return pd.Series(values, index=column.index)
    others = column.map(is_iso)
    written, rest = days(column.where(others), ISO), days(column.mask(others), how)
    return column if written is None or rest is None else pd.Series(np.where(others, written, rest), column.index)


def not_numbers_note(column: pd.Series, is_odd: pd.Series) -> str:
    """Return the notes on values that are taken as missing because they are not numbers."""
    values = counted(int(is_odd.sum()), "value that is not a number was", "values that are not numbers were")
    return f"Column {str(column.name)!r}: {values} taken as missing, such as {column[is_odd].iloc[0][:30]!r}."


@dataclass
class ColumnReader:
    """Reads the columns of a table, and keeps how each was read.

    With ``reading.strict``, what is not written plainly and not named is refused, and with ``categories="onehot"``,
    plain numbers that are written as text are left what they are. ``readings`` holds for each column that a model must
    read in the same way ``"category"``, ``"number ,"`` with its sign before decimals, or ``"date %d.%m.%Y"`` with its
    format.
    """

    source: str  # the name of the table in errors
    reading: Reading
    decimal: Decimal = "."  # where a column can be read in two ways
    readings: dict[str, str] = field(default_factory=dict)
    _missing: dict[str, Counter[str]] = field(default_factory=dict)
    _written: dict[str, WrittenNumbers] = field(default_factory=dict)
    _notes: list[str] = field(default_factory=list)

    def read(self, column: pd.Series) -> pd.Series:
        """Return a column as it is to be used: numbers as float, days of dates as float, categories as text."""
        name = str(column.name)
        column = self._without_codes(column, self.reading.missing)
        if name in self.reading.category:
            self.readings[name] = CATEGORY
            return as_text(column)
        formats = [given.removeprefix(f"{name}=") for given in self.reading.date if given.startswith(f"{name}=%")]
        if formats or name in self.reading.date:
            return self._date(column, formats[-1] if formats else "")
        if name in self.reading.number and isinstance(column.dtype, pd.CategoricalDtype):
            column = column.astype(object)
        if not holds_strings(column):
            return column
        signs = missing_signs(column)
        if signs and self.reading.strict and name not in self.reading.number:
            raise TableRefused(
                f"{self.source}: column {name!r} holds {listed(signs)}, which may stand for missing values. Say so "
                f"(--missing {signs[0]!r}), or take the column as categories (--category {name!r}).",
                missing=tuple(signs),
            )
        column = self._without_codes(column, signs)
        read = self._forced_number(column) if name in self.reading.number else self._number(column)
        return self._without_codes(read, self.reading.missing)  # a number may be one of the codes

    def read_class(self, column: pd.Series) -> pd.Series:
        """Return a target with its missing values; numbers that are not written plainly only if they differ a lot."""
        column = self._without_codes(column, self.reading.missing)
        name = str(column.name)
        if name in self.reading.category:
            return as_text(column)
        if not holds_strings(column):
            return column
        column = self._without_codes(column, missing_signs(column))
        if name in self.reading.number:
            return self._forced_number(column)
        repeats = 2 * column.nunique() <= column.notna().sum()
        return column if repeats or self.reading.strict else self._number(column)

    def codes(self, columns: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Return the texts and numbers that stand for missing values in each of these columns that has some."""
        found = {name: tuple(dict.fromkeys((*self.reading.missing, *self._missing.get(name, ())))) for name in columns}
        return {name: codes for name, codes in found.items() if codes}

    def notes(self) -> list[str]:
        """Return what was read in another way than it is written, in a sentence for each way."""
        codes: dict[str, dict[str, int]] = {}
        for name, counts in self._missing.items():
            for code, count in counts.items():
                if code:  # an empty text is no sign
                    codes.setdefault(code, {})[name] = count
        found = []
        for code, columns in codes.items():
            shown = ", ".join(f"{name!r} ({count:,})" for name, count in list(columns.items())[:5])
            more = f" and {counted(len(columns) - 5, 'more column')}" if len(columns) > 5 else ""
            texts = [name for name in columns if name not in self._written and code not in self.reading.missing]
            hint = f"; --category {texts[0]!r} keeps it as a value" if texts else ""
            values = counted(sum(columns.values()), "value")
            found.append(f"{code!r} was taken as missing: {values}, in {shown}{more}{hint}.")
        ways: dict[str, list[str]] = {}
        for name, written in self._written.items():
            if written.how:
                ways.setdefault(joined(written.how), []).append(name)
        for way, names in ways.items():
            text, number = self._written[names[0]].example
            are = "is" if len(names) == 1 else "are"
            found.append(
                f"Column{'s' * (len(names) > 1)} {listed(names)} {are} written with {way}: {text!r} in {names[0]!r} "
                f"was taken as {number:.12g}."
            )
        for name, written in self._written.items():
            if written.n_censored:
                values, such = counted(written.n_censored, "value is", "values are"), f"such as {written.censored!r}"
                found.append(f"Column {name!r}: {values} only known as a limit, {such}: taken at the limit.")
        return [*found, *self._notes]

    def _without_codes(self, column: pd.Series, codes: tuple[str, ...]) -> pd.Series:
        if not codes or not (where := is_code(column, codes)).any():
            return column
        found = self._missing.setdefault(str(column.name), Counter())
        for value, count in column[where].value_counts(sort=False).items():
            found[spelling(value)] += count
        return column.where(~where)

    def _number(self, column: pd.Series) -> pd.Series:
        """Return a column of text as numbers if it holds numbers; otherwise as it is."""
        written = written_numbers(column, likely=self.decimal)
        if written is None or 2 * written.n_censored > column.notna().sum():
            return column
        is_plain = not written.how and not written.n_censored
        if is_plain and self.reading.categories == "onehot":
            return column
        if self.reading.strict and not is_plain:
            raise TableRefused(
                f"{self.source}: column {column.name!r} holds numbers that are not written plainly, such as "
                f"{written.example[0]!r}. Take it as numbers (--number {column.name!r}).",
                number=(str(column.name),),
            )
        return self._kept(column, written)

    def _forced_number(self, column: pd.Series) -> pd.Series:
        """Return a column as numbers; what is not a number is missing, and counted."""
        name = str(column.name)
        if not column.notna().any():  # it held nothing but signs for missing values
            self.readings[name] = f"{NUMBER_OR_MISSING} {self.decimal}"
            return pd.Series(np.nan, index=column.index, name=column.name)
        written, is_odd = numbers_or_missing(column, likely=self.decimal)
        if written is None:
            is_none = is_odd.sum() == column.notna().sum()
            fact = "holds no number" if is_none else "holds numbers that contradict each other"
            raise TableRefused(
                f"{self.source}: column {name!r} {fact}, such as {str(column.dropna().iloc[0])!r} (--number {name!r}). "
                f"Leave it out (--drop {name!r}).",
                drop=(name,),
            )
        if is_odd.any():
            self._notes.append(not_numbers_note(column, is_odd))
        kept = self._kept(column, written)
        self.readings[name] = f"{NUMBER_OR_MISSING} {written.decimal}"
        return kept

    def _kept(self, column: pd.Series, written: WrittenNumbers) -> pd.Series:
        name = str(column.name)
        self._written[name] = written
        if written.how or written.n_censored:
            self.readings[name] = f"{NUMBER} {written.decimal}"
        elif name not in self.reading.number and name not in self._missing:  # signs alone can make a column text
            self._notes.append(f"Column {name!r} holds numbers written as text: taken as numbers.")
        return pd.Series(written.values, index=column.index, name=column.name)

    def _date(self, column: pd.Series, form: str) -> pd.Series:
        name = str(column.name)
        column = self._without_codes(column, missing_signs(column) if holds_strings(column) else ())
        formats = (form,) if form else () if pd.api.types.is_numeric_dtype(column) else date_formats(column)
        if len(formats) == 2:
            example = next(value for value in column if isinstance(value, str))
            raise TableRefused(
                f"{self.source}: in column {name!r}, {example!r} can be two dates. Say which number is the day "
                f"(--date '{name}=%d/%m/%Y' or --date '{name}=%m/%d/%Y').",
                date=(f"{name}=%d/%m/%Y",),
            )
        values = days(column, formats[0]) if formats else None
        if values is None:
            known = column.dropna()
            raise TableRefused(
                f"{self.source}: column {name!r} holds values that are not dates{' of one format' * (not form)}, such "
                f"as {str(known.iloc[0] if len(known) else '')!r}. Give their format (--date '{name}=%Y%m%d'), or "
                f"leave the column out (--drop {name!r}).",
                drop=(name,),
            )
        self.readings[name] = f"{DATE} {formats[0]}"
        if len(found := values[~np.isnan(values)]):
            first, last = date_of(found.min()), date_of(found.max())
            self._notes.append(f"Column {name!r} holds dates from {first} to {last}: taken as days since 1970-01-01.")
        return pd.Series(values, index=column.index, name=column.name)
