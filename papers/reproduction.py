"""Compute the cells of experiments that are missing, and write values, figures and the page."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from papers.catalog import EXPERIMENTS
from papers.computations import Cell, CellStore, RunState, Watch, run_cells
from papers.outcome import Experiment, Line, Outcome, outcome
from papers.page import RUN, known_outcomes, write_page
from whynear.report.figures import svg_text
from whynear.utils.axes import CLASS_COLORS, tidy
from whynear.utils.files import write_data
from whynear.work.workers import Engine

CELLS = "cells"
PAGE = "reproduction.md"
OURS, PUBLISHED = CLASS_COLORS[:2]
MOST_PANELS = 6


def reproduce(
    names: Sequence[str],
    out: str | Path = "reproduction",
    *,
    n_jobs: int = -1,
    engine: Engine = "processes",
    address: str | None = None,
    watch: Watch = lambda _cell, _state: None,
    finished: Callable[[Outcome], None] = lambda _outcome: None,
) -> list[Outcome]:
    """Compute tables and figures of the papers, and write each as JSON and SVG when its cells are finished.

    Parameters
    ----------
    names : sequence of str
        Keys of `EXPERIMENTS`.
    out : path
        The folder. Finished cells are saved in it, so that an interrupted run can be resumed.
    n_jobs : int
        The number of processes; -1 for all cores.
    engine : {"processes", "dask"}
        Processes on this machine, or the workers of a Dask cluster.
    address : str, optional
        The address of the scheduler of the cluster; without it, a cluster is started on this machine.
    watch : callable
        Called after every cell with the cell and the `RunState`.
    finished : callable
        Called with every outcome.

    Returns
    -------
    list of Outcome
        In the order of `names`.
    """
    folder = Path(out)
    (folder / CELLS).mkdir(parents=True, exist_ok=True)
    store = CellStore(folder / CELLS)
    experiments = {name: EXPERIMENTS[name]() for name in names}
    waiting = {name: set(experiment.cells) for name, experiment in experiments.items()}
    outcomes: dict[str, Outcome] = {}
    errors: dict[str, Exception] = {}

    def note(cell: Cell, state: RunState) -> None:
        watch(cell, state)
        for name, missing in waiting.items():
            missing.discard(cell)
            if missing or name in outcomes or name in errors:
                continue
            try:
                outcomes[name] = _finish(name, experiments[name], store, folder)
            except Exception as error:  # raised at the end, after the other experiments
                errors[name] = error
            else:
                finished(outcomes[name])

    cells = [cell for experiment in experiments.values() for cell in experiment.cells]
    try:
        run_cells(cells, store, n_jobs=n_jobs, engine=engine, address=address, watch=note)
    finally:
        write_data(folder / RUN, json.dumps(_run(folder, store), indent=1) + "\n")
        write_page(folder, folder / PAGE)
    if errors:
        name, error = next(iter(errors.items()))
        raise ValueError(f"{name} could not be computed or drawn: {error}") from error
    return [outcomes[name] for name in names]


def _run(folder: Path, store: CellStore) -> dict[str, Any]:
    """The number of cells of all outcomes in the folder, and their CPU time; a shared cell counts once."""
    cells = {cell for known in known_outcomes(folder) for cell in EXPERIMENTS[known.name]().cells}
    seconds = [done.seconds for cell in cells if (done := store.find(cell)) is not None]
    return {"cells": len(seconds), "cpu_seconds": round(sum(seconds)), "whynear": metadata.version("whynear")}


def _finish(name: str, experiment: Experiment, store: CellStore, folder: Path) -> Outcome:
    """Compute the values, draw the figure, and write both."""
    seconds = sum(done.seconds for cell in set(experiment.cells) if (done := store.find(cell)) is not None)
    result = outcome(experiment.plan, experiment.measure(store.result), round(seconds, 1))
    write_data(folder / f"{name}.svg", _drawn(name, experiment, store, result))
    write_data(folder / f"{name}.json", json.dumps(result.to_dict(), indent=1, allow_nan=False) + "\n")
    return result


def _drawn(name: str, experiment: Experiment, store: CellStore, result: Outcome) -> str:
    draw = experiment.draw
    if draw is None:
        return svg_text(name, lambda figure: draw_outcome(figure, result), outcome_size(result))
    return svg_text(name, lambda figure: draw(figure, store.result), experiment.size)


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
