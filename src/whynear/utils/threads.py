"""Loops over rows in blocks of a byte budget and over items in chunks on threads; how many threads each part has."""

import os
import sys
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import lru_cache
from numbers import Integral
from threading import Event, Lock, local

from threadpoolctl import ThreadpoolController

BLOCK_BYTES = 64 << 20
MOST_THREADS = 1 << 16
_SHARE = local()  # of threads, of each thread


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

    ``OMP_NUM_THREADS`` limits the default, so that a worker of a process pool uses only its share of the cores, and
    `share_of_threads` limits both.
    """
    if n_jobs is not None and (n_jobs == 0 or isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral)):
        raise ValueError(f"n_jobs={n_jobs!r} has no meaning. Use None or -1 for all cores, or an integer >= 1.")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs is None:
        limit = os.environ.get("OMP_NUM_THREADS", "")
        threads = min(cores, int(limit) if limit.isdigit() else cores)
    else:
        threads = n_jobs if n_jobs > 0 else cores + 1 + n_jobs
    return min(max(1, threads), getattr(_SHARE, "n_threads", MOST_THREADS))


@contextmanager
def share_of_threads(n_threads: int) -> Iterator[None]:
    """Limit the loops that this thread starts to this number of threads, whatever they request."""
    before = getattr(_SHARE, "n_threads", MOST_THREADS)
    _SHARE.n_threads = min(before, n_threads)
    try:
        yield
    finally:
        _SHARE.n_threads = before


def run_in_chunks(
    work: Callable[[int, int], None], n_items: int, chunk: int, n_jobs: int | None = None, stop: Event | None = None
) -> None:
    """Call ``work(start, stop)`` for consecutive chunks of ``range(n_items)``, on threads.

    ``work`` must release the GIL and write to its own part of the result, which makes the result independent of
    the number of threads. Choose ``chunk`` so that one call takes under 0.2 s: an interrupt takes effect when the
    running chunks are done. Where one takes longer, let ``work`` return early once ``stop`` is set, which an
    interrupt or an error does.
    """
    starts = deque(range(0, n_items, chunk))
    available = n_threads(n_jobs)
    threads = min(available, len(starts))

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
    with one_blas_thread(), ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(share_of_threads(available // threads)(work_off)) for _ in range(threads)]
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


@contextmanager
def one_blas_thread(size: int = 0) -> Iterator[None]:
    """Let BLAS use one thread, unless a table of this size is large enough for more.

    For small problems the waiting of threads for each other takes longer than they save, most of all on a busy machine.
    """
    with nullcontext() if size >= 1 << 20 else _ONE_OF_BLAS.held():
        yield


def one_openmp_thread() -> AbstractContextManager[None]:
    """Return a context in which OpenMP, by which scikit-learn compares rows, uses one thread."""
    return _ONE_OF_OPENMP.held()


def openmp_threads(n_jobs: int | None = None) -> int:
    """Return how many threads OpenMP may use: those of `n_threads`, but one in a forked process.

    There the threads that OpenMP started before the fork do not exist, and it would wait for them forever.
    """
    return 1 if _FORKED.is_set() else n_threads(n_jobs)


def fork_safe_openmp() -> AbstractContextManager[None]:
    """Return a context in which OpenMP uses one thread if this process was forked; see `openmp_threads`."""
    return one_openmp_thread() if _FORKED.is_set() else nullcontext()


class _OneThread:
    """One thread for a kind of libraries while any thread of this process requests it.

    The last one that leaves restores the number, since each would otherwise restore what it found, also another's one.
    """

    def __init__(self, kind: str) -> None:
        self.kind, self.lock, self.n_inside = kind, Lock(), 0

    @contextmanager
    def held(self) -> Iterator[None]:
        with self.lock:
            if not self.n_inside:
                # A library is loaded by importing a module.
                self.limit = _libraries_of(len(sys.modules)).limit(limits=1, user_api=self.kind)
            self.n_inside += 1
        try:
            yield
        finally:
            with self.lock:
                self.n_inside -= 1
                if not self.n_inside:
                    self.limit.restore_original_limits()


_FORKED = Event()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_FORKED.set)
_ONE_OF_BLAS, _ONE_OF_OPENMP = _OneThread("blas"), _OneThread("openmp")


@lru_cache(maxsize=1)
def _libraries_of(_n_modules: int) -> ThreadpoolController:
    """Find the libraries; cached, because that takes longer than a small fit."""
    return ThreadpoolController()
