"""A table or figure that can be made: its cells, what is measured on them, and how it is drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from matplotlib.figure import Figure

from whynear.reproduce.cells import Cell, Found
from whynear.reproduce.outcome import Values
from whynear.reproduce.plans import Plan


@dataclass(frozen=True)
class Experiment:
    """All of it. Without `draw` the values themselves are drawn, published beside ours."""

    plan: Plan
    cells: list[Cell]
    measure: Callable[[Found], Values]
    draw: Callable[[Figure, Found], object] | None = None
    size: tuple[float, float] = (7.4, 3.8)
