"""Dates as numbers of days since 1970-01-01."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
import pandas as pd

from whynear.data.cells import text_counts
from whynear.utils.arrays import Array

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
    known = [value for value, is_gone in zip(column, column.isna(), strict=True) if not is_gone]
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
    texts = column.map(_text, na_action="ignore")
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


def _text(value: Any) -> Any:
    """Return a whole number such as 20200131 as text; a date stays what it is."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value.strip() if isinstance(value, str) else value if is_dated(value) else str(value)
