"""The process that works for the server: started with a job, followed by its events, ended with all that it started."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from whynear.utils.files import make_folder

WORKER = ["-m", "whynear.studio.worker"]
LOG = "log.txt"
TEMPORARY = "temporary"  # for the files that the processes of a study share
ENDING_SECONDS = 5.0  # that a process has to end by itself


class Followed(NamedTuple):
    """A process, and the thread that notes what becomes of it."""

    process: subprocess.Popen[str]
    follower: threading.Thread

    def end(self) -> None:
        """End the process, and wait until that is noted."""
        end_worker(self.process)
        self.follower.join()


class OneWorker:
    """At most one process at a time, followed by a thread until it ends; ``_now`` changes within the lock."""

    def __init__(self) -> None:
        self._lock, self._closed = threading.RLock(), False
        self._now: Followed | None = None

    def follow(self, process: subprocess.Popen[str], note: Callable[[subprocess.Popen[str]], None]) -> None:
        """Start a thread that notes how a process ends; call it within the lock."""
        self._now = Followed(process, threading.Thread(target=note, args=(process,), daemon=True))
        self._now.follower.start()

    def wait(self) -> None:
        """Wait until the process that runs is over."""
        with self._lock:
            now = self._now
        if now is not None:
            now.follower.join()

    def close(self) -> None:
        """End the process that runs, whose work is marked as interrupted, and start no other."""
        with self._lock:
            self._closed, now = True, self._now
        if now is not None:
            now.end()


def start_worker(folder: Path, job: dict[str, Any]) -> subprocess.Popen[str]:
    """Start a process in the folder of a study, and give it its job."""
    temporary = folder / TEMPORARY
    shutil.rmtree(temporary, ignore_errors=True)
    make_folder(temporary)
    with (folder / LOG).open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, *WORKER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            encoding="utf-8",
            start_new_session=True,
            cwd=folder,
            env={**os.environ, "TMPDIR": str(temporary), "MPLBACKEND": "agg"},
        )
    assert process.stdin is not None, "it is a pipe"
    process.stdin.write(json.dumps(job) + "\n")
    process.stdin.flush()
    return process


def events_in(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Yield the events that a process writes; a line that was cut off by a kill is none."""
    for line in lines:
        with contextlib.suppress(ValueError):
            yield json.loads(line)


def clear_worker(process: subprocess.Popen[str], folder: Path) -> int:
    """Wait for the end of a process, remove what it left behind, and return its code."""
    code = process.wait()
    _kill_group(process)  # processes of the engine, if they are left
    for pipe in (process.stdin, process.stdout):
        assert pipe is not None, "it is a pipe"
        pipe.close()
    shutil.rmtree(folder / TEMPORARY, ignore_errors=True)
    return code


def end_worker(process: subprocess.Popen[str]) -> None:
    """Terminate a process, and kill it and all that it started if it does not end."""
    process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(ENDING_SECONDS)
    _kill_group(process)
    process.wait()


def _kill_group(process: subprocess.Popen[str]) -> None:
    """Kill all processes of the group of a process, which has the same number."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
