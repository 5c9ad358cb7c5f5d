"""Small pieces of work; some of them break their worker."""

import contextlib
import os
import signal
import time
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_info

from papers.computations import Cell
from whynear.utils.threads import n_threads
from whynear.work.pieces import Piece


def double(number, seconds=0.0):
    time.sleep(seconds)
    return {"doubled": 2 * number}


def arrays():
    return {"a": np.arange(2.0), "n": np.int64(3), "gone": np.nan}


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


def added(number, table):
    """Return a sum over a shared table, and whether its memory belongs to a file."""
    return float(table["x"].sum() + number), not table["x"].flags.owndata, os.getpid()


def unsendable():
    return lambda: None


def killed_then_unsendable(marker):
    """Kill the worker the first time, and return then what no process can send."""
    killed_once(marker)
    return (number for number in range(3))


def limits():
    """Return the threads that BLAS, OpenMP and compiled loops have inside a piece."""
    of_libraries = [(one["user_api"], one["num_threads"]) for one in threadpool_info()]
    return of_libraries, n_threads(None), n_threads(7), os.getpid()


def additions(n, weight=10.0):
    return [Piece(added, {"number": number}, weight) for number in range(n)]


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
