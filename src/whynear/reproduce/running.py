"""Doing cells on all cores or on a cluster, keeping each as it is done."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from joblib import Parallel, delayed, effective_n_jobs, parallel_config
from joblib.externals.loky.process_executor import TerminatedWorkerError

from whynear.reproduce.cells import Cell, Done, Kept, work_off

Backend = Literal["processes", "dask", "ray"]


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
    again is left out: the run goes on with the others, and ends with `WorkerKilled`.
    """
    if address is not None and backend == "processes":
        raise ValueError(f"address={address!r} is that of a cluster: choose the backend dask or ray with it.")
    wanted = list(dict.fromkeys(cells))
    todo = sorted((cell for cell in wanted if kept.find(cell) is None), key=lambda cell: -cell.weight)
    for cell in wanted:
        if kept.find(cell) is not None:
            watch(cell, Progress(len(wanted) - len(todo), len(wanted), None))
    if not todo:
        return
    clock, broken = _Clock(todo, len(wanted)), []

    def do(some: Sequence[Cell]) -> bool:
        try:
            for cell, done in _results(some, n_jobs, backend):
                kept.keep(cell, done)
                watch(cell, clock.after(cell))
        except TerminatedWorkerError:
            return False
        return True

    with _workers(backend, n_jobs, address):
        while not do(todo):
            rest = [cell for cell in todo if kept.find(cell) is None]
            n_at_work = 2 * effective_n_jobs(n_jobs)  # as many as joblib hands out at once
            broken += [cell for cell in rest[:n_at_work] if not do([cell])]
            todo = rest[n_at_work:]
    if broken:
        raise WorkerKilled(broken)


def _results(todo: Sequence[Cell], n_jobs: int, backend: Backend) -> Iterator[tuple[Cell, Done]]:
    """Cells with their results, as they are done."""
    if backend == "ray":  # which returns nothing before it has done all it was given
        parallel = Parallel(n_jobs=n_jobs, batch_size=1)
        portion = 4 * effective_n_jobs(n_jobs)
        for start in range(0, len(todo), portion):
            yield from parallel(delayed(_numbered)(cell) for cell in todo[start : start + portion])
        return
    parallel = Parallel(n_jobs=n_jobs, batch_size=1, return_as="generator_unordered")
    yield from parallel(delayed(_numbered)(cell) for cell in todo)


def _numbered(cell: Cell) -> tuple[Cell, Done]:
    return cell, work_off(cell)


class WorkerKilled(OSError):
    """Work that killed its worker twice: beside other work, and alone."""

    def __init__(self, broken: Sequence[Cell]) -> None:
        names = ", ".join(cell.name for cell in broken[:3]) + (f" and {len(broken) - 3} more" if broken[3:] else "")
        super().__init__(
            f"A worker process was killed twice, the second time with nothing beside it, while it did {names}. Is "
            "there enough memory? All the rest is done and kept; the same command tries again what is missing."
        )


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


@contextlib.contextmanager
def _workers(backend: Backend, n_jobs: int, address: str | None) -> Iterator[None]:
    """Let joblib hand cells to processes here, or to the workers of a cluster."""
    if backend == "processes":
        with parallel_config(backend="loky", inner_max_num_threads=1 if n_jobs != 1 else None):
            yield
        return
    with _dask(n_jobs, address) if backend == "dask" else _ray(n_jobs, address), parallel_config(backend=backend):
        yield


def _dask(n_jobs: int, address: str | None) -> Any:
    """A client of the scheduler at an address, or of workers started here."""
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise ImportError("Dask is not installed: pip install 'whynear[dask]'") from None
    if address is not None:
        return Client(address)
    stack = contextlib.ExitStack()
    n_workers = None if n_jobs < 0 else n_jobs
    cluster = LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=None)
    stack.enter_context(Client(stack.enter_context(cluster)))
    return stack


@contextlib.contextmanager
def _ray(n_jobs: int, address: str | None) -> Iterator[None]:
    """The Ray cluster at an address, or one started here."""
    try:
        import ray
        from ray.util.joblib import register_ray
    except ImportError:
        raise ImportError("Ray is not installed: pip install ray") from None
    register_ray()
    ray.init(address=address, **({} if address else {"num_cpus": None if n_jobs < 0 else n_jobs}))
    try:
        yield
    finally:
        ray.shutdown()
