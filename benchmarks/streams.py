"""Self-adjusting memories on streams, beside CapyMOA's: errors, and cases per CPU second."""

import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from river import datasets as river_sets
from river.datasets import synth

from benchmarks import table
from benchmarks.rivals import stream_environment
from whynear import SelfAdjustingMemory, datasets

PLAN = table.load("streams")
PAPER = {"metric": "plain", "votes": "inverse", "shrink": "error", "compression": "k-means", "random_state": 0}
HEADER = ["stream", "cases x features", "no change", "CapyMOA", "paper's", "plain", "guarded", "CapyMOA, cases/s",
          "plain, cases/s", "guarded, cases/s", "plain, times", "guarded, times"]  # fmt: skip


def stream_of(case: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    if "generator" in case:
        return generated(case)
    data = datasets.load(case.get("file", case["name"]))
    frame = data.X[case["columns"]] if "columns" in case else data.X.drop(columns=case.get("without", []))
    X, y = frame.to_numpy(dtype=float)[: case.get("rows")], np.asarray(data.y)[: case.get("rows")]
    if case.get("scaled"):
        span = np.ptp(X, axis=0)
        X = (X - X.min(axis=0)) / np.where(span > 0, span, 1.0)
    return X, np.unique(y, return_inverse=True)[1]


def generated(case: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    make = getattr(synth, case["generator"], None) or getattr(river_sets, case["generator"])
    parts = [{"classification_function": function} for function in case.get("functions", [])] or [{}]
    pairs = [pair for part in parts for pair in make(**part, **case["settings"]).take(case["rows"] // len(parts))]
    X = np.array([list(x.values()) for x, _ in pairs], dtype=float)
    return X, np.unique([y for _, y in pairs], return_inverse=True)[1]


def measured(X: np.ndarray, y: np.ndarray, **settings: Any) -> tuple[float, float]:
    """Error in %, and cases per CPU second, the median of three runs."""
    seconds = []
    for _ in range(3):
        model = SelfAdjustingMemory(**settings)
        start = time.process_time()
        found = model.prequential(X, y)
        seconds.append(time.process_time() - start)
    return 100 * float(np.mean(found != y)), len(y) / float(np.median(seconds))


def of_capymoa(X: np.ndarray, y: np.ndarray, folder: Path, python: Path | None) -> tuple[float, float] | None:
    if python is None:
        return None
    path = folder / "stream.npz"
    np.savez(path, X=X, y=y)
    found = table.read_json([python, stream_environment.SCRIPT, path])
    return found["error"], found["cases"] / found["seconds"]


def compared(case: dict[str, Any], folder: Path, python: Path | None) -> list[str]:
    X, y = stream_of(case)
    rival = of_capymoa(X, y, folder, python)
    paper, plain, guarded = measured(X, y, **PAPER), measured(X, y, metric="plain"), measured(X, y)
    errors = [100 * float(np.mean(y[1:] != y[:-1])), rival and rival[0], paper[0], plain[0], guarded[0]]
    speeds = [rival and rival[1], plain[1], guarded[1]]
    times = [f"{ours[1] / rival[1]:.1f}" if rival else "" for ours in (plain, guarded)]
    return [
        case["name"], f"{len(X):,} x {X.shape[1]}", *("" if error is None else f"{error:.2f}" for error in errors),
        *("" if speed is None else f"{speed:,.0f}" for speed in speeds), *times,
    ]  # fmt: skip


def main() -> None:
    python, why = stream_environment.ready()
    if python is None:
        print(f"CapyMOA is left out: {why}", file=sys.stderr, flush=True)
    rng = np.random.default_rng(0)
    for settings in (PAPER, {"metric": "plain"}, {}):  # compile or load
        SelfAdjustingMemory(max_size=200, **settings).partial_fit(
            rng.standard_normal((600, 3)), rng.integers(0, 2, 600)
        )
    with TemporaryDirectory() as folder:
        rows = table.rows_of_asked(PLAN["stream"], lambda case: compared(case, Path(folder), python))
    if sys.argv[1:]:
        print(table.as_text(PLAN["title"], HEADER, rows))
    else:
        table.write("streams", PLAN["title"], HEADER, rows)


if __name__ == "__main__":
    main()
