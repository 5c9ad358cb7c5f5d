"""Run named checks and report all failures, not only the first."""

import traceback
import warnings
from collections.abc import Callable, Iterable
from typing import Any

Check = tuple[str, Callable[[], None]]


def run_checks(subject: str, checks: Iterable[Check]) -> None:
    """Run all checks and raise one AssertionError that lists the failures with their reasons."""
    failures, count = [], 0
    for name, check in checks:
        count += 1
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # such as non-convergence on a few rows
                check()
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            failures.append(f"- {name}: {_reason(error)} ({place.name}, line {place.lineno})")
    if failures:
        listed = "\n".join(failures)
        raise AssertionError(f"{subject} failed {len(failures)} of {count} checks:\n{listed}")


def refused(what: str, fact: str, call: Callable[..., Any], *args: Any) -> None:
    """Check that a call on bad input raises ValueError or TypeError with a message that names the fact."""
    try:
        call(*args)
    except (ValueError, TypeError) as error:
        if fact.lower() not in str(error).lower():
            raise AssertionError(f"the error for {what} does not name {fact!r}: {error}") from error
        return
    raise AssertionError(f"{what} was accepted")


def _reason(error: Exception) -> str:
    lines = str(error).strip().splitlines() or ["no message"]
    kind = "" if isinstance(error, AssertionError) else f"{type(error).__name__}: "
    return kind + " ".join(line.strip() for line in lines[:6])
