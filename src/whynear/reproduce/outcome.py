"""Ours beside what the paper prints: every line of a table or figure, and whether it holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from whynear.reproduce.plans import Better, Plan, Published

ROUNDING = 1e-9


class Measured(NamedTuple):
    """A value of ours, with its standard deviation where there are several."""

    value: float
    deviation: float | None = None


def mean_of(values: Iterable[float]) -> Measured:
    """Mean and standard deviation."""
    each = np.array(list(values), dtype=float)
    return Measured(float(each.mean()), float(each.std()))


Values = Mapping[tuple[str, str], Measured]  # by row and column


@dataclass(frozen=True)
class Line:
    """One value: published and ours."""

    row: str
    column: str
    published: float | None
    published_deviation: float | None
    ours: float | None
    deviation: float | None
    asked: float | None
    better: Better
    digits: int

    @property
    def difference(self) -> float | None:
        """Ours less the published."""
        return None if self.published is None or self.ours is None else self.ours - self.published

    @property
    def holds(self) -> bool | None:
        """Whether ours is as good as asked; None where nothing is asked, or nothing was measured."""
        if self.asked is None or self.ours is None:
            return None
        if self.better == "equal":
            return abs(self.ours - (self.published or 0.0)) <= self.asked + ROUNDING
        sign = 1.0 if self.better == "higher" else -1.0
        return sign * self.ours >= sign * self.asked - ROUNDING


@dataclass(frozen=True)
class Outcome:
    """A table or figure as it came out."""

    name: str
    lines: tuple[Line, ...]
    seconds: float

    @property
    def short(self) -> list[Line]:
        """The lines that fall short of what is asked."""
        return [line for line in self.lines if line.holds is False]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        lines = [asdict(line) | {"difference": line.difference, "holds": line.holds} for line in self.lines]
        return {"name": self.name, "seconds": self.seconds, "lines": lines}

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> Self:
        """From what `to_dict` gave."""
        fields = Line.__annotations__
        lines = tuple(Line(**{name: line[name] for name in fields}) for line in told["lines"])
        return cls(told["name"], lines, told["seconds"])


def outcome(plan: Plan, values: Values, seconds: float) -> Outcome:
    """Put measured values beside published ones, in the order of the plan; what it does not name comes last."""
    lines = [_line(known, values.get((known.row, known.column))) for known in plan.published]
    named = {(known.row, known.column) for known in plan.published}
    for (row, column), ours in values.items():
        if (row, column) not in named:
            lines.append(Line(row, column, None, None, *_plain(ours), asked=None, better="higher", digits=plan.digits))
    return Outcome(plan.name, tuple(lines), seconds)


def _line(known: Published, ours: Measured | None) -> Line:
    value, deviation = (None, None) if ours is None else _plain(ours)
    return Line(
        row=known.row,
        column=known.column,
        published=known.value,
        published_deviation=known.deviation,
        ours=value,
        deviation=deviation,
        asked=_asked(known),
        better=known.better,
        digits=known.digits,
    )


def _plain(ours: Measured) -> tuple[float, float | None]:
    return float(ours.value), None if ours.deviation is None else float(ours.deviation)


def _asked(known: Published) -> float | None:
    """The least that ours must be, or the most; for equality, how far off it may be."""
    if known.bound is not None or known.tolerance is None or known.value is None:
        return known.bound
    if known.better == "equal":
        return known.tolerance
    return known.value - known.tolerance if known.better == "higher" else known.value + known.tolerance
