"""Words and names for people: lists that end, numbers that agree, nothing that commands a terminal."""

from collections.abc import Sequence

from whynear.metric.inputs import listed
from whynear.metric.printable import printable

__all__ = ["counted", "harmless", "in_runs", "listed", "printable", "shortened"]


def counted(count: int, one: str, many: str) -> str:
    """A number with the words that agree with it.

    >>> counted(1, "row repeats", "rows repeat"), counted(2_500, "row repeats", "rows repeat")
    ('1 row repeats', '2,500 rows repeat')
    """
    return f"{count:,} {one if count == 1 else many}"


def in_runs(names: Sequence[str], order: Sequence[str]) -> str:
    """Names in their order, three or more neighbours by the first and the last of them.

    >>> in_runs(["a", "b", "c", "e"], ["a", "b", "c", "d", "e"])
    'a to c, e'
    """
    places = {name: place for place, name in enumerate(order)}
    runs: list[list[str]] = []
    for name in sorted(names, key=places.__getitem__):
        if runs and places[runs[-1][-1]] == places[name] - 1:
            runs[-1].append(name)
        else:
            runs.append([name])
    return ", ".join(f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(run) for run in runs)


def shortened(name: str, most: int = 40) -> str:
    """A name cut to fit beside a bar."""
    return name if len(name) <= most else f"{name[: most - 1]}…"


def harmless(name: str) -> str:
    """A printable name that no spreadsheet takes for a formula."""
    name = printable(name)
    return f"'{name}" if name.lstrip(" ").startswith(("=", "+", "-", "@")) else name
