"""Lines of an outcome as people read them, on the terminal and on the page."""

from __future__ import annotations

from whynear.reproduce.outcome import Line, Outcome
from whynear.reproduce.plans import Plan


def number(value: float, digits: int) -> str:
    """With so many decimals; whole numbers as such."""
    return f"{value:,.{digits}f}"


def with_deviation(value: float | None, deviation: float | None, digits: int) -> str:
    """``0.906 ± 0.022``, nothing for nothing."""
    if value is None:
        return ""
    spread = "" if deviation is None else f" ± {number(deviation, digits)}"
    return number(value, digits) + spread


def ours(line: Line) -> str:
    """Our value."""
    return with_deviation(line.ours, line.deviation, line.digits)


def published(line: Line) -> str:
    """The published value."""
    return with_deviation(line.published, line.published_deviation, line.digits)


def asked(line: Line) -> str:
    """What ours must reach; nothing where nothing is asked."""
    if line.asked is None:
        return ""
    if line.better == "equal":
        return f"within {line.asked:g}" if line.asked else "the same"
    return f"{'≥' if line.better == 'higher' else '≤'} {number(line.asked, line.digits)}"


def difference(line: Line) -> str:
    """Ours less the published, with its sign."""
    return "" if line.difference is None else f"{line.difference:+,.{line.digits}f}"


def verdict(line: Line) -> str:
    """Whether it holds; nothing where nothing is asked."""
    return {True: "yes", False: "no", None: ""}[line.holds]


def summary(outcome: Outcome) -> str:
    """How many of the lines that are judged hold."""
    judged = [line for line in outcome.lines if line.holds is not None]
    if not judged:
        return "shown, nothing to judge"
    return f"{sum(line.holds is True for line in judged)} of {len(judged)} hold"


def stand_in(plan: Plan) -> str:
    """What stands for data that cannot be had."""
    if plan.stand_in is None:
        return ""
    return f"{plan.stand_in['of']}: {plan.stand_in['why']} {plan.stand_in['by']}"
