"""The reports of a running study: the current step, the share done, and each finished part."""

from __future__ import annotations

from typing import Any

from whynear.utils.progress import ProgressArgument, Report, listener, within


class Steps:
    """Passes steps and finished parts on to the parameter ``progress`` of a study."""

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
        """Return a function for the reports of one part of the study, which runs from share ``first`` to ``last``."""
        return within(self, first, last)
