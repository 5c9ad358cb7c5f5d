"""Run pieces of work; save the results of cells, and continue if one of them fails."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from whynear.engine.cells import Cell, CellStore
from whynear.engine.pieces import Done, Failed, Piece
from whynear.engine.workers import Engine, Workers, start_workers


@dataclass(frozen=True)
class RunState:
    """The numbers of finished and of all cells of a run, and an estimate of the time left."""

    done: int
    total: int
    seconds_left: float | None


Watch = Callable[[Cell, RunState], None]


def results_of(
    workers: Workers, pieces: Sequence[Piece], shared: Mapping[str, Any] | None = None
) -> Iterator[tuple[Piece, Done]]:
    """Yield each piece with its result when it is finished; the first that fails ends the work with its exception."""
    for piece, done in workers.run(pieces, shared):
        if isinstance(done, Failed):
            raise done.error if done.error is not None else OSError(f"{piece.name} failed: {done.reason}")
        yield piece, done


def run_cells(
    cells: Iterable[Cell],
    store: CellStore,
    *,
    n_jobs: int = -1,
    engine: Engine = "processes",
    address: str | None = None,
    watch: Watch = lambda _cell, _state: None,
) -> None:
    """Run the cells that are not in the store, the longest first; save each result, then call `watch`.

    If a worker process is killed, the cells that were running are run again, one at a time. A cell that raises, or
    whose process is killed again, is skipped: the run continues with the others and ends with `WorkFailed`.
    """
    wanted = list(dict.fromkeys(cells))
    todo = sorted((cell for cell in wanted if store.find(cell) is None), key=lambda cell: -cell.weight)
    for cell in wanted:
        if store.find(cell) is not None:
            watch(cell, RunState(len(wanted) - len(todo), len(wanted), None))
    if not todo:
        return
    clock, failed = _Clock(todo, len(wanted)), {}
    with start_workers(engine, n_jobs, address) as workers:
        for piece, done in workers.run(todo):
            cell = cast(Cell, piece)
            if isinstance(done, Failed):
                failed[cell] = done
            else:
                store.save(cell, done)
                watch(cell, clock.after(cell))
    if failed:
        raise WorkFailed(failed, len(wanted))


class WorkFailed(OSError):
    """Some cells failed."""

    def __init__(self, failed: Mapping[Cell, Failed], total: int) -> None:
        cell, first = next(iter(failed.items()))
        super().__init__(
            f"{len(failed)} of {total} computations failed. The results of the others are saved, and the same command "
            f"repeats the failed ones. The first one, {cell.name}: {first.reason}"
        )
        self.failed = failed
        self.add_note(first.trace)


class _Clock:
    """Estimates the time left from the weights of the finished and the unfinished cells."""

    def __init__(self, todo: Sequence[Cell], total: int) -> None:
        self.start = time.monotonic()
        self.left, self.weight = sum(cell.weight for cell in todo), 0.0
        self.done, self.total = total - len(todo), total

    def after(self, cell: Cell) -> RunState:
        """The state after one more finished cell."""
        self.left, self.weight, self.done = self.left - cell.weight, self.weight + cell.weight, self.done + 1
        return RunState(self.done, self.total, (time.monotonic() - self.start) * self.left / self.weight)
