"""Numbers and names as a page shows them: short, finite and printable."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from whynear.utils.text import printable

STEPS = 9_999  # of a coordinate on a map, finer than any screen
SHARE_DIGITS = 9


def short(value: Any, digits: int = 4) -> float | int | None:
    """Return a number with a few significant digits, None where it is not finite.

    >>> short(0.123456), short(float("nan")), short(1234567.0)
    (0.1235, None, 1235000)
    """
    number = float(value)
    return _whole(float(f"{number:.{digits}g}")) if math.isfinite(number) else None


def decimals(value: Any, places: int) -> float | int | None:
    """Return a number with a few decimals, None where it is not finite.

    >>> decimals(2.0004, 3), decimals(0.98765, 3)
    (2, 0.988)
    """
    number = float(value)
    return _whole(round(number, places)) if math.isfinite(number) else None


def share(value: Any) -> float | int | None:
    """Return a share or a score so exactly that the percent which a page makes of it are rounded only once.

    >>> share(0.96445001)
    0.96445001
    """
    return short(value, SHARE_DIGITS)


def _whole(number: float) -> float | int:
    return int(number) if number == int(number) and abs(number) < 1e15 else number


def steps(values: Iterable[float]) -> dict[str, Any]:
    """Return coordinates as whole steps between the least and the most of them.

    >>> steps([0.0, 0.5, 2.0])
    {'least': 0, 'most': 2, 'steps': [0, 2500, 9999]}
    """
    numbers = [float(value) for value in values]
    least, most = min(numbers), max(numbers)
    scale = STEPS / (most - least) if most > least else 0.0
    return {
        "least": short(least, 6),
        "most": short(most, 6),
        "steps": [round((number - least) * scale) for number in numbers],
    }


def all_printable(value: Any) -> Any:
    """Return plain values whose texts have no control characters.

    >>> all_printable({"a": ["two\\nlines", 3]})
    {'a': ['two lines', 3]}
    """
    match value:
        case dict():
            return {key: all_printable(item) for key, item in value.items()}
        case list() | tuple():
            return [all_printable(item) for item in value]
        case str():
            return printable(value)
    return value
