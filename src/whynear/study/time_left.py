"""How long the fits that are left will take, judged by those that are done."""

from __future__ import annotations

from collections.abc import Iterable

from whynear.learn.registry import LEARNERS
from whynear.utils.progress import Report

SHORT_SECONDS = 90  # up to which seconds are said, in tens


class TimeLeft:
    """The fits of each method that are planned, with the seconds expected, and how long the finished ones took.

    A method that has been fitted takes as many times the expected seconds as it took so far, one that has not as many
    as all others. ``n_at_once`` is how many fits run at the same time.

    >>> left = TimeLeft([("gmlvq", 2.0), ("gmlvq", 2.0), ("lann", 4.0)])
    >>> left.done("gmlvq", expected=2.0, seconds=1.0)
    >>> left.seconds, left.share
    (3.0, 0.25)
    """

    def __init__(self, planned: Iterable[tuple[str, float]] = (), n_at_once: int = 1) -> None:
        self.n_at_once = n_at_once
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
        return self._seconds_of_fits / self.n_at_once

    @property
    def share(self) -> float:
        """The share of the time that is spent, from 0 to 1."""
        spent = sum(self._spent.values())
        return spent / total if (total := spent + self._seconds_of_fits) else 1.0

    @property
    def _seconds_of_fits(self) -> float:
        of_all = self._pace(self._expected)
        return sum(left * (self._pace([method]) or of_all or 1.0) for method, left in self._left.items())

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
    """Reports the fits of a comparison: the step, the method, and the time left.

    Parameters
    ----------
    report : callable
        Takes the step and the share of the work done.
    planned : iterable of (str, float)
        The method of each fit, and the seconds expected.
    n_at_once : int
        How many fits run at the same time.
    """

    def __init__(self, report: Report, planned: Iterable[tuple[str, float]], n_at_once: int = 1) -> None:
        self.report, self.left, self.share = report, TimeLeft(planned, n_at_once), 0.0

    def begin(self, step: str, method: str) -> None:
        """Report the first fit that is not done; the share of the work is that of the time."""
        shown = method.upper() if method in LEARNERS else method
        self.share = max(self.share, self.left.share)  # it is no smaller where fits take longer than those before
        self.report(f"{step}: {shown}, {self.left} for this step", self.share)

    def done(self, method: str, expected: float, seconds: float) -> None:
        """Count a fit as done."""
        self.left.done(method, expected, seconds)
