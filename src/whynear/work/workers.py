"""Where pieces of work are run: here, in processes, or on a Dask cluster."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from whynear.utils.threads import n_threads
from whynear.work.pieces import Done, Failed, Piece, Task, try_piece, versions
from whynear.work.processes import Processes

SECONDS_TO_CONNECT = 10
SECONDS_FOR_A_WORKER = 30


class DaskCluster:
    """Runs pieces on the workers of a cluster; ``client`` is a `distributed.Client` of its scheduler."""

    def __init__(self, client: Any) -> None:
        self.client = client

    @property
    def n_workers(self) -> int:
        """The number of workers now."""
        return max(1, len(self.client.nthreads()))

    def run(
        self, pieces: Sequence[Piece], shared: Mapping[str, Any] | None = None
    ) -> Iterator[tuple[Piece, Done | Failed]]:
        """Yield each piece with its result, and run those that Dask gave up once more, one at a time.

        Dask gives up a piece after several of its workers died, even if another piece in the same worker was the
        reason. What pieces share is sent to every worker once. Where the caller stops, work not yet begun is cancelled.
        """
        given_up = []
        for piece, done in self._finished(pieces, shared):
            if isinstance(done, Exception):
                given_up.append(piece)
            else:
                yield piece, done
        for piece in given_up:
            for _, done in self._finished([piece], shared):
                yield piece, Failed(f"{type(done).__name__}: {done}") if isinstance(done, Exception) else done

    def _finished(
        self, pieces: Sequence[Piece], shared: Mapping[str, Any] | None
    ) -> Iterator[tuple[Piece, Done | Failed | Exception]]:
        from distributed import as_completed

        client, task = self.client, Task(versions(), 1)
        sent = {name: client.scatter(value, broadcast=True, hash=False) for name, value in (shared or {}).items()}
        futures = {client.submit(try_piece, piece, task, sent, pure=False): piece for piece in pieces}
        try:
            for future in as_completed(futures):
                try:
                    yield futures[future], future.result()
                except Exception as error:  # its workers died, or do not have whynear
                    yield futures[future], error
                future.release()
        finally:
            client.cancel(list(futures), force=True)


@contextlib.contextmanager
def connected(n_workers: int | None, address: str | None) -> Iterator[DaskCluster]:
    """Return the cluster at the address, or one that is started on this machine."""
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise ImportError("Dask is not installed: pip install 'whynear[dask]'") from None
    if address is None:
        quiet = logging.ERROR  # else it warns of workers that it ends itself
        local = LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=None, silence_logs=quiet)
        with local, Client(local) as client:
            # Dask does not replace a worker that is killed while it starts: without any, work would never end.
            local.adapt(minimum=len(local.workers), maximum=len(local.workers))
            yield DaskCluster(client)
        return
    try:
        client = Client(address, timeout=SECONDS_TO_CONNECT)
    except (OSError, ValueError):
        raise OSError(
            f"No scheduler answers at address={address!r}. Start one with: dask scheduler, or give the address that it "
            "prints (--address)."
        ) from None
    with client:
        start = f"dask worker {address} --nworkers auto --nthreads 1"
        try:
            client.wait_for_workers(1, timeout=SECONDS_FOR_A_WORKER)
        except TimeoutError:
            raise OSError(f"The scheduler at address={address!r} has no workers. Start some: {start}") from None
        if any(n_threads > 1 for n_threads in client.nthreads().values()):
            raise ValueError(
                f"address={address!r}: the workers there have several threads, which would change CPU times and sums. "
                f"Start them with one thread each: {start}"
            )
        yield DaskCluster(client)


Engine = Literal["processes", "dask"]
ENGINES = ("processes", "dask")
Workers = Processes | DaskCluster


@contextlib.contextmanager
def start_workers(
    engine: Engine, n_jobs: int | None = None, address: str | None = None, *, also_here: bool = False
) -> Iterator[Workers]:
    """Return what runs pieces; processes start when there is work for them, and none is left at the end.

    ``n_jobs`` is the number of processes, -1 and None for all cores; a cluster at an address has its own number.
    Without an ``address`` of a scheduler, a cluster is started on this machine. With ``also_here``, this process is one
    of those that work, and others start only where that saves time.
    """
    check_engine(engine, n_jobs, address)
    if engine == "dask":
        with connected(None if n_jobs is None or n_jobs < 0 else n_jobs, address) as cluster:
            yield cluster
        return
    processes = Processes(n_threads(n_jobs), also_here=also_here)
    try:
        yield processes
    finally:
        processes.close()


def check_engine(engine: str, n_jobs: int | None, address: str | None) -> None:
    """Raise an error if the three do not go together."""
    if engine not in ENGINES:
        known = " or ".join(map(repr, ENGINES))
        raise ValueError(f"engine must be {known}, got {engine!r} instead (--engine).")
    if n_jobs == 0:
        raise ValueError("n_jobs must be the number of processes, or -1 for all cores, got 0 instead.")
    if address is not None and engine != "dask":
        raise ValueError(f"address={address!r} needs a cluster: choose engine='dask' with it (--engine dask).")


def results_of(
    workers: Workers, pieces: Sequence[Piece], shared: Mapping[str, Any] | None = None
) -> Iterator[tuple[Piece, Done]]:
    """Yield each piece with its result when it is finished; the first that fails ends the work with its exception."""
    for piece, done in workers.run(pieces, shared):
        if isinstance(done, Failed):
            raise done.error if done.error is not None else OSError(f"{piece.name} failed: {done.reason}")
        yield piece, done
