"""How far a running study is: its learners, and the time left."""

from __future__ import annotations

import re
from typing import Any

_FIT = re.compile(r"compare learners, fold (\d+) of (\d+): (.+), about .* left for this step")
LEAST_SHARE = 0.1  # of the work, from which the time left follows from the time spent


def learners_after(learners: dict[str, int], step: str) -> dict[str, int]:
    """Return for each learner the number of folds that its fits have reached, after another step.

    The learner of the current step comes last.

    >>> first = learners_after({}, "compare learners, fold 1 of 5: GMLVQ, about 20 s left for this step")
    >>> learners_after(first, "compare learners, fold 2 of 5: NCA with kNN, about 10 s left for this step")
    {'GMLVQ': 1, 'NCA with kNN': 2}
    """
    found = _FIT.fullmatch(step)
    if found is None:
        return learners
    others = {name: fold for name, fold in learners.items() if name != found[3]}
    return {**others, found[3]: max(int(found[1]), learners.get(found[3], 0))}


def seconds_left(share: float, spent: float, expected: float | None) -> float | None:
    """Return how many seconds are left: by the share done, before that by the estimate; None where neither is known.

    >>> seconds_left(0.5, 20.0, 100.0), seconds_left(0.05, 20.0, 100.0), seconds_left(0.05, 20.0, None)
    (20.0, 80.0, None)
    """
    if share >= LEAST_SHARE:
        return spent * (1 - share) / share
    return None if expected is None else max(0.0, expected - spent)


def progress_of(row: dict[str, Any], now: float) -> dict[str, Any] | None:
    """Return the progress of a study, given as a row of the store; None before it was started."""
    if row["begun"] is None:
        return None
    spent = (row["ended"] or now) - row["begun"]
    current = next(reversed(row["learners"]), None) if _FIT.fullmatch(row["step"]) else None
    return {
        "step": row["step"],
        "share": row["share"],
        "seconds": spent,
        "seconds_left": seconds_left(row["share"], spent, row["expected"]) if row["state"] == "running" else None,
        "learners": [
            {"name": name, "folds": folds, "current": name == current} for name, folds in row["learners"].items()
        ],
    }
