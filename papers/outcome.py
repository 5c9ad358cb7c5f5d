"""A table or figure: how it is made, its values, published and ours, and whether ours meet their criteria."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from matplotlib.figure import Figure

from papers.computations import Cell, ResultOf
from papers.plans import Better, Plan, Published

ROUNDING = 1e-9


class Measured(NamedTuple):
    """A value of ours, with a standard deviation if it is a mean."""

    value: float
    deviation: float | None = None


def mean_of(values: Iterable[float]) -> Measured:
    """The mean of the values, and their standard deviation."""
    each = np.array(list(values), dtype=float)
    return Measured(float(each.mean()), float(each.std()))


Values = Mapping[tuple[str, str], Measured]  # by row and column


@dataclass(frozen=True)
class Line:
    """One value of a table or figure, published and ours.

    `criterion` is the smallest value that ours may have if higher is better, the largest if lower is better, and the
    largest difference from the published value if equal is better. It is None if the value is only shown.
    """

    row: str
    column: str
    published: float | None
    published_deviation: float | None
    ours: float | None
    deviation: float | None
    criterion: float | None
    better: Better
    digits: int

    @property
    def difference(self) -> float | None:
        """Ours minus the published value."""
        return None if self.published is None or self.ours is None else self.ours - self.published

    @property
    def met(self) -> bool | None:
        """Whether ours meets the criterion; None without a criterion or without a value of ours."""
        if self.criterion is None or self.ours is None:
            return None
        if self.better == "equal":
            return abs(self.ours - (self.published or 0.0)) <= self.criterion + ROUNDING
        sign = 1.0 if self.better == "higher" else -1.0
        return sign * self.ours >= sign * self.criterion - ROUNDING


@dataclass(frozen=True)
class Outcome:
    """All values of a table or figure, and the CPU seconds of its cells."""

    name: str
    lines: tuple[Line, ...]
    seconds: float

    @property
    def missed(self) -> list[Line]:
        """The lines whose criterion is not met."""
        return [line for line in self.lines if line.met is False]

    def to_dict(self) -> dict[str, Any]:
        """The outcome as plain values for JSON."""
        lines = [asdict(line) | {"difference": line.difference, "met": line.met} for line in self.lines]
        return {"name": self.name, "seconds": self.seconds, "lines": lines}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """The outcome whose `to_dict` gave these values."""
        fields = Line.__annotations__
        lines = tuple(Line(**{name: line[name] for name in fields}) for line in values["lines"])
        return cls(values["name"], lines, values["seconds"])


def outcome(plan: Plan, values: Values, seconds: float) -> Outcome:
    """Combine our values with the published ones, in the order of the plan; values that it does not name come last."""
    lines = [_line(known, values.get((known.row, known.column))) for known in plan.published]
    named = {(known.row, known.column) for known in plan.published}
    for (row, column), ours in values.items():
        if (row, column) not in named:
            lines.append(
                Line(row, column, None, None, *_plain(ours), criterion=None, better="higher", digits=plan.digits)
            )
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
        criterion=_criterion(known),
        better=known.better,
        digits=known.digits,
    )


def _plain(ours: Measured) -> tuple[float, float | None]:
    return float(ours.value), None if ours.deviation is None else float(ours.deviation)


def _criterion(known: Published) -> float | None:
    """The criterion of a line: see `Line`."""
    if known.bound is not None or known.tolerance is None or known.value is None:
        return known.bound
    if known.better == "equal":
        return known.tolerance
    return known.value - known.tolerance if known.better == "higher" else known.value + known.tolerance


@dataclass(frozen=True)
class Experiment:
    """A table or figure. Without `draw`, the figure shows the published values and ours."""

    plan: Plan
    cells: list[Cell]
    measure: Callable[[ResultOf], Values]
    draw: Callable[[Figure, ResultOf], object] | None = None
    size: tuple[float, float] = (7.4, 3.8)
