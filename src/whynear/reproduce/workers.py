"""Run cells in processes on this machine, or on the workers of a Dask cluster."""

from __future__ import annotations

import contextlib
import os
import signal
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from joblib import Parallel, delayed, parallel_config

from whynear.reproduce.cells import Cell, Done, run_cell

Backend = Literal["processes", "dask"]


@dataclass(frozen=True)
class Failed:
    """The exception of a cell as text, because not every exception can be sent between processes."""

    reason: str
    trace: str = ""


Results = Iterator[tuple[Cell, Done | Failed]]
Workers = Callable[[Sequence[Cell]], Results]


@contextlib.contextmanager
def start_workers(backend: Backend, n_jobs: int, address: str | None) -> Iterator[Workers]:
    """Start workers; the value is a function that runs cells and yields each with its result when it is finished."""
    if n_jobs == 0:
        raise ValueError("n_jobs must be the number of processes, or -1 for all cores, got 0 instead.")
    if address is not None and backend == "processes":
        raise ValueError(f"address={address!r} needs a cluster: choose backend='dask' with it.")
    match backend:
        case "processes":
            with parallel_config(backend="loky", inner_max_num_threads=1 if n_jobs != 1 else None):
                yield partial(_run_in_processes, n_jobs)
        case "dask":
            with _dask_client(n_jobs, address) as client:
                yield partial(_run_on_dask, client)


def try_cell(cell: Cell) -> tuple[Cell, Done | Failed]:
    """Run a cell in this process, if the code here is the same as where the cell was made."""
    try:
        if Cell(cell.work, cell.arguments).name != cell.name:
            raise ValueError(
                "a worker has other versions of whynear or its dependencies. Install the same versions there."
            )
        return cell, run_cell(cell)
    except Exception as error:
        return cell, Failed(f"{type(error).__name__}: {error}", traceback.format_exc())


def _run_in_processes(n_jobs: int, cells: Sequence[Cell]) -> Results:
    parallel = Parallel(n_jobs=n_jobs, batch_size=1, return_as="generator_unordered")
    yield from parallel(delayed(_try_cell_for)(os.getpid(), cell) for cell in cells)


def _try_cell_for(parent: int, cell: Cell) -> tuple[Cell, Done | Failed]:
    """Run a cell and ignore interrupts: the parent process handles them and ends the workers."""
    if os.getpid() != parent:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return try_cell(cell)


def _run_on_dask(client: Any, cells: Sequence[Cell]) -> Results:
    """Run cells on Dask, and run those that Dask gave up once more, one at a time.

    Dask gives up a cell after several of its workers died, even if another cell in the same worker was the reason.
    """
    from distributed import as_completed

    def submit(some: Sequence[Cell]) -> dict[Any, Cell]:
        return {client.submit(try_cell, cell, pure=False): cell for cell in some}

    given_up = []
    futures = submit(cells)
    for future in as_completed(futures):
        if future.status == "finished":
            yield future.result()
        else:
            given_up.append(futures[future])
        future.release()
    for cell in given_up:
        for future in as_completed(submit([cell])):
            if future.status == "finished":
                yield future.result()
            else:
                yield cell, Failed(str(future.exception() if future.status == "error" else future.status))


@contextlib.contextmanager
def _dask_client(n_jobs: int, address: str | None) -> Iterator[Any]:
    """A client of the scheduler at the address, or of a cluster started on this machine."""
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise ImportError("Dask is not installed: pip install 'whynear[dask]'") from None
    if address is None:
        n_workers = None if n_jobs < 0 else n_jobs
        cluster = LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=None)
        with cluster, Client(cluster) as client:
            # Dask does not replace a worker that is killed while it starts: without any, work would wait forever.
            cluster.adapt(minimum=len(cluster.workers), maximum=len(cluster.workers))
            yield client
        return
    with Client(address) as client:
        if any(n_threads > 1 for n_threads in client.nthreads().values()):
            raise ValueError(
                f"address={address!r}: the workers there have several threads, which would change CPU times and sums. "
                f"Start them with one thread each: dask worker {address} --nworkers auto --nthreads 1"
            )
        yield client
