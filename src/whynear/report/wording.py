"""Words and names for people: lists that end, numbers that agree, nothing that commands a terminal."""

from whynear.metric.inputs import listed
from whynear.metric.printable import printable

__all__ = ["counted", "harmless", "listed", "printable", "shortened"]


def counted(count: int, one: str, many: str) -> str:
    """A number with the words that agree with it.

    >>> counted(1, "row repeats", "rows repeat"), counted(2_500, "row repeats", "rows repeat")
    ('1 row repeats', '2,500 rows repeat')
    """
    return f"{count:,} {one if count == 1 else many}"


def shortened(name: str, most: int = 40) -> str:
    """A name cut to fit beside a bar."""
    return name if len(name) <= most else f"{name[: most - 1]}…"


def harmless(name: str) -> str:
    """A printable name that no spreadsheet takes for a formula."""
    name = printable(name)
    return f"'{name}" if name.lstrip(" ").startswith(("=", "+", "-", "@")) else name
