"""Texts of a column that differ only in case or in blanks, and may mean the same."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from whynear.tables.cells import text_counts
from whynear.utils.text import counted, listed

MOST_NAMED = 3  # values with several spellings


def note_on_spellings(column: pd.Series, what: str) -> list[str]:
    """Return the notes on texts that differ only in case or blanks; ``what`` they are taken as, in the plural.

    >>> print(*note_on_spellings(pd.Series(["M", "m", "m", "F"], name="sex"), "categories"))
    Column 'sex' holds 'm' (2 rows) and 'M' (1 row), which differ only in case or blanks: they were taken as separate \
categories. If they mean the same, write them alike in the table.
    """
    found = [spelled for spelled in _spellings(text_counts(column)).values() if len(spelled) > 1]
    if not found:
        return []
    shown = "; ".join(_named(spelled) for spelled in found[:MOST_NAMED])
    more = f"; and {counted(len(found) - MOST_NAMED, 'more such text')}" if len(found) > MOST_NAMED else ""
    return [
        f"Column {str(column.name)!r} holds {shown}{more}, which differ only in case or blanks: they were taken as "
        f"separate {what}. If they mean the same, write them alike in the table."
    ]


def note_on_blanks(column: pd.Series) -> list[str]:
    """Return the notes on categories of which some are written with blanks around them.

    >>> print(*note_on_blanks(pd.Series(["M", "M ", "F"], name="sex")))
    Column 'sex': categories that differ only in blanks around them were merged: 'M'.
    """
    counts = text_counts(column)
    merged = dict.fromkeys(text.strip() for text in counts if text != text.strip() and text.strip() in counts)
    if not merged:
        return []
    return [
        f"Column {str(column.name)!r}: categories that differ only in blanks around them were merged: "
        f"{listed(list(merged))}."
    ]


def _spellings(counts: Mapping[str, int]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for text, count in counts.items():
        found.setdefault("".join(text.casefold().split()), {})[text] = count
    return found


def _named(spelled: dict[str, int]) -> str:
    most_frequent_first = sorted(spelled.items(), key=lambda item: -item[1])
    return " and ".join(f"{text!r} ({counted(count, 'row')})" for text, count in most_frequent_first)
