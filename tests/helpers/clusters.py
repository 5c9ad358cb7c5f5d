"""A Dask cluster as people start it: a scheduler and workers, each a program of its own."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time


@contextlib.contextmanager
def dask_cluster(folder, n_workers=2, environment=None):
    """Start `dask scheduler` and `dask worker`; the value is the address and the processes of the workers."""
    file = folder / "scheduler.json"
    options = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "start_new_session": True}
    dask = [sys.executable, "-m", "dask"]
    scheduler = [*dask, "scheduler", "--port", "0", "--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", file]
    started = [subprocess.Popen(scheduler, **options)]
    try:
        address = _when(lambda: json.loads(file.read_text())["address"])
        worker = [*dask, "worker", address, "--nthreads", "1", "--no-dashboard", "--local-directory", folder]
        for _ in range(n_workers):
            started.append(subprocess.Popen(worker, env=os.environ | (environment or {}), **options))
        if n_workers:
            _wait_for_workers(address, n_workers)
        yield address, started[1:]
    finally:
        for process in started:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _wait_for_workers(address, n_workers):
    from distributed import Client

    with Client(address) as client:
        client.wait_for_workers(n_workers, timeout=60)


def _when(found, seconds=60):
    """Return what a function returns when it no longer fails."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return found()
        except (OSError, ValueError, KeyError):
            assert time.monotonic() < deadline, "the scheduler did not start"
            time.sleep(0.05)
