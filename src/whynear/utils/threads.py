"""Loops over rows in blocks of a byte budget, and over items in chunks on threads."""

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from functools import cache
from threading import Event
from typing import Any

from threadpoolctl import ThreadpoolController

BLOCK_BYTES = 64 << 20


def row_blocks(n_rows: int, row_bytes: int, budget: int = BLOCK_BYTES) -> Iterator[slice]:
    """Yield slices that cover ``range(n_rows)``, each holding at most ``budget`` bytes (at least one row).

    >>> [(rows.start, rows.stop) for rows in row_blocks(5, row_bytes=10, budget=20)]
    [(0, 2), (2, 4), (4, 5)]
    """
    size = max(1, budget // max(1, row_bytes))
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


def n_threads(n_jobs: int | None = None) -> int:
    """Return the number of threads: all cores this process may run on for None and -1, otherwise ``n_jobs``.

    ``OMP_NUM_THREADS`` limits the default, so that a worker of a process pool uses only its share of the cores.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs is None:
        limit = os.environ.get("OMP_NUM_THREADS", "")
        return max(1, min(cores, int(limit) if limit.isdigit() else cores))
    if n_jobs == 0:
        raise ValueError("n_jobs=0 has no meaning. Use None or -1 for all cores, or an integer >= 1.")
    return n_jobs if n_jobs > 0 else max(1, cores + 1 + n_jobs)


def run_in_chunks(
    work: Callable[[int, int], None],
    n_items: int,
    chunk: int,
    n_jobs: int | None = None,
    stop: Event | None = None,
) -> None:
    """Call ``work(start, stop)`` for consecutive chunks of ``range(n_items)``, on threads.

    ``work`` must release the GIL and write to its own part of the result, which makes the result independent of
    the number of threads. Choose ``chunk`` so that one call takes under 0.2 s: an interrupt takes effect when the
    running chunks are done. Where one takes longer, let ``work`` return early once ``stop`` is set, which an
    interrupt or an error does.
    """
    starts = deque(range(0, n_items, chunk))
    threads = min(n_threads(n_jobs), len(starts))

    def work_off() -> None:
        while True:
            try:
                start = starts.popleft()
            except IndexError:  # nothing left, or the caller was interrupted and emptied it
                return
            work(start, min(start + chunk, n_items))

    if threads <= 1:
        work_off()
        return
    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(work_off) for _ in range(threads)]
        try:
            pending = set(futures)
            while pending:
                # The wait is bounded, because a signal is only handled when the main thread runs Python code.
                done, pending = wait(pending, timeout=0.1, return_when=FIRST_EXCEPTION)
                for future in done:
                    future.result()
        finally:
            starts.clear()
            if stop is not None:
                stop.set()


def one_blas_thread(size: int = 0) -> Any:
    """Return a context in which BLAS uses one thread, unless a table of this size is large enough for more.

    For small problems the waiting of threads for each other takes longer than they save, most of all on a busy machine.
    """
    return _libraries().limit(limits=1 if size < 1 << 20 else None, user_api="blas")


@cache
def _libraries() -> ThreadpoolController:
    """Return the controller of this process; cached, because to find its libraries takes longer than a small fit."""
    return ThreadpoolController()
