"""What single cells of a table hold: texts, codes, missing values, and dates as days since 1970-01-01."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from whynear.utils.arrays import Array
from whynear.utils.columns import as_numbers, is_number

MISSING_WORDS = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "null", "NULL")  # in every column of a text file
DASHES = frozenset({"-", "--", "---", "–", "—"})
MISSING_SIGNS = frozenset({*MISSING_WORDS, *DASHES, "?", "??", ".", "..", "n.a.", "N.A.", "#NV", "#NUM!", "#DIV/0!"})


def text_counts(column: pd.Series) -> dict[str, int]:
    """Return the different texts of a column in the order in which they occur, each with its number of rows."""
    if isinstance(column.dtype, pd.StringDtype):
        counts = column.value_counts(sort=False)
        return dict(zip(counts.index.tolist(), counts.tolist(), strict=True))
    if pd.api.types.is_numeric_dtype(column):
        return {}
    return Counter(value for value in column if isinstance(value, str))


def as_text(column: pd.Series) -> pd.Series:
    """Return values as text, whole numbers with all their digits and without a point: 1.0 is '1'."""

    def text(value: Any) -> str:
        if isinstance(value, bool | np.bool_) or not is_number(value):
            return str(value).strip()
        whole = spelling(value)
        return whole if whole.lstrip("-").isdigit() else repr(float(value))

    texts = [None if gone else text(value) for value, gone in zip(column, column.isna(), strict=True)]
    return pd.Series(texts, index=column.index, name=column.name, dtype=object)


def is_code(column: pd.Series, codes: tuple[str, ...]) -> pd.Series:
    """Return where a column holds one of the codes: the same text, or the same number."""
    where = pd.Series(False, index=column.index)
    if not codes or isinstance(column.dtype, pd.CategoricalDtype):
        return where
    if found := [text for text in text_counts(column) if text.strip() in codes]:
        where |= column.isin(found)
    numbers = as_numbers(column)
    for code in codes if numbers is not None else ():
        try:
            where |= numbers == float(code)
        except ValueError:
            continue
    return where


def missing_signs(column: pd.Series) -> tuple[str, ...]:
    """Return the signs for missing values in a column; none where other values are signs too, such as '+' and '-'."""
    texts = {text.strip() for text in text_counts(column)}
    others = texts - MISSING_SIGNS
    if others and not any(letter.isalnum() for text in others for letter in text):
        return ()
    return tuple(sorted(texts & MISSING_SIGNS))


def holds_strings(column: pd.Series) -> bool:
    """Return whether a column that is neither numeric nor categorical holds text."""
    if pd.api.types.is_numeric_dtype(column) or isinstance(column.dtype, pd.CategoricalDtype):
        return False
    if isinstance(column.dtype, pd.StringDtype):
        return bool(column.notna().any())
    return any(isinstance(value, str) for value in column)


def spelling(value: Any) -> str:
    """Return a value as text, a whole number without a point."""
    if isinstance(value, str):
        return value.strip()
    is_whole = isinstance(value, int) or float(value).is_integer()  # an int may be too large for a float
    return str(int(value)) if is_whole else str(value)


def is_missing(column: pd.Series) -> NDArray[np.bool_]:
    """Return which rows have no target."""
    return column.isna().to_numpy() | (column.astype(str).str.strip() == "").to_numpy(dtype=bool, na_value=True)


ISO = "ISO8601"
_TIME = r"(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
_ISO_PATTERN = re.compile(rf"\d{{4}}-\d{{1,2}}-\d{{1,2}}{_TIME}")
_PATTERNS = {  # each with the formats it can have
    _ISO_PATTERN: (ISO,),
    re.compile(r"\d{4}/\d{1,2}/\d{1,2}"): ("%Y/%m/%d",),
    re.compile(r"\d{1,2}\.\d{1,2}\.\d{4}"): ("%d.%m.%Y",),
    re.compile(r"\d{1,2}/\d{1,2}/\d{4}"): ("%d/%m/%Y", "%m/%d/%Y"),
}
_DAY = np.timedelta64(1, "D")
_SECONDS = 86_400  # of a day
_MOST_SECONDS = 2.0**62  # that numpy's dates hold


@dataclass(frozen=True)
class DateColumn:
    """How the days of a column of dates are written: with the time of day if the column has times."""

    has_times: bool = False

    @property
    def per_day(self) -> int:
        """How many dates of a day are written differently."""
        return _SECONDS if self.has_times else 1

    def written(self, value: Any) -> Any:
        """Return days since 1970-01-01 as a date, None for a missing value; anything else stays.

        >>> DateColumn().written(19055.0), DateColumn(has_times=True).written(19055.5), DateColumn().written("later")
        ('2022-03-04', '2022-03-04 12:00', 'later')
        """
        if not isinstance(value, int | float | np.number):
            return None if pd.isna(value) else value
        return None if np.isnan(value) else date_of(float(value), self.has_times)


def is_dated(value: object) -> bool:
    """Return whether a value is a date, or a text that looks like one.

    >>> is_dated("2020-01-31"), is_dated("31.1.2020 "), is_dated("1/2")
    (True, True, False)
    """
    if isinstance(value, str):
        return any(pattern.fullmatch(value.strip()) for pattern in _PATTERNS)
    return isinstance(value, date | np.datetime64)


def is_iso(value: object) -> bool:
    """Return whether a value is a date written as ISO 8601 does.

    >>> is_iso("2020-01-31 12:30"), is_iso("31.1.2020"), is_iso(2020)
    (True, False, False)
    """
    return isinstance(value, str) and _ISO_PATTERN.fullmatch(value.strip()) is not None


def holds_dates(column: pd.Series) -> bool:
    """Return whether all values of a column are dates, and there is one."""
    if pd.api.types.is_datetime64_any_dtype(column):
        return bool(column.notna().any())
    if pd.api.types.is_numeric_dtype(column):
        return False
    if isinstance(column.dtype, pd.StringDtype):
        return bool(texts := text_counts(column)) and all(map(is_dated, texts))
    known = column.dropna()
    return len(known) > 0 and all(map(is_dated, known))


def date_formats(column: pd.Series) -> tuple[str, ...]:
    """Return the formats in which every value of a column is a date: none, one, or two where day and month can be both.

    >>> date_formats(pd.Series(["3/4/2020", "13/4/2020"])), date_formats(pd.Series(["3/4/2020"]))
    (('%d/%m/%Y',), ('%d/%m/%Y', '%m/%d/%Y'))
    """
    texts = {text.strip() for text in text_counts(column)}
    if not texts:
        return (ISO,)
    possible = [formats for pattern, formats in _PATTERNS.items() if all(pattern.fullmatch(text) for text in texts)]
    return tuple(form for formats in possible for form in formats if days(column, form) is not None)


def days(column: pd.Series, form: str) -> Array | None:
    """Return dates as days since 1970-01-01, NaN where there is none; None if a value is not a date of this format."""

    def text(value: Any) -> Any:
        if isinstance(value, float) and value.is_integer():  # such as 20200131
            return str(int(value))
        return value.strip() if isinstance(value, str) else value if is_dated(value) else str(value)

    texts = column.map(text, na_action="ignore")
    try:
        moments = pd.to_datetime(texts.astype(object).where(texts.notna(), None), format=form, utc=True)
    except (ValueError, OverflowError):
        return None
    values = moments.dt.tz_localize(None).to_numpy()
    return np.where(np.isnat(values), math.nan, (values - np.datetime64(0, "D")) / _DAY)


def date_of(n_days: float, with_time: bool = False) -> str:
    """Return the date of a number of days since 1970-01-01, of any year; to the second, so that rounding errors vanish.

    >>> date_of(0.9), date_of(311107), date_of(0.9, with_time=True)
    ('1970-01-01', '2821-10-13', '1970-01-01 21:36')
    """
    seconds = n_days * _SECONDS
    if not abs(seconds) < _MOST_SECONDS:
        return f"{n_days:.6g} days after 1970-01-01"
    moment = np.datetime64(round(seconds), "s")
    return str(moment).replace("T", " ").removesuffix(":00") if with_time else str(moment.astype("datetime64[D]"))


def days_between(before: object, after: object) -> float | None:
    """Return how many days later the second date is, both as `date_of` writes them; None for anything else.

    >>> days_between("2022-03-04", "2022-04-01"), days_between("2022-03-04 12:00", "2022-03-04 06:00")
    (28.0, -0.25)
    """
    if not (is_iso(before) and is_iso(after)):
        return None
    found = days(pd.Series([before, after]), ISO)
    return None if found is None else float(found[1] - found[0])
