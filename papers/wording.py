"""The values of an outcome as text, for the terminal and the page."""

from __future__ import annotations

from papers.outcome import Line, Outcome
from papers.plans import Plan


def number(value: float, digits: int) -> str:
    """A number with this many decimals."""
    return f"{value:,.{digits}f}"


def with_deviation(value: float | None, deviation: float | None, digits: int) -> str:
    """A value like ``0.906 ± 0.022``; empty without a value."""
    if value is None:
        return ""
    spread = "" if deviation is None else f" ± {number(deviation, digits)}"
    return number(value, digits) + spread


def ours(line: Line) -> str:
    """Our value, with its standard deviation."""
    return with_deviation(line.ours, line.deviation, line.digits)


def published(line: Line) -> str:
    """The published value, with its standard deviation."""
    return with_deviation(line.published, line.published_deviation, line.digits)


def criterion(line: Line) -> str:
    """The criterion, like ``≥ 0.90`` or ``within 0.04``; empty without one."""
    if line.criterion is None:
        return ""
    if line.better == "equal":
        return f"within {line.criterion:g}" if line.criterion else "the same"
    return f"{'≥' if line.better == 'higher' else '≤'} {number(line.criterion, line.digits)}"


def difference(line: Line) -> str:
    """Ours minus the published value, with its sign."""
    return "" if line.difference is None else f"{line.difference:+,.{line.digits}f}"


def met(line: Line) -> str:
    """Whether the criterion is met, as yes or no; empty without one."""
    return {True: "yes", False: "no", None: ""}[line.met]


def summary(outcome: Outcome) -> str:
    """How many of the criteria are met."""
    verdicts = [line.met for line in outcome.lines if line.met is not None]
    if not verdicts:
        return "no criteria"
    return f"{sum(verdicts)} of {len(verdicts)} criteria met"


def substitute(plan: Plan) -> str:
    """Which data are not available, why, and which are used instead."""
    if plan.substitute is None:
        return ""
    return f"{plan.substitute['data']}: {plan.substitute['reason']} {plan.substitute['instead']}"
