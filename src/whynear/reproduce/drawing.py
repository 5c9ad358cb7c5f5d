"""A table as a figure: published values and ours."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from whynear.reproduce.outcome import Line, Outcome
from whynear.utils.axes import tidy

OURS, PUBLISHED = "#1f5f8b", "#e08a1e"
MOST_PANELS = 6


def outcome_size(outcome: Outcome) -> tuple[float, float]:
    """Width and height in inches, with space for every row."""
    columns, rows = _layout(outcome)
    return (2.4 + 2.0 * max(1, len(columns)), 1.3 + 0.27 * max(1, len(rows)))


def draw_outcome(figure: Figure, outcome: Outcome) -> None:
    """Draw a panel for each column and a line for each row: a hollow diamond is published, a dot is ours."""
    columns, rows = _layout(outcome)
    panels = figure.subplots(1, max(1, len(columns)), sharey=True, squeeze=False)[0]
    for ax, column in zip(panels, columns, strict=False):
        lines = {line.row: line for line in outcome.lines if line.column == column}
        for place, row in enumerate(rows):
            if row in lines:
                _draw_line(ax, lines[row], place)
        ax.set_title(column, fontsize="medium")
        tidy(ax, "both")
    panels[0].set_yticks(range(len(rows)), rows)
    panels[0].set_ylim(len(rows) - 0.4, -0.6)
    marks = [panels[0].plot([], [], **_mark(is_ours))[0] for is_ours in (False, True)]
    figure.legend(handles=marks, loc="outside upper right", ncols=2, frameon=False)


def _layout(outcome: Outcome) -> tuple[list[str], list[str]]:
    """The columns that are drawn, and the rows of the first of them."""
    by_column: dict[str, list[str]] = {}
    for line in outcome.lines:
        by_column.setdefault(line.column, []).append(line.row)
    columns = list(by_column)[:MOST_PANELS]
    shared = set(by_column[columns[0]]) if len(columns) > 1 else None
    rows = list(dict.fromkeys(line.row for line in outcome.lines if shared is None or line.row in shared))
    return columns, rows


def _draw_line(ax: Axes, line: Line, place: int) -> None:
    for value, deviation, is_ours in (
        (line.published, line.published_deviation, False),
        (line.ours, line.deviation, True),
    ):
        if value is not None:
            height = place + (0.14 if is_ours else -0.14)
            ax.errorbar(value, height, xerr=deviation or 0.0, elinewidth=1.2, **_mark(is_ours))


def _mark(is_ours: bool) -> dict[str, Any]:
    color = OURS if is_ours else PUBLISHED
    face = color if is_ours else "white"
    look: dict[str, Any] = {"color": color, "markerfacecolor": face, "linestyle": "", "markersize": 5}
    return look | {"marker": "o" if is_ours else "D", "label": "ours" if is_ours else "published"}
