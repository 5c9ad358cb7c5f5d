"""Text for messages: short lists, counts, and names without control characters."""

import unicodedata
from collections.abc import Sequence
from typing import Any

_BLANKS = "\t\n\v\f\r\x85\u2028\u2029"
# Text direction marks can change the order in which a line is shown.
_REVERSING = "\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


def printable(text: str) -> str:
    """Return the text on one line, with U+FFFD for control characters and characters that cannot be encoded."""
    return text if text.isprintable() else "".join(map(_printable, text))


def _printable(letter: str) -> str:
    if letter in _BLANKS:
        return " "
    return "\ufffd" if letter in _REVERSING or unicodedata.category(letter) in ("Cc", "Cs") else letter


def listed(names: Sequence[object], most: int = 5) -> str:
    """Return the first few names in quotes, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(repr(str(name)) for name in names[:most]) + more


def counted(count: int, one: str, many: str) -> str:
    """Return a count with the singular or the plural words.

    >>> counted(1, "row repeats", "rows repeat"), counted(2_500, "row repeats", "rows repeat")
    ('1 row repeats', '2,500 rows repeat')
    """
    return f"{count:,} {one if count == 1 else many}"


def label(value: Any) -> str:
    """Return a value as text, a missing one as such.

    >>> label(1.23456), label("red"), label(None)
    ('1.235', 'red', 'missing')
    """
    if value is None or value != value:
        return "missing"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def harmless(name: str) -> str:
    """Return a printable name that no spreadsheet evaluates as a formula."""
    name = printable(name)
    return f"'{name}" if name.lstrip(" ").startswith(("=", "+", "-", "@")) else name
