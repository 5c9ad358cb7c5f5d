"""Doing cells, keeping each as it is done, and going on when one of them fails."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from joblib import effective_n_jobs
from joblib.externals.loky.process_executor import TerminatedWorkerError

from whynear.reproduce.cells import Cell, Kept
from whynear.reproduce.workers import Backend, Failed, workers

KILLED = Failed("its worker process was killed twice, the last time with nothing else at work. Is there enough memory?")


@dataclass(frozen=True)
class Progress:
    """How far a run is."""

    done: int
    of: int
    seconds_left: float | None


Watch = Callable[[Cell, Progress], None]


def run_cells(
    cells: Iterable[Cell],
    kept: Kept,
    *,
    n_jobs: int = -1,
    backend: Backend = "processes",
    address: str | None = None,
    watch: Watch = lambda _cell, _progress: None,
) -> None:
    """Do the cells that are not kept, the longest first; each is kept as soon as it is done, then watched.

    When a worker process is killed, what was being done is done again, one cell at a time. A cell that kills its worker
    again, or raises, is left out: the run goes on with the others, and ends with `WorkFailed`.
    """
    wanted = list(dict.fromkeys(cells))
    todo = sorted((cell for cell in wanted if kept.find(cell) is None), key=lambda cell: -cell.weight)
    for cell in wanted:
        if kept.find(cell) is not None:
            watch(cell, Progress(len(wanted) - len(todo), len(wanted), None))
    if not todo:
        return
    clock, failed = _Clock(todo, len(wanted)), {}
    with workers(backend, n_jobs, address) as results:

        def do(some: Sequence[Cell]) -> bool:
            try:
                for cell, done in results(some):
                    if isinstance(done, Failed):
                        failed[cell] = done
                    else:
                        kept.keep(cell, done)
                        watch(cell, clock.after(cell))
            except TerminatedWorkerError:
                return False
            return True

        while todo and not do(todo):
            rest = [cell for cell in todo if kept.find(cell) is None and cell not in failed]
            n_at_work = 2 * effective_n_jobs(n_jobs)  # as many as joblib hands out at once
            for cell in rest[:n_at_work]:
                if not do([cell]):
                    failed[cell] = KILLED
            todo = rest[n_at_work:]
    if failed:
        raise WorkFailed(failed, len(wanted))


class WorkFailed(OSError):
    """Some cells could not be done."""

    def __init__(self, failed: Mapping[Cell, Failed], of: int) -> None:
        cell, first = next(iter(failed.items()))
        super().__init__(
            f"{len(failed)} of {of} pieces of work failed; all others are done and kept, and the same command tries "
            f"again. The first of them, {cell.name}: {first.reason}"
        )
        self.failed = failed
        self.add_note(first.trace)


class _Clock:
    """Guesses the time left from the weight of what is done and what is not."""

    def __init__(self, todo: Sequence[Cell], of: int) -> None:
        self.start = time.monotonic()
        self.left, self.weight = sum(cell.weight for cell in todo), 0.0
        self.done, self.of = of - len(todo), of

    def after(self, cell: Cell) -> Progress:
        """One more is done."""
        self.left, self.weight, self.done = self.left - cell.weight, self.weight + cell.weight, self.done + 1
        return Progress(self.done, self.of, (time.monotonic() - self.start) * self.left / self.weight)
