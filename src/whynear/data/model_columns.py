"""The columns that a fitted model takes, read from tables that may be written in another way than its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from whynear.data.cells import holds_strings
from whynear.data.column_reading import NUMBER, NUMBER_OR_MISSING, Codes, ColumnReader, as_recorded
from whynear.data.encoder import TableEncoder
from whynear.data.numbers import DECIMALS, Decimal, Expected
from whynear.data.reading import NamedTable
from whynear.data.settings import Reading


@dataclass(frozen=True, eq=False)
class ModelColumns:
    """The columns of a model, and how they were written in the table it was fitted to.

    Attributes
    ----------
    names : tuple of str
        The columns.
    texts : tuple of str
        Those that hold categories.
    readings : dict of str to str
        How columns are read, and ``missing`` which of their values are missing: as in a `TableEncoder`.
    """

    names: tuple[str, ...]
    texts: tuple[str, ...]
    readings: Mapping[str, str]
    missing: Codes

    @classmethod
    def behind(
        cls, encoder: TableEncoder | None, names: Sequence[str], texts: Sequence[str] | None = None
    ) -> ModelColumns:
        """Return the columns that an encoder takes; ``texts`` may be known to other steps of a model."""
        known: Any = ({}, {}) if encoder is None else (encoder.readings or {}, encoder.missing or {})
        of_encoder = () if encoder is None else encoder.text_columns
        return cls(tuple(names), tuple(of_encoder if texts is None else texts), *known)

    @property
    def plain(self) -> list[str]:
        """The columns of numbers that were written plainly."""
        return [name for name in self.names if name not in self.texts and name not in self.readings]

    @property
    def written(self) -> dict[Decimal, list[str]]:
        """The columns of numbers that were not written plainly, by the sign before their decimals."""
        ways = {sign: (f"{NUMBER} {sign}", f"{NUMBER_OR_MISSING} {sign}") for sign in DECIMALS}
        return {sign: [name for name, how in self.readings.items() if how in ways[sign]] for sign in ways}

    @property
    def expected(self) -> Expected:
        """How the tables of the model are written."""
        signs = [sign for sign in DECIMALS if self.written[sign]]
        numbers = [*self.plain, *(name for names in self.written.values() for name in names)]
        return Expected(
            decimal=signs[0] if len(signs) == 1 else None,
            numbers=frozenset(numbers),
            plain=frozenset(self.plain),
            columns=frozenset(self.names),
        )

    def read(self, table: NamedTable) -> NamedTable:
        """Return a table with numbers read as numbers, and notes on how.

        Columns that were not written plainly are left to the encoder of the model, unless the table shows another sign
        before the decimals than the table of the model had.
        """
        expected = self.expected
        decimal, notes = table.decided(expected)
        reader = ColumnReader(table.source, Reading(), decimal)
        texts = [name for name in self.plain if name in table.frame.columns and holds_strings(table.frame[name])]
        frame = table.frame.assign(**{name: reader.read(table.frame[name]) for name in texts})
        if expected.decimal not in (None, decimal):
            other = {name: self.readings[name][:-1] + decimal for names in self.written.values() for name in names}
            frame = as_recorded(frame, other, {name: codes for name, codes in self.missing.items() if name in other})
        return replace(table, frame=frame, notes=(*notes, *reader.notes()), decimal=decimal)
