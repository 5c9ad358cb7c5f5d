"""From names to outcomes: run what is missing, measure, draw, write."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Sequence
from importlib import metadata
from operator import methodcaller
from pathlib import Path
from typing import Any

from whynear.report.figures import svg_text
from whynear.reproduce.catalog import EXPERIMENTS
from whynear.reproduce.cells import Cell, Kept
from whynear.reproduce.drawing import draw_outcome, outcome_size
from whynear.reproduce.experiment import Experiment
from whynear.reproduce.outcome import Outcome, outcome
from whynear.reproduce.page import page
from whynear.reproduce.running import Progress, Watch, run_cells
from whynear.reproduce.workers import Backend
from whynear.utils.files import write_whole

CELLS = "cells"
PAGE = "reproduction.md"
RUN = "run.json"


def reproduce(
    names: Sequence[str],
    out: str | Path = "reproduction",
    *,
    n_jobs: int = -1,
    backend: Backend = "processes",
    address: str | None = None,
    watch: Watch = lambda _cell, _progress: None,
    finished: Callable[[Outcome], None] = lambda _outcome: None,
) -> list[Outcome]:
    """Make tables and figures of the papers, and write each as JSON and SVG as soon as its cells are done.

    Parameters
    ----------
    names : sequence of str
        Keys of `EXPERIMENTS`.
    out : path
        The folder. Cells that are done are kept in it, so that a run that was stopped goes on.
    n_jobs : int
        Processes at once; -1 for all cores.
    backend : {"processes", "dask"}
        Who does the work: processes here, or the workers of a cluster.
    address : str, optional
        Where the scheduler of the cluster is; without it one is started here.
    watch : callable
        Called after every cell with the cell and how far the run is.
    finished : callable
        Called with every outcome.

    Returns
    -------
    list of Outcome
        In the order of `names`.
    """
    folder = Path(out)
    (folder / CELLS).mkdir(parents=True, exist_ok=True)
    kept = Kept(folder / CELLS)
    experiments = {name: EXPERIMENTS[name]() for name in names}
    waiting = {name: set(experiment.cells) for name, experiment in experiments.items()}
    outcomes: dict[str, Outcome] = {}
    unmade: dict[str, Exception] = {}

    def note(cell: Cell, progress: Progress) -> None:
        watch(cell, progress)
        for name, missing in waiting.items():
            missing.discard(cell)
            if missing or name in outcomes or name in unmade:
                continue
            try:
                outcomes[name] = _finish(name, experiments[name], kept, folder)
            except Exception as error:  # the others are not to blame
                unmade[name] = error
            else:
                finished(outcomes[name])

    cells = [cell for experiment in experiments.values() for cell in experiment.cells]
    try:
        run_cells(cells, kept, n_jobs=n_jobs, backend=backend, address=address, watch=note)
    finally:
        _write(folder / RUN, json.dumps(_run(folder, kept), indent=1) + "\n")
        write_page(folder, folder / PAGE)
    if unmade:
        name, error = next(iter(unmade.items()))
        raise ValueError(f"{name} could not be measured or drawn: {error}") from error
    return [outcomes[name] for name in names]


def write_page(folder: Path, path: Path) -> None:
    """Tell of all that runs have left in a folder; figures are looked for from where the page is."""
    pictures = "" if path.parent == folder else f"{folder.relative_to(path.parent).as_posix()}/"
    run = json.loads((folder / RUN).read_text(encoding="utf-8"))
    _write(path, page(known_outcomes(folder), run, pictures))


def known_outcomes(folder: Path) -> list[Outcome]:
    """What runs have left in a folder, in the order of the catalog; a file that is damaged is as none."""
    found = []
    for name in EXPERIMENTS:
        with contextlib.suppress(OSError, ValueError, LookupError, TypeError):
            found.append(Outcome.from_dict(json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))))
    return found


def _run(folder: Path, kept: Kept) -> dict[str, Any]:
    """What the cells of all known outcomes took, each counted once."""
    cells = {cell for found in known_outcomes(folder) for cell in EXPERIMENTS[found.name]().cells}
    seconds = [done.seconds for cell in cells if (done := kept.find(cell)) is not None]
    return {"cells": len(seconds), "cpu_seconds": round(sum(seconds)), "whynear": metadata.version("whynear")}


def _finish(name: str, experiment: Experiment, kept: Kept, folder: Path) -> Outcome:
    """Measure, draw and write."""
    seconds = sum(done.seconds for cell in set(experiment.cells) if (done := kept.find(cell)) is not None)
    found = outcome(experiment.plan, experiment.measure(kept.result), round(seconds, 1))
    _write(folder / f"{name}.svg", _drawn(name, experiment, kept, found))
    _write(folder / f"{name}.json", json.dumps(found.to_dict(), indent=1, allow_nan=False) + "\n")
    return found


def _drawn(name: str, experiment: Experiment, kept: Kept, found: Outcome) -> str:
    draw = experiment.draw
    if draw is None:
        return svg_text(name, lambda figure: draw_outcome(figure, found), outcome_size(found))
    return svg_text(name, lambda figure: draw(figure, kept.result), experiment.size)


def _write(path: Path, text: str) -> None:
    data = text.encode()
    write_whole(path, methodcaller("write", data), len(data))
