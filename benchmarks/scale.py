"""Learners fitted to Parquet files larger than a worker's memory: seconds, memory of the workers, and a killed one."""

import os
import signal
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import dask.dataframe as dd
import numpy as np
import pandas as pd
from distributed import Client, LocalCluster

import whynear as wn
from benchmarks import table
from whynear.learn.solvers import Step

PLAN = table.load("scale")
NAMES = [f"column {i}" for i in range(PLAN["features"])]
HEADER = ["learner", "rows x features", "workers", "seconds", "times one worker", "iterations", "peak of a worker, MB",
          "moved, MB", "accuracy, held out"]  # fmt: skip
STUDY = "whole study"
KILLED_STEP = "learn the metric from all rows"  # of a study, at whose start one worker of a run is killed

METRICS: dict[tuple[str, int], Any] = {}  # of the first fit of each learner to each number of rows


class Run(NamedTuple):
    seconds: float
    peak_mb: float
    moved_mb: float
    model: Any
    iterations: str


def rows_of(n: int, seed: int) -> pd.DataFrame:
    """Cases of classes whose means differ in some columns, in float32."""
    rng = np.random.default_rng([7, seed])
    codes = rng.integers(PLAN["classes"], size=n)
    means = np.zeros((PLAN["classes"], PLAN["features"]))
    means[:, : PLAN["useful"]] = np.random.default_rng(7).standard_normal((PLAN["classes"], PLAN["useful"]))
    X = rng.standard_normal((n, PLAN["features"]), dtype=np.float32) + means[codes].astype(np.float32)
    return pd.DataFrame(X, columns=NAMES).assign(kind=codes.astype(np.int8))


def write_files(folder: Path, n_rows: int, file_rows: int) -> None:
    folder.mkdir()
    for place, first in enumerate(range(0, n_rows, file_rows)):
        rows_of(min(file_rows, n_rows - first), place).to_parquet(folder / f"part-{place:04}.parquet", index=False)


@contextmanager
def workers(n: int, gib_each: float | None = None) -> Iterator[Client]:
    memory = f"{gib_each or PLAN['memory_gib'] / n}GiB"
    settings = {"n_workers": n, "threads_per_worker": 1, "memory_limit": memory, "dashboard_address": ":0"}
    with LocalCluster(**settings) as cluster, Client(cluster) as client:
        client.wait_for_workers(n)
        yield client


def peak_memory() -> float:
    """Of this process so far, in MB; getrusage would count that of the process which started it."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def moved_mb() -> float:
    """What all processes have sent each other through the loopback device so far, in MB."""
    lines = Path("/proc/net/dev").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.lstrip().startswith("lo:")) / 1e6


def warm_up(name: str, n_workers: int) -> None:
    """Fit the learner to few rows, so that all workers have imported and compiled what they need."""
    few = dd.from_pandas(rows_of(2_000 * n_workers, seed=0), npartitions=4 * n_workers)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of too few iterations
        settings = {"shared_epochs": 1, "epochs": 1} if name == "LANN" else {"max_iter": 3}
        wn.distributed.fit(getattr(wn, name)(**settings), few[NAMES], few["kind"])


def measured(name: str, folder: Path, n_workers: int, *, killed: bool = False) -> Run:
    with workers(n_workers) as client:
        victim = next(iter(client.run(os.getpid).values()))
        warm_up("GMLVQ" if name == STUDY else name, n_workers)
        start, moved = time.perf_counter(), moved_mb()
        work = studied if name == STUDY else partial(fitted, name)
        model, iterations = work(folder, client, victim if killed else None)
        seconds, moved = time.perf_counter() - start, moved_mb() - moved
        peak = max(client.run(peak_memory).values())
    return Run(seconds, peak, moved, model, iterations)


def fitted(name: str, folder: Path, _: Client, victim: int | None) -> tuple[Any, str]:
    def kill(step: Step) -> None:
        if step.n_iter == PLAN["killed_iteration"]:
            os.kill(victim, signal.SIGKILL)

    learner = getattr(wn, name)(random_state=0, callback=None if victim is None else kill)
    files = dd.read_parquet(folder)
    wn.distributed.fit(learner, files[NAMES], files["kind"])
    return learner.set_params(callback=None), str(learner.n_iter_)


def studied(folder: Path, client: Client, victim: int | None) -> tuple[Any, str]:
    def kill(step: str, _: float) -> None:
        if victim is not None and step == KILLED_STEP:
            os.kill(victim, signal.SIGKILL)

    address = client.scheduler.address
    study = wn.study(
        folder, "kind", running=wn.Running(engine="dask", address=address, memory=PLAN["study_memory"]), progress=kill
    )
    study.save(folder.with_name("study"), overwrite=True)
    return study.model, f"{study.model[-1].n_iter_} of {type(study.model[-1]).__name__}"


def check_same_bits(first: Any, other: Any) -> None:
    """The number of workers, and the death of one, must not change a fit."""
    if not all(np.array_equal(array, other.arrays()[name]) for name, array in first.arrays().items()):
        raise RuntimeError("Two fits to the same files differ.")


def compared(case: dict[str, Any], folder: Path, share: float) -> list[list[str]]:
    """A row of the table for each number of workers."""
    n_rows, killed = int(case["rows"] * share), case.get("killed", False)
    files = folder / str(n_rows)
    if not files.exists():
        write_files(files, n_rows, max(1, int(PLAN["file_rows"] * share)))
    held_out = rows_of(PLAN["held_out_rows"] if n_rows > 200_000 else 2_000, seed=10**6)
    held_out = held_out[: 2_000 if case["learner"] == "LANN" else None]
    lines, first = [], None
    for n_workers in case["workers"]:
        run = measured(case["learner"], files, n_workers, killed=killed)
        first = first or run.seconds
        metric = wn.as_metric(run.model)
        check_same_bits(METRICS.setdefault((case["learner"], n_rows), metric), metric)
        if case["learner"] == "LANN":
            run.model.set_params(search="exact")  # lists of so many cases take minutes to make
        kinds = held_out["kind"].astype(str) if case["learner"] == STUDY else held_out["kind"]
        accuracy = run.model.score(held_out[NAMES], kinds)
        lines.append([
            case["learner"], f"{n_rows:,} x {PLAN['features']}", f"{n_workers}{', one killed' * killed}",
            f"{run.seconds:.1f}", f"{first / run.seconds:.2f}" if len(case["workers"]) > 1 else "",
            run.iterations, f"{run.peak_mb:.0f}", f"{run.moved_mb:.1f}", f"{100 * accuracy:.2f}",
        ])  # fmt: skip
        print(" | ".join(lines[-1]), file=sys.stderr, flush=True)
    return lines


def main() -> None:
    numbers = [word for word in sys.argv[1:] if word[0].isdigit()]
    share = float(numbers[0]) if numbers else 1.0
    asked = set(sys.argv[1:]) - set(numbers)
    with TemporaryDirectory() as folder:
        for learner in dict.fromkeys(case["learner"] for case in PLAN["case"]):
            if asked and learner not in asked:
                continue
            cases = [case for case in PLAN["case"] if case["learner"] == learner]
            lines = [line for case in cases for line in compared(case, Path(folder), share)]
            title = f"{PLAN['title']}: {learner}"
            if share == 1.0:
                table.write("scale", title, HEADER, lines, keep_others=True)
            else:
                print(table.as_text(f"{title}, {share:g} of the rows", HEADER, lines))


if __name__ == "__main__":
    main()
