"""Words for counts, lists, sizes and differences."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Sequence
from numbers import Integral
from pathlib import Path
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


def joined(parts: Sequence[str], word: str = "and") -> str:
    """Return texts as a list in a sentence, with a word before the last one.

    >>> joined(["a"]), joined(["a", "b", "c"], "or")
    ('a', 'a, b or c')
    """
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} {word} {parts[-1]}"


def counted(count: int, one: str, many: str | None = None) -> str:
    """Return a count with the singular or the plural words; the plural ends in -s where it is not given.

    >>> counted(1, "row"), counted(3, "row"), counted(2_500, "row repeats", "rows repeat")
    ('1 row', '3 rows', '2,500 rows repeat')
    """
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


def short_number(value: float, digits: int = 4, *, signed: bool = False) -> str:
    """Return a number with so many significant digits, but with all digits before the point below a million.

    >>> short_number(0.012345), short_number(19_054.2), short_number(1_234_567.0), short_number(1_234.5, 3, signed=True)
    ('0.01235', '19054', '1.235e+06', '+1234')
    """
    whole = 10**digits - 0.5 <= abs(value) < 999_999.5
    return f"{value:{'+' * signed}{'.0f' if whole else f'.{digits}g'}}"


def probability(chance: float) -> str:
    """Return a probability with two digits, and with up to four where fewer would call it certain.

    >>> probability(0.874), probability(0.9968), probability(0.99999), probability(1.0)
    ('0.87', '0.997', 'over 0.9999', '1.00')
    """
    for digits in (2, 3, 4):
        text = f"{chance:.{digits}f}"
        if float(text) < 1 or chance >= 1:
            return text
    return "over 0.9999"


def label(value: Any) -> str:
    """Return a value as text, a missing one as such.

    >>> label(1.23456), label(19_054.2), label("red"), label(None)
    ('1.235', '19054', 'red', 'missing')
    """
    if value is None or value != value:
        return "missing"
    return short_number(value) if isinstance(value, float) else str(value)


def harmless(name: str) -> str:
    """Return a printable name that no spreadsheet evaluates as a formula."""
    name = printable(name)
    return f"'{name}" if name.lstrip(" ").startswith(("=", "+", "-", "@")) else name


_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b\s*", re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")  # of a container
UNKNOWN_MACHINE_BYTES = 4 * 10**9  # where the system does not state its memory


def bytes_of(size: str | int, name: str = "memory") -> int:
    """Return the number of bytes that a size means; an error names the parameter.

    >>> bytes_of("500MB"), bytes_of("1.5 GiB"), bytes_of(2_000_000)
    (500000000, 1610612736, 2000000)
    """
    if isinstance(size, Integral) and not isinstance(size, bool) and size > 0:
        return int(size)
    written = _SIZE.fullmatch(size) if isinstance(size, str) else None
    if written is None or not float(written[1]):
        raise ValueError(
            f"{name} must be a size such as '500MB' or '2GB', got {size!r} instead (--{name} 2GB). "
            "Write a number and its unit: MB, GB, or MiB, GiB."
        )
    return int(float(written[1]) * (1024 if written[3] else 1000) ** _POWERS[written[2].lower()])


def in_words(n_bytes: float) -> str:
    """Return a size with two or three digits.

    >>> in_words(2_000_000_000), in_words(715_000_000), in_words(1_250_000_000)
    ('2 GB', '715 MB', '1.2 GB')
    """
    if n_bytes < 1e9:
        return f"{max(1, round(n_bytes / 1e6)):.0f} MB"
    return f"{n_bytes / 1e9:.1f} GB".replace(".0 ", " ")


def machine_bytes() -> int:
    """Return how much memory the machine has, or the container that the program runs in."""
    try:
        physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        physical = UNKNOWN_MACHINE_BYTES
    try:
        limit = int(_CGROUP_LIMIT.read_text())
    except (OSError, ValueError):  # there is none, or it is "max"
        return physical
    return min(physical, limit)


ERRORS = 2.0  # standard errors from which a difference is called larger


def exceeds_error(difference: float, error: float) -> bool:
    """Return whether a difference is larger than twice its standard error.

    >>> exceeds_error(-0.05, 0.02), exceeds_error(0.03, 0.02)
    (True, False)
    """
    return abs(difference) > ERRORS * error


def beside_error(difference: float, error: float, shown: str) -> str:
    """Return a sentence, without its first word, on a difference; ``shown`` is how it is written with its error.

    >>> "The " + beside_error(0.013, 0.016, "1.3 ± 1.6 points")
    'The difference of 1.3 ± 1.6 points is not more than twice its standard error.'
    """
    size = "more" if exceeds_error(difference, error) else "not more"
    return f"difference of {shown} is {size} than twice its standard error."
