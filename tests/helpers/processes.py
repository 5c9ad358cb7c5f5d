"""Waiting for what a process does, not for seconds."""

import os
import time
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


def work_for(process, seconds, *, patience=120):
    """Wait until a running process has worked for so many seconds more, however busy the machine is."""
    end, deadline = _worked(process) + seconds, time.monotonic() + patience
    while _worked(process) < end:
        assert process.poll() is None, f"it ended with code {process.returncode} instead of working on"
        assert time.monotonic() < deadline, f"it has not worked for {seconds} s within {patience} s"
        time.sleep(0.01)


def _worked(process):
    """Seconds that all threads of a process had a core."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS
