"""Small cells for the runner; some of them break their worker."""

import contextlib
import os
import signal
import time
from pathlib import Path

from whynear.reproduce.cells import Cell


def double(number, seconds=0.0):
    time.sleep(seconds)
    return {"doubled": 2 * number}


def killed_once(marker):
    """Kill the worker the first time, and mark that by a file."""
    if not Path(marker).exists():
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return {"doubled": 0}


def interrupted():
    """Interrupt the worker, as Ctrl-C does to all processes of a terminal."""
    os.kill(os.getpid(), signal.SIGINT)
    return {"doubled": 0}


def raising(number):
    raise KeyError(f"no {number}")


def always_killed(which=0):
    os.kill(os.getpid(), signal.SIGKILL)


def is_gone(group):
    """Whether all processes of a group end within five seconds; a zombie has ended."""
    for _ in range(50):
        if not _running(group):
            return True
        time.sleep(0.1)
    return False


def _running(group):
    states = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            state, _, of = stat.read_text().rpartition(")")[2].split()[:3]
            states += [state] if int(of) == group else []
    return [state for state in states if state != "Z"]


def doubles(n, seconds=0.0):
    return [Cell(double, {"number": number, "seconds": seconds}) for number in range(n)]


def results(store, cells):
    """The saved results of `doubles`."""
    return [store.result(cell)["doubled"] for cell in cells]
