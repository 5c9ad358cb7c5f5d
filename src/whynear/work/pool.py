"""Other processes, which can be started before there is work for them: they import the library meanwhile."""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

from joblib.externals.loky import ProcessPoolExecutor
from joblib.externals.loky.backend import resource_tracker

from whynear.utils.lazy import nothing_collected

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
SECONDS_TO_END = 5.0


class Pool:
    """Processes with one thread each, which start when the first call is sent to them, and end with this process."""

    def __init__(self, n_processes: int) -> None:
        self.n_processes, self.lent = n_processes, False
        self._executor = ProcessPoolExecutor(
            n_processes, env=ONE_THREAD, initializer=_end_with, initargs=(os.getpid(),)
        )

    def submit(self, work: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Send a call to one of the processes."""
        with _not_interrupted():
            return self._executor.submit(work, *arguments)

    def close(self) -> None:
        """End the processes, whatever they do."""
        if self in _AHEAD:
            _AHEAD.remove(self)
        # The executor does not wait for the thread that sends its calls. It holds the last references to semaphores,
        # and if it is stopped by the end of this process while it removes them, a warning is printed.
        sending = getattr(getattr(self._executor, "_call_queue", None), "_thread", None)
        self._executor.shutdown(wait=True, kill_workers=True)
        if sending is not None:
            sending.join(SECONDS_TO_END)

    def give_back(self) -> None:
        """Give the pool back to its owner if it was started ahead; end it otherwise."""
        self.lent = False
        if self not in _AHEAD:
            self.close()


_AHEAD: list[Pool] = []


@contextlib.contextmanager
def started_ahead(n_processes: int, *modules: str) -> Iterator[None]:
    """Start a pool for later callers with as many processes, which import modules meanwhile."""
    if n_processes < 1:
        yield
        return
    pool = Pool(n_processes)
    _AHEAD.append(pool)
    try:
        import_ahead(*modules)
        yield
    finally:
        if pool in _AHEAD:
            pool.close()


def borrowed(n_processes: int) -> Pool | None:
    """Return a pool that was started ahead, if it has this number of processes; it must be given back or closed."""
    for pool in _AHEAD:
        if pool.n_processes == n_processes and not pool.lent:
            pool.lent = True
            return pool
    return None


def import_ahead(*modules: str) -> None:
    """Import modules in the processes that were started ahead, when they have no other work."""
    for pool in _AHEAD:
        for _ in range(pool.n_processes):
            with contextlib.suppress(RuntimeError):  # a process was killed, which shows when work is sent
                pool.submit(_import, modules)


def _import(modules: tuple[str, ...]) -> None:
    with nothing_collected():
        for module in modules:
            importlib.import_module(module)


@contextlib.contextmanager
def _not_interrupted() -> Iterator[None]:
    """Keep Ctrl-C from processes that start here, also before they can ignore it; this one gets it afterwards."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # it would change the mask where it starts later
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_with(parent: int) -> None:
    """Ignore interrupts, since the parent handles them and ends this process; end too if the parent was killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
