"""The reports of a running study: the current step, the share done, and each finished part."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from whynear.utils.progress import Report, within

Finished = Callable[[str, Any], None]


class Steps:
    """Passes steps and finished parts on to two functions, if they are given."""

    def __init__(self, progress: Report | None = None, finished: Finished | None = None) -> None:
        self.progress, self.finished = progress, finished

    def __call__(self, step: str, share: float) -> None:
        """Report a step, and the share of the study that is done."""
        if self.progress is not None:
            self.progress(step, share)

    def finish(self, part: str, value: Any) -> None:
        """Pass on a finished part."""
        if self.finished is not None:
            self.finished(part, value)

    def within(self, first: float, last: float) -> Report:
        """Return a function for the reports of one part of the study, which runs from share ``first`` to ``last``."""
        return within(self, first, last)
