"""Reports of progress: the name of a step, and the share of the work that is done."""

from collections.abc import Callable
from typing import TypeAlias

Report: TypeAlias = Callable[[str, float], None]


def silent(_step: str, _share: float) -> None:
    """Ignore the progress."""


def within(report: Report, first: float, last: float) -> Report:
    """Return a function for the reports of one part of the work, which runs from share ``first`` to ``last``.

    >>> within(lambda step, share: print(step, share), 0.5, 1.0)("read", 0.5)
    read 0.75
    """
    return lambda step, share: report(step, first + (last - first) * share)
