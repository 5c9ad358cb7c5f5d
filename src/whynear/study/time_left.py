"""How long the fits that are left will take, judged by those that are done."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from whynear.learn.registry import LEARNERS
from whynear.study.progress import Progress

SHORT_SECONDS = 90  # up to which seconds are said, in tens


class TimeLeft:
    """The fits of each method that are planned, with the seconds expected, and how long the finished ones took.

    A method that has been fitted takes as many times the expected seconds as it took so far, one that has not as many
    as all others.

    >>> left = TimeLeft([("gmlvq", 2.0), ("gmlvq", 2.0), ("lann", 4.0)])
    >>> left.done("gmlvq", expected=2.0, seconds=1.0)
    >>> left.seconds, left.share
    (3.0, 0.25)
    """

    def __init__(self, planned: Iterable[tuple[str, float]] = ()) -> None:
        self._left: dict[str, float] = {}
        self._expected: dict[str, float] = {}
        self._spent: dict[str, float] = {}
        for method, seconds in planned:
            self._left[method] = self._left.get(method, 0.0) + seconds

    def done(self, method: str, expected: float, seconds: float) -> None:
        """Count a fit as done, which took these seconds instead of those expected."""
        self._left[method] = max(0.0, self._left.get(method, 0.0) - expected)
        self._expected[method] = self._expected.get(method, 0.0) + expected
        self._spent[method] = self._spent.get(method, 0.0) + seconds

    @property
    def seconds(self) -> float:
        """The seconds that the fits left will take."""
        of_all = self._pace(self._expected)
        return sum(left * (self._pace([method]) or of_all or 1.0) for method, left in self._left.items())

    @property
    def share(self) -> float:
        """The share of the time that is spent, from 0 to 1."""
        spent = sum(self._spent.values())
        return spent / total if (total := spent + self.seconds) else 1.0

    def __str__(self) -> str:
        seconds = self.seconds
        if seconds <= SHORT_SECONDS:
            return f"about {max(10, 10 * round(seconds / 10))} s left"
        return f"about {round(seconds / 60)} min left"

    def _pace(self, methods: Iterable[str]) -> float:
        """Return how many times the expected seconds the finished fits took; 0 if there is none."""
        known = [method for method in methods if method in self._expected]
        expected = sum(self._expected[method] for method in known)
        return sum(self._spent[method] for method in known) / expected if expected else 0.0


class FitWatch:
    """Times the fits of a comparison, and reports each before it begins: the method, and the time left.

    Parameters
    ----------
    report : callable
        Takes the step and the share of the work done.
    planned : iterable of (str, float)
        The method of each fit, and the seconds expected.
    expected : callable
        Returns the seconds expected of a method for a number of rows.
    """

    def __init__(
        self, report: Progress, planned: Iterable[tuple[str, float]], expected: Callable[[str, int], float]
    ) -> None:
        self.report, self.left, self.expected, self.step = report, TimeLeft(planned), expected, ""

    def begin(self, step: str, _share: float = 0.0) -> None:
        """Report the step that the next fits belong to; its share of the work is that of the time."""
        self.step = step
        self.report(step, self.left.share)

    @contextmanager
    def fit(self, method: str, n_rows: int) -> Iterator[None]:
        """Report a fit and time it."""
        shown = method.upper() if method in LEARNERS else method
        self.report(f"{self.step}: {shown}, {self.left} for this step", self.left.share)
        start = time.perf_counter()
        yield
        self.left.done(method, self.expected(method, n_rows), time.perf_counter() - start)
