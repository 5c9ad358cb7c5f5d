"""Slider: time for tables of different sizes."""

import sys
import time
from typing import Any

import numpy as np
from sklearn.datasets import make_classification

from benchmarks import table
from whynear import Slider, datasets

PLAN = table.load("slider")


def time_fits() -> None:
    plan, rows = PLAN["speed"], []

    def measure(name: str, X: np.ndarray, y: np.ndarray, **settings: Any) -> None:
        wall, cpu = time.perf_counter(), time.process_time()
        model = Slider(random_state=0, **settings).fit(X, y)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        triples = settings.get("n_triples") or max(10_000, 2 * len(X))
        rows.append([name, f"{len(X):,} x {X.shape[1]}", f"{triples:,}", f"{wall:.1f}", f"{cpu:.1f}"])
        rows[-1] += [str(model.n_iter_), f"{model.uniform_rank_:.2f}", f"{model.mean_rank_:.2f}"]
        print(" ".join(rows[-1]), file=sys.stderr, flush=True)

    X, y = generated(plan["rows"], 50)
    Slider(random_state=0, max_iter=10).fit(X[:200], y[:200])  # compiles or loads
    for name in plan["sets"]:
        data = datasets.load(name)
        measure(name, data.X.to_numpy(dtype=float), np.asarray(data.y))
    for n_triples in plan["triples"]:
        measure("generated", X, y, n_triples=n_triples)
    for d in plan["features"]:
        measure("generated", *generated(plan["rows"], d), n_triples=20_000)
    header = [
        "data",
        "rows x columns",
        "triples",
        "wall s",
        "CPU s",
        "steps of the best start",
        "rank, equal",
        "rank, Slider",
    ]
    table.write("slider", plan["title"], header, rows, keep_others=True)


def generated(rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    return make_classification(rows, columns, n_informative=10, n_classes=5, random_state=0)


TABLES = {"speed": time_fits}


def main() -> None:
    for name in sys.argv[1:] or TABLES:
        TABLES[name]()


if __name__ == "__main__":
    main()
