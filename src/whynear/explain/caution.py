"""The sentence about unusual values that follows the reason of a prediction."""

from __future__ import annotations

from collections.abc import Sequence

from whynear.metric.unusual import UnusualValue

MOST_UNUSUAL_NAMED = 3


def with_caution(reason: str, unusual: Sequence[UnusualValue]) -> str:
    """Return the reason of a prediction, followed by the unusual values that it rests on, if there are any."""
    if not unusual:
        return reason
    more = len(unusual) - MOST_UNUSUAL_NAMED
    named = [str(value) for value in unusual[:MOST_UNUSUAL_NAMED]] + ([f"{more} more"] if more > 0 else [])
    return f"{reason}. Caution, it rests on {' and on '.join(named)}"
