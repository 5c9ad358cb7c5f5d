"""Small work for the runner: cells that any process can do, some of which break their worker."""

import os
import signal
import time
from pathlib import Path

from whynear.reproduce.cells import Cell


def double(number, seconds=0.0):
    time.sleep(seconds)
    return {"doubled": 2 * number}


def killed_once(marker):
    """Kill the worker the first time; a file remembers that it was."""
    if not Path(marker).exists():
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return {"doubled": 0}


def always_killed(which=0):
    os.kill(os.getpid(), signal.SIGKILL)


def doubles(n, seconds=0.0):
    return [Cell(double, {"number": number, "seconds": seconds}) for number in range(n)]
