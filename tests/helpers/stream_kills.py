"""Kill ``whynear stream`` at random moments, and count what is lost or counted twice.

The command runs in forked processes, which need not import anything again. To repeat it with more kills:
``python -m tests.endurance.kills stream --kills 200 --seed 0``.
"""

import json
import multiprocessing
import random
import signal
import time
from contextlib import suppress
from typing import NamedTuple

import numpy as np
import pandas as pd

from tests.endurance.kills.processes import kill_at_operation
from tests.helpers.slow_memory import drifting_stream
from whynear.cli.app import app
from whynear.stream.results import UNFINISHED
from whynear.stream.running import run_stream

SETTINGS = {"every": 20, "max_size": 100}
N_ROWS = 500
LONGEST_WAIT = 0.1  # seconds between a state on disk and the kill
MOST_OPERATIONS = 60  # on files before a kill: several states, or all that is written at the end


class Killed(NamedTuple):
    kills: int
    lost: int  # rows
    twice: int  # rows
    differing: int  # folders that are not those of a run without kills


def write_rows(path, seed=0, n_rows=N_ROWS):
    X, y = drifting_stream(seed, n=n_rows)
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(kind=np.array(["cat", "dog", "eel"])[y])
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_parquet(path, index=False)
    return path


def state_of(out):
    """When the state of an unfinished run was written."""
    with suppress(FileNotFoundError):
        return (out / UNFINISHED).stat().st_mtime_ns
    return None


def kill_at_random(table, out, most, rng):
    """Kill the command after it has gone on for a random time, or at an operation on a file; return how often.

    After so many kills it is left to finish.
    """
    options = [f"--{name.replace('_', '-')}={value}" for name, value in SETTINGS.items()]
    words = ["stream", str(table), "--target", "kind", "--out", str(out), "--quiet", *options]
    killed = 0
    while True:
        number = rng.randint(1, MOST_OPERATIONS) if killed < most and rng.random() < 0.5 else None
        before = state_of(out)
        process = multiprocessing.get_context("fork").Process(target=_command, args=(words, out, number))
        process.start()
        if killed < most and number is None:
            while state_of(out) == before and process.is_alive():
                time.sleep(0.002)
            time.sleep(rng.uniform(0.0, LONGEST_WAIT))
            process.kill()
        process.join()
        if process.exitcode not in (0, -signal.SIGKILL):
            raise RuntimeError(f"the command failed with exit code {process.exitcode}")
        killed += process.exitcode != 0
        if (out / "stream.json").exists() and not (out / UNFINISHED).exists():
            return killed


def _command(words, out, number):
    kill_at_operation(out, number)
    app(words)


def files_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def kill_and_count(n_kills, seed, folder, suffix=".csv"):
    """Kill runs over tables until there are so many kills."""
    rng, found, turn = random.Random(seed), Killed(0, 0, 0, 0), 0
    while found.kills < n_kills:
        turn += 1
        table, out = write_rows(folder / f"rows{turn}{suffix}", seed + turn), folder / f"out{turn}"
        run_stream(str(table), "kind", folder / f"whole{turn}", **SETTINGS, random_state=0)
        kills = kill_at_random(table, out, n_kills - found.kills, rng)
        rows = pd.read_csv(out / "predictions.csv")["row"]
        same = files_of(out) == files_of(folder / f"whole{turn}")
        counted = json.loads((out / "stream.json").read_text())["n_rows"] == N_ROWS
        found = Killed(
            found.kills + kills,
            found.lost + len(set(range(1, N_ROWS + 1)) - set(rows)),
            found.twice + int(rows.duplicated().sum()),
            found.differing + (not (same and counted)),
        )
    return found
