"""Reports of progress: the name of a step, the share of the work that is done, and finished parts."""

import sys
import time
from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

Report: TypeAlias = Callable[[str, float], None]


class Progress(Protocol):
    """Follows a piece of work: its steps, and what is finished of it."""

    def step(self, name: str, share: float, /) -> None:
        """Take the name of the current step, and the share of the work that is done."""

    def finished(self, part: str, value: Any, /) -> None:
        """Take the name and the value of a finished part."""


ProgressArgument: TypeAlias = Progress | Report | bool | None  # what the parameter ``progress`` of a function takes

SHOWN_SHARE = 0.1  # of the work between two lines of one step


def silent(_step: str, _share: float) -> None:
    """Ignore the progress."""


def listener(progress: ProgressArgument) -> Report:
    """Return the function that a parameter ``progress`` means: True writes lines to stderr, None and False nothing.

    Of an object with the methods of `Progress` it is ``step``.
    """
    if progress is None or progress is False:
        return silent
    if progress is True:
        return Lines()
    step = getattr(progress, "step", progress)
    if callable(step):
        return step
    raise TypeError(
        "progress must be True, or a function that takes the name of a step and the share done, "
        f"got {progress!r} instead."
    )


class Lines:
    """Writes a line to stderr for each step, and one for each further tenth of the work within it."""

    def __init__(self) -> None:
        self.since, self.step, self.share = time.perf_counter(), "", 0.0

    def __call__(self, step: str, share: float) -> None:
        """Report a step; text after a comma names a part of the same step."""
        name = step.partition(",")[0]
        if name == self.step and share < self.share + SHOWN_SHARE:
            return
        self.step, self.share = name, share
        shown = "".join(letter for letter in step if letter.isprintable())
        print(f"{share:4.0%} {time.perf_counter() - self.since:6.1f} s  {shown}", file=sys.stderr, flush=True)


def within(report: Report, first: float, last: float) -> Report:
    """Return a function for the reports of one part of the work, which runs from share ``first`` to ``last``.

    >>> within(lambda step, share: print(step, share), 0.5, 1.0)("read", 0.5)
    read 0.75
    """
    return lambda step, share: report(step, first + (last - first) * share)


def one_after_the_other(report: Report, count: int) -> list[Report]:
    """Return a function for the reports of each of several parts of the work, which take about the same time.

    >>> for part in one_after_the_other(lambda step, share: print(step, share), 2):
    ...     part("fit", 0.5)
    fit 0.25
    fit 0.75
    """
    return [within(report, place / count, (place + 1) / count) for place in range(count)]


class Steps:
    """Passes the steps and the finished parts of a study on to its parameter ``progress``."""

    def __init__(self, progress: ProgressArgument = None) -> None:
        self.report, self.finished = listener(progress), getattr(progress, "finished", None)

    def __call__(self, step: str, share: float) -> None:
        """Report a step, and the share of the study that is done."""
        self.report(step, share)

    def finish(self, part: str, value: Any) -> None:
        """Pass on a finished part."""
        if self.finished is not None:
            self.finished(part, value)

    def within(self, first: float, last: float) -> Report:
        """Return a function for the reports of a part of the study; see `within`."""
        return within(self.report, first, last)
