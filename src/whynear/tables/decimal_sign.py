"""The sign before the decimals: decided once for a whole table, from the numbers that can be written with one only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pandas as pd

from whynear.tables.cells import MISSING_SIGNS, holds_strings, text_counts
from whynear.tables.written_numbers import DECIMALS, Decimal, fitting_signs, written_numbers
from whynear.utils.text import listed

IN_WORDS: dict[Decimal, str] = {",": "decimal commas", ".": "decimal points"}
_OF_MODEL = "the table that the model was fitted to"


@dataclass(frozen=True)
class Expected:
    """How the tables of a model are written.

    Attributes
    ----------
    decimal : {".", ","} or None
        The sign before the decimals in the table it was fitted to; None where that is not known.
    numbers : frozenset of str or None
        The columns that it takes as numbers; None if any column may hold some.
    plain : frozenset of str
        Those of them that had no decimal commas. Decimal points in them are nothing new.
    columns : frozenset of str
        All columns that it takes.
    """

    decimal: Decimal | None = None
    numbers: frozenset[str] | None = None
    plain: frozenset[str] = frozenset()
    columns: frozenset[str] = frozenset()

    @property
    def is_plain(self) -> bool:
        """Whether all its numbers were written plainly: a point in one of them was before decimals."""
        return bool(self.plain) and self.plain == self.numbers

    def counts(self, column: str) -> bool:
        """Return whether the numbers of a column may show how the table is written."""
        return self.numbers is None or column in self.numbers

    def is_usual(self, column: str, sign: Decimal) -> bool:
        """Return whether a sign in a column is no evidence on the other columns."""
        return self.decimal == "," and sign == "." and column in self.plain


NOTHING_KNOWN = Expected()


@dataclass(frozen=True)
class Signs:
    """The signs that fit all numbers of a column, and its first number that has one of them."""

    fitting: tuple[Decimal, ...] = DECIMALS
    example: str = ""

    @property
    def shown(self) -> Decimal | None:
        """The only sign that fits."""
        return self.fitting[0] if len(self.fitting) == 1 else None

    @property
    def is_open(self) -> bool:
        """Whether both signs fit, and the numbers depend on which it is, such as ``1.234``."""
        return len(self.fitting) == len(DECIMALS) and bool(self.example)

    def __and__(self, other: Signs) -> Signs:
        """Return the signs that fit two pieces of a column."""
        return Signs(tuple(sign for sign in self.fitting if sign in other.fitting), self.example or other.example)


def signs_of(column: pd.Series) -> Signs:
    """Return the signs that fit the texts of a column; none where one of them is no number.

    >>> signs_of(pd.Series(["1.234", "6,10", "?"]))
    Signs(fitting=(',',), example='1.234')
    """
    texts = [text for text in text_counts(column) if text.strip() not in MISSING_SIGNS]
    return Signs(fitting_signs(texts), next((text for text in texts if "." in text or "," in text), ""))


def has_fractions(column: pd.Series) -> bool:
    """Return whether numbers that can have both signs have decimals with a point.

    >>> has_fractions(pd.Series(["2.000", "1,234"])), has_fractions(pd.Series(["1.234", "?"]))
    (False, True)
    """
    texts = [text for text in text_counts(column) if text.strip() not in MISSING_SIGNS]
    written = written_numbers(pd.Series(texts, dtype=object), ".")
    return written is not None and bool((written.values % 1 != 0).any())


def decided(signs: Mapping[str, Signs], expected: Expected, usual: Decimal) -> tuple[Decimal, list[str]]:
    """Return the sign before the decimals of a table, and notes on numbers that could be read in another way.

    It is the one that the columns show, otherwise the expected one, otherwise ``usual``; for a model of plain numbers a
    point is before decimals.
    """
    counted = {name: found for name, found in signs.items() if expected.counts(name)}
    showing = {
        sign: [name for name, found in counted.items() if found.shown == sign and not expected.is_usual(name, sign)]
        for sign in DECIMALS
    }
    is_mixed = all(showing.values())
    shown = next((sign for sign in DECIMALS if showing[sign] and not is_mixed), None)
    undecided = {name: found.example for name, found in counted.items() if found.is_open}
    has_points = bool(undecided) and not any("," in example for example in undecided.values())
    if shown is None and not is_mixed and usual == "," and expected.is_plain and has_points:
        return ".", [f"{_read(undecided, '.')}: {_OF_MODEL} has no signs between thousands."]
    decimal = shown or expected.decimal or ("," if is_mixed else usual)
    if shown is not None and expected.decimal not in (None, shown):
        column = showing[shown][0]
        known = IN_WORDS[expected.decimal]
        return decimal, [f"Column {column!r} is written with {IN_WORDS[shown]}, {_OF_MODEL} with {known}."]
    if undecided and is_mixed:
        points, commas = (showing[sign][0] for sign in DECIMALS)
        fact = f"column {commas!r} is written with decimal commas, column {points!r} with decimal points"
        return decimal, [f"{_read(undecided, decimal)}: {fact}."]
    if undecided and shown is None and expected.decimal is not None:
        return decimal, [f"{_read(undecided, decimal)}: {_OF_MODEL} is written with {IN_WORDS[decimal]}."]
    return decimal, []


def decimal_of(frame: pd.DataFrame, expected: Expected = NOTHING_KNOWN) -> tuple[Decimal, list[str]]:
    """Return the sign before the decimals in the columns of text of a table, and notes as `decided` does.

    >>> decimal_of(pd.DataFrame({"a": ["6,10"], "b": ["4.236"], "c": [0.5]}))
    (',', [])
    """
    return decimal_of_pieces([frame], expected)


def decimal_of_pieces(pieces: Iterable[pd.DataFrame], expected: Expected) -> tuple[Decimal, list[str]]:
    """Return what `decimal_of` returns, of a table that comes a piece at a time."""
    signs: dict[str, Signs] = {}
    for frame in pieces:
        for name in frame.columns:
            if expected.counts(str(name)) and holds_strings(frame[name]):
                signs[str(name)] = signs.get(str(name), Signs()) & signs_of(frame[name])
    return decided(signs, expected, ".")


def _read(undecided: Mapping[str, str], decimal: Decimal) -> str:
    """Return how the first number of columns was read with a sign, given an example of each column."""
    example = next(iter(undecided.values()))
    written = written_numbers(pd.Series([example], dtype=object), decimal)
    assert written is not None, "both signs fit"
    columns = f"column{'s' * (len(undecided) > 1)} {listed(list(undecided))}"
    return f"{example!r} in {columns} was read as {written.values[0]:.12g}"
