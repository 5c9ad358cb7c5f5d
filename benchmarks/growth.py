"""How the parts of a fit on Dask workers grow: timed at several sizes, and lines fitted to the times."""

import sys
import time
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import dask.dataframe as dd
import numpy as np
from scipy.optimize import nnls

import whynear as wn
from benchmarks import table
from benchmarks.scale import NAMES, moved_mb, peak_memory, rows_of, warm_up, workers, write_files
from benchmarks.scale import PLAN as SCALE
from whynear.large.partitions import computed, task

PLAN = table.load("growth")
HEADER = ["rows", "workers", "before the descent, s", "an iteration, s", "after it, s", "peak of a worker, MB",
          "moved per iteration and worker, kB"]  # fmt: skip
LAWS = ["part", "at least", "for a million rows of a worker", "for each worker"]


class Parts(NamedTuple):
    """Seconds of the parts of one fit, memory and bytes."""

    rows: int
    workers: int
    before: float
    iteration: float
    after: float
    peak_mb: float
    moved_kb: float


def timed(files: Any, n_rows: int, n_workers: int, client: Any) -> Parts:
    """Fit with a fixed number of iterations; the callback sees the clock and the bytes after each."""
    seen = [(time.perf_counter(), moved_mb())]
    learner = getattr(wn, PLAN["learner"])(
        max_iter=PLAN["iterations"],
        tol=0.0,
        random_state=0,
        callback=lambda _: seen.append((time.perf_counter(), moved_mb())),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the descent, which is not over
        wn.distributed.fit(learner, files[NAMES], files["kind"])
    end = time.perf_counter()
    (start, _), (first, moved_first), *_, (last, moved_last) = seen
    n = len(seen) - 2  # iterations between the first and the last
    return Parts(
        rows=n_rows,
        workers=n_workers,
        before=first - start,
        iteration=(last - first) / n,
        after=end - last,
        peak_mb=max(client.run(peak_memory).values()),
        moved_kb=1e3 * (moved_last - moved_first) / n / n_workers,
    )


def all_timed(folder: Path) -> list[Parts]:
    """Every number of rows with every number of workers, then few rows with many workers."""
    found = []
    for n_rows in PLAN["rows"]:
        write_files(folder / str(n_rows), n_rows, max(1, n_rows // 8))
        for n_workers in PLAN["workers"]:
            with workers(n_workers) as client:
                warm_up(PLAN["learner"], n_workers)
                found.append(timed(dd.read_parquet(folder / str(n_rows)), n_rows, n_workers, client))
            print(found[-1], file=sys.stderr, flush=True)
    for n_workers in PLAN["many_workers"]:
        n_rows = PLAN["rows_of_many"] * n_workers
        with workers(n_workers, gib_each=1.0) as client:
            warm_up(PLAN["learner"], n_workers)
            files = dd.from_pandas(rows_of(n_rows, 0), npartitions=n_workers)
            found.append(timed(files, n_rows, n_workers, client))
        print(found[-1], file=sys.stderr, flush=True)
    return found


def seconds_per_task() -> float:
    """What the scheduler takes for one more task that does nothing."""
    tasks = [task(sum, [1, 2]) for _ in range(PLAN["idle_tasks"])]
    with workers(2, gib_each=1.0):
        computed(tasks[:100])
        start = time.perf_counter()
        computed(tasks[100:])
        return (time.perf_counter() - start) / (len(tasks) - 100)


def law(found: list[Parts], name: str) -> np.ndarray:
    """Fit a constant, a slope by the rows of a worker in millions, and a slope by workers, none of them negative.

    Each measurement counts by its own size, so that small ones are fitted too.
    """
    sizes = np.array([[1.0, each.rows / each.workers / 1e6, each.workers] for each in found])
    values = np.array([getattr(each, name) for each in found])
    return nnls(sizes / values[:, None], np.ones(len(values)))[0]


def foreseen(laws: dict[str, np.ndarray], n_rows: int, n_workers: int) -> dict[str, float]:
    at = np.array([1.0, n_rows / n_workers / 1e6, n_workers])
    return {name: float(costs @ at) for name, costs in laws.items()}


def main() -> None:
    with TemporaryDirectory() as folder:
        found = all_timed(Path(folder))
    rows = [
        [f"{each.rows:,}", str(each.workers), f"{each.before:.2f}", f"{each.iteration:.3f}", f"{each.after:.2f}",
         f"{each.peak_mb:.0f}", f"{each.moved_kb:.0f}"]
        for each in found
    ]  # fmt: skip
    shape = f"{PLAN['learner']}, {SCALE['features']} columns"
    table.write("growth", f"{PLAN['title']}: {shape}", HEADER, rows)
    per_task = [["one task that does nothing", f"{1e3 * seconds_per_task():.2f}"]]
    table.write("growth", "The scheduler", ["work", "ms"], per_task, keep_others=True)
    laws = {name: law(found, name) for name in ("before", "iteration", "after", "peak_mb")}
    lines = [[name, *(f"{cost:.4f}" for cost in costs)] for name, costs in laws.items()]
    table.write("growth", f"Lines fitted to them: {shape}", LAWS, lines, keep_others=True)
    ahead = []
    for name, (n_rows, n_workers) in PLAN["asked"].items():
        parts = foreseen(laws, n_rows, n_workers)
        whole = parts["before"] + 15 * parts["iteration"] + parts["after"]
        ahead.append([name, *(f"{parts[part]:.1f}" for part in laws), f"{whole:.0f}"])
    header = ["table", "before, s", "iteration, s", "after, s", "peak of a worker, MB", "15 iterations, s"]
    table.write("growth", f"What they foresee: {shape}", header, ahead, keep_others=True)


if __name__ == "__main__":
    main()
