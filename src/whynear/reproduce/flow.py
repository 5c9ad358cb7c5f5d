"""Compute the cells of experiments that are missing, and write values, figures and the page."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from whynear.engine.cells import Cell, CellStore
from whynear.engine.running import RunState, Watch, run_cells
from whynear.engine.workers import Engine
from whynear.report.figures import svg_text
from whynear.reproduce.catalog import EXPERIMENTS
from whynear.reproduce.drawing import draw_outcome, outcome_size
from whynear.reproduce.experiment import Experiment
from whynear.reproduce.outcome import Outcome, outcome
from whynear.reproduce.page import page
from whynear.utils.files import write_data

CELLS = "cells"
PAGE = "reproduction.md"
RUN = "run.json"


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


def write_page(folder: Path, path: Path) -> None:
    """Write the page about all outcomes in a folder; paths of figures are relative to the page."""
    pictures = "" if path.parent == folder else f"{folder.relative_to(path.parent).as_posix()}/"
    run = json.loads((folder / RUN).read_text(encoding="utf-8"))
    write_data(path, page(known_outcomes(folder), run, pictures))


def known_outcomes(folder: Path) -> list[Outcome]:
    """The outcomes in a folder, in the order of `EXPERIMENTS`, without missing and damaged files."""
    outcomes = []
    for name in EXPERIMENTS:
        with contextlib.suppress(OSError, ValueError, LookupError, TypeError):
            outcomes.append(Outcome.from_dict(json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))))
    return outcomes


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
