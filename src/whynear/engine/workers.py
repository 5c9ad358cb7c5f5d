"""Where pieces of work are done: in processes on this machine, or by the workers of a Dask cluster."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, Protocol

from whynear.engine.pieces import Done, Failed, Piece
from whynear.engine.processes import Processes
from whynear.utils.threads import n_threads

Engine = Literal["processes", "dask"]
ENGINES = ("processes", "dask")
Results = Iterator[tuple[Piece, Done | Failed]]


class Workers(Protocol):
    """Runs pieces; `n_workers` is how many at once."""

    @property
    def n_workers(self) -> int:
        """The number of pieces that run at once."""

    def run(self, pieces: Sequence[Piece], shared: Mapping[str, Any] | None = None) -> Results:
        """Yield each piece with its result, when it is finished; `shared` are arguments of all, sent only once."""


@contextlib.contextmanager
def start_workers(
    engine: Engine, n_jobs: int | None = None, address: str | None = None, *, also_here: bool = False
) -> Iterator[Workers]:
    """Return what runs pieces; processes start when there is work for them, and none is left at the end.

    Parameters
    ----------
    engine : {"processes", "dask"}
        Processes on this machine, or the workers of a Dask cluster.
    n_jobs : int, optional
        The number of processes, -1 and None for all cores. A cluster at an address has its own number.
    address : str, optional
        The address of the scheduler of a cluster; without it one is started on this machine.
    also_here : bool
        Whether this process is one of those that work: others start only where that saves time.
    """
    check_engine(engine, n_jobs, address)
    if engine == "dask":
        from whynear.engine.dask_cluster import connected

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
