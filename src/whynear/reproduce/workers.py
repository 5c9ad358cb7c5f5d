"""Who does cells: processes here, or the workers of a Dask or Ray cluster."""

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

from whynear.reproduce.cells import Cell, Done, work_off

Backend = Literal["processes", "dask", "ray"]


@dataclass(frozen=True)
class Failed:
    """What a cell raised, as text: not every exception can be sent from one process to another."""

    reason: str
    trace: str = ""


Results = Iterator[tuple[Cell, Done | Failed]]
Workers = Callable[[Sequence[Cell]], Results]


@contextlib.contextmanager
def workers(backend: Backend, n_jobs: int, address: str | None) -> Iterator[Workers]:
    """A function that is given cells and yields each with what came of it as soon as it is done."""
    if n_jobs == 0:
        raise ValueError("n_jobs must be the number of processes, or -1 for all cores, got 0 instead.")
    if address is not None and backend == "processes":
        raise ValueError(f"address={address!r} is that of a cluster: choose the backend dask or ray with it.")
    match backend:
        case "processes":
            with parallel_config(backend="loky", inner_max_num_threads=1 if n_jobs != 1 else None):
                yield partial(_by_processes, n_jobs)
        case "dask":
            with _dask_client(n_jobs, address) as client:
                yield partial(_by_dask, client)
        case "ray":
            with _ray(n_jobs, address) as ray:
                yield partial(_by_ray, ray)


def attempt(cell: Cell) -> tuple[Cell, Done | Failed]:
    """Do a cell where this is called, by the same code as where it comes from."""
    try:
        if Cell(cell.work, cell.given).name != cell.name:
            raise ValueError("a worker has another version of whynear, or of what it rests on; install the same there.")
        return cell, work_off(cell)
    except Exception as error:
        return cell, Failed(f"{type(error).__name__}: {error}", traceback.format_exc())


def _by_processes(n_jobs: int, cells: Sequence[Cell]) -> Results:
    parallel = Parallel(n_jobs=n_jobs, batch_size=1, return_as="generator_unordered")
    yield from parallel(delayed(_attempt_for)(os.getpid(), cell) for cell in cells)


def _attempt_for(parent: int, cell: Cell) -> tuple[Cell, Done | Failed]:
    """Leave an interrupt to the process that gives work and ends the others, which would only print where they were."""
    if os.getpid() != parent:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return attempt(cell)


def _by_dask(client: Any, cells: Sequence[Cell]) -> Results:
    """Dask gives what lost its worker to another one, and gives up on what lost several: that is tried alone once more.

    Whatever waits for a worker that dies is under suspicion, not only what killed it.
    """
    from distributed import as_completed

    def submit(some: Sequence[Cell]) -> dict[Any, Cell]:
        return {client.submit(attempt, cell, pure=False): cell for cell in some}

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


def _by_ray(ray: Any, cells: Sequence[Cell]) -> Results:
    """Ray tries again, three times, what lost its worker."""
    work = ray.remote(attempt)
    waiting = {work.remote(cell): cell for cell in cells}
    while waiting:
        (future,), _ = ray.wait(list(waiting))
        cell = waiting.pop(future)
        try:
            yield ray.get(future)
        except ray.exceptions.RayError as error:
            yield cell, Failed(str(error))


@contextlib.contextmanager
def _dask_client(n_jobs: int, address: str | None) -> Iterator[Any]:
    """A client of the scheduler at an address, or of workers started here."""
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
                f"The workers at {address} have several threads, which would disturb each other's times and sums. "
                f"Start them with one each: dask worker {address} --nworkers auto --nthreads 1"
            )
        yield client


@contextlib.contextmanager
def _ray(n_jobs: int, address: str | None) -> Iterator[Any]:
    """Ray, with the cluster at an address, or with one started here."""
    try:
        import ray
    except ImportError:
        raise ImportError("Ray is not installed: pip install ray") from None
    ray.init(address=address, **({} if address else {"num_cpus": None if n_jobs < 0 else n_jobs}))
    try:
        yield ray
    finally:
        ray.shutdown()
