"""How a table or figure is made: its cells, the values computed from them, and its drawing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from matplotlib.figure import Figure

from whynear.engine.cells import Cell, ResultOf
from whynear.reproduce.outcome import Values
from whynear.reproduce.plans import Plan


@dataclass(frozen=True)
class Experiment:
    """A table or figure. Without `draw`, the figure shows the published values and ours."""

    plan: Plan
    cells: list[Cell]
    measure: Callable[[ResultOf], Values]
    draw: Callable[[Figure, ResultOf], object] | None = None
    size: tuple[float, float] = (7.4, 3.8)
