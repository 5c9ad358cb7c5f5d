"""What a study reports while it runs: the step under way, the share done, and each finished part."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Progress = Callable[[str, float], None]
Finished = Callable[[str, Any], None]


class Steps:
    """Passes on steps and finished parts to whoever wants them."""

    def __init__(self, progress: Progress | None = None, finished: Finished | None = None) -> None:
        self.progress, self.finished = progress, finished

    def __call__(self, step: str, share: float) -> None:
        """Report a step, and the share of the whole that is done."""
        if self.progress is not None:
            self.progress(step, share)

    def finish(self, part: str, value: Any) -> None:
        """Hand out a finished part."""
        if self.finished is not None:
            self.finished(part, value)

    def within(self, first: float, last: float) -> Progress:
        """What a part of the study reports to, which takes up this stretch of the whole."""
        return lambda step, share: self(step, first + (last - first) * share)
