"""Numbers as they are written in tables, and the sign before their decimals."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from whynear.data.cells import MISSING_SIGNS, holds_strings, text_counts
from whynear.utils.arrays import Array
from whynear.utils.columns import as_numbers, is_number
from whynear.utils.text import listed

Decimal = Literal[".", ","]
DECIMALS: tuple[Decimal, ...] = (".", ",")

_SIGNS = r"%|[$€£¥₹]|USD|EUR|GBP|CHF|JPY"
_CELL = re.compile(
    rf"(?P<limit>[<>≤≥]=?)?\s*(?P<minus>[-+])?\s*(?P<before>{_SIGNS})?\s*(?P<minus_behind>[-+])?"
    rf"(?P<digits>[\d.,' ]*\d[.,]?|\d)(?P<power>[eE][-+]?\d+)?\s*(?P<after>{_SIGNS})?"
)
_SPELLINGS = str.maketrans({"−": "-", "’": "'", "\u00a0": " ", "\u202f": " ", "\u2009": " "})
_SIMPLE = re.compile(r"[-+]?(0|[1-9]\d*)(?:([.,])(\d+))?", re.ASCII)
_PLAIN = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")


def _digits(decimal: str, groups: str) -> re.Pattern[str]:
    """Return the pattern of digits; 007 does not fit, since it may be a code."""
    return re.compile(
        rf"(?:(?:0|[1-9]\d*)(?:{decimal}\d*)?|[1-9]\d{{0,2}}(?P<group>[{groups}' ])\d{{3}}(?:(?P=group)\d{{3}})*"
        rf"(?:{decimal}\d*)?|{decimal}\d+)"
    )


_DIGITS: dict[Decimal, re.Pattern[str]] = {".": _digits(r"\.", ","), ",": _digits(",", r"\.")}


@dataclass(frozen=True, eq=False)
class WrittenNumbers:
    """A column of text as numbers; a value that is written as a limit, such as ``<5``, is taken at the limit."""

    values: Array  # NaN where the column has no value
    decimal: Decimal
    how: tuple[str, ...]  # the ways in which the numbers are not written plainly
    example: tuple[str, float]  # the first text that is not written plainly, and its number
    n_censored: int  # values that are written as a limit
    censored: str  # the first of them; empty without one


def written_numbers(column: pd.Series, decimal: Decimal | None = None, likely: Decimal = ".") -> WrittenNumbers | None:
    """Return a column of text and numbers as numbers; None if a value is not one, or if the signs contradict.

    Without ``decimal`` the sign before the decimals is found from all values; where ``1,234`` can be both, it is
    ``likely``.

    >>> written_numbers(pd.Series(["1.234,5 €", "<7 €"])).values
    array([1234.5,    7. ])
    """
    counts: Counter[str] = Counter()
    for text, count in text_counts(column).items():
        counts[text.strip()] += count
    fitting = [sign for sign in fitting_signs(counts) if decimal in (None, sign)]
    if not counts or not fitting or not _other_values_are_numbers(column):
        return None
    parts = {text: part for text in counts if (part := _parts(text)) is not None}
    units = {_sign(part) for part in parts.values() if set(part["digits"]) & set("123456789")}
    if len(units - {""}) > 1 or units == {"", "%"}:  # not of one currency, or not all of them in percent
        return None
    chosen = likely if likely in fitting else fitting[0]
    numbers = {text: _value(part, chosen) for text, part in parts.items()}
    odd = [text for text in parts if not _PLAIN.fullmatch(text) or (chosen == "," and "." in text)]
    censored = [text for text, part in parts.items() if part["limit"]]
    return WrittenNumbers(
        _values(column, numbers),
        chosen,
        _how([parts[text] for text in odd], chosen),
        (odd[0], numbers[odd[0]]) if odd else ("", math.nan),
        sum(counts[text] for text in censored),
        censored[0] if censored else "",
    )


def numbers_or_missing(
    column: pd.Series, decimal: Decimal | None = None, likely: Decimal = "."
) -> tuple[WrittenNumbers | None, pd.Series]:
    """Return the numbers of a column, 007 among them, and where other texts are taken as missing."""
    texts = text_counts(column)
    odd = {text for text in texts if not is_written_number(text) and not text.strip().isdecimal()}
    is_odd = column.isin(list(odd))
    plain = {text: text.strip().lstrip("0") or "0" for text in texts if text.strip().isdecimal()}
    readable = column.mask(is_odd).map(lambda value: plain.get(value, value) if isinstance(value, str) else value)
    if odd == set(texts) and readable.notna().any() and _other_values_are_numbers(readable):
        return WrittenNumbers(_values(readable, {}), decimal or likely, (), ("", math.nan), 0, ""), is_odd
    return written_numbers(readable, decimal, likely), is_odd


def numbers_or_texts_of_numbers(column: pd.Series, likely: Decimal = ".") -> Array:
    """Return a column as numbers, however they are written, 007 among them; NaN for what is none, or a limit.

    >>> numbers_or_texts_of_numbers(pd.Series(["1.250", "500,5"])).tolist()
    [1250.0, 500.5]
    >>> numbers_or_texts_of_numbers(pd.Series(["007", "<5"])).tolist()
    [7.0, nan]
    """
    if pd.api.types.is_numeric_dtype(column):
        return np.asarray(as_numbers(column), dtype=np.float64)
    written = written_numbers(column, likely=likely)
    if written is not None and not written.n_censored:
        return written.values
    numbers = as_numbers(column, text=True)
    read = pd.to_numeric(column.astype(str), errors="coerce") if numbers is None else numbers
    return np.asarray(read, dtype=np.float64)


def plain_number(text: str, decimal: Decimal) -> float | None:
    """Return a number that has decimals and thousands, but no currency, percent sign or limit; None for anything else.

    >>> plain_number("1.234,5", ","), plain_number("1 234,5", ","), plain_number("5 %", ","), plain_number("1.5", ",")
    (1234.5, 1234.5, None, None)
    """
    cell = _CELL.fullmatch(text.strip().translate(_SPELLINGS))
    if cell is None or cell["limit"] or cell["before"] or cell["after"]:
        return None
    digits = _DIGITS[decimal].fullmatch(cell["digits"].strip())
    if digits is None or (digits["group"] and cell["power"]):  # 1.234e5 has no thousands
        return None
    return _value(cell.groupdict(), decimal)


def is_written_number(text: str) -> bool:
    """Return whether a text by itself is a number.

    >>> is_written_number("31 %"), is_written_number("007"), is_written_number("five")
    (True, False, False)
    """
    return written_numbers(pd.Series([text], dtype=object)) is not None


def fitting_signs(texts: Iterable[str]) -> tuple[Decimal, ...]:
    """Return the signs before the decimals with which all texts are numbers.

    >>> fitting_signs(["1.234", "5"]), fitting_signs(["1.234", "5,5"]), fitting_signs(["1.2", "5,5"])
    (('.', ','), (',',), ())
    """
    fitting = DECIMALS
    for text in texts:
        signs = _signs_in(text.strip())
        if signs != DECIMALS:
            fitting = tuple(sign for sign in fitting if sign in signs)
        if not fitting:
            break
    return fitting


def _signs_in(text: str) -> tuple[Decimal, ...]:
    """Return the signs before the decimals with which a text is a number; most are found without their parts."""
    if simple := _SIMPLE.fullmatch(text):
        whole, sign, decimals = simple.groups()
        is_either = sign is None or (len(decimals) == 3 and len(whole) <= 3 and whole != "0")
        return DECIMALS if is_either else ("," if sign == "," else ".",)
    if (part := _parts(text)) is None:
        return ()
    found = {sign: _DIGITS[sign].fullmatch(part["digits"].strip()) for sign in DECIMALS}
    # 1.234e5 is no 123400000
    return tuple(sign for sign, digits in found.items() if digits and not (digits["group"] and part["power"]))


def _parts(text: str) -> dict[str, Any] | None:
    """Return the parts of a number: its digits, and what stands around them; None if a text is no number."""
    cell = _CELL.fullmatch(text.translate(_SPELLINGS))
    return None if cell is None else cell.groupdict()


def _sign(part: dict[str, Any]) -> str:
    return part["before"] or part["after"] or ""


def _value(part: dict[str, Any], decimal: Decimal) -> float:
    groups = "," if decimal == "." else "."
    digits = re.sub(rf"[{groups}' ]", "", part["digits"]).replace(decimal, ".")
    negative = "-" in (part["minus"], part["minus_behind"])
    return (-1 if negative else 1) * float(digits + (part["power"] or ""))


def _other_values_are_numbers(column: pd.Series) -> bool:
    if isinstance(column.dtype, pd.StringDtype):
        return True
    return all(is_number(value) for value in column.dropna() if not isinstance(value, str))


def _values(column: pd.Series, numbers: dict[str, float]) -> Array:
    if isinstance(column.dtype, pd.StringDtype):
        codes, texts = pd.factorize(column)
        return np.array([*(numbers[text.strip()] for text in texts), math.nan])[codes]
    read = (numbers[v.strip()] if isinstance(v, str) else math.nan if pd.isna(v) else float(v) for v in column)
    return np.fromiter(read, dtype=np.float64, count=len(column))


def _how(parts: list[dict[str, Any]], decimal: Decimal) -> tuple[str, ...]:
    found_digits = (_DIGITS[decimal].fullmatch(part["digits"].strip()) for part in parts)
    grouped = any(digits is not None and digits["group"] for digits in found_digits)
    signs = {_sign(part) for part in parts}
    found = {
        "decimal commas": decimal == "," and any("," in part["digits"] for part in parts),
        "thousands separators": grouped,
        "percent signs": "%" in signs,
        "currency signs": bool(signs - {"%", ""}),
    }
    return tuple(name for name, is_there in found.items() if is_there)


IN_WORDS: dict[Decimal, str] = {",": "decimal commas", ".": "decimal points"}
_OF_MODEL = "the table that the model was fitted to"


@dataclass(frozen=True)
class Expected:
    """How the tables of a model are written."""

    decimal: Decimal | None = None  # in the table it was fitted to; None where that is not known
    numbers: frozenset[str] | None = None  # the columns that it takes as numbers; None if any column may hold some
    plain: frozenset[str] = frozenset()  # those of them without decimal commas: decimal points in them are nothing new
    columns: frozenset[str] = frozenset()  # all that it takes

    @property
    def is_plain(self) -> bool:
        """Whether all its numbers were written plainly: a point in one of them was before decimals."""
        return bool(self.plain) and self.plain == self.numbers

    def counts(self, column: str) -> bool:
        """Return whether the numbers of a column may show how the table is written."""
        return self.numbers is None or column in self.numbers


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
    showing = {sign: [name for name, found in counted.items() if found.shown == sign] for sign in DECIMALS}
    if expected.decimal == ",":  # a point in a column that had no decimal commas is no evidence on the others
        showing["."] = [name for name in showing["."] if name not in expected.plain]
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


def decimal_of(pieces: Iterable[pd.DataFrame], expected: Expected = NOTHING_KNOWN) -> tuple[Decimal, list[str]]:
    """Return the sign before the decimals in the columns of text of a table, and notes as `decided` does.

    >>> decimal_of([pd.DataFrame({"a": ["6,10"], "b": ["4.236"], "c": [0.5]})])
    (',', [])
    """
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
