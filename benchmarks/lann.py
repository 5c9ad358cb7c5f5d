"""LANN: time and memory for tables of different sizes."""

import json
import sys
import time
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.preprocessing import StandardScaler

from benchmarks import table
from benchmarks.rivals.fit import peak_mb
from whynear import LANN, LocalMetric, NeighborSearch, datasets

PLAN = table.load("lann")


def fit(case: dict[str, Any]) -> dict[str, Any]:
    fixed = PLAN["speed"]["fixed"]
    if case["name"] == "letter":
        data = datasets.load("letter")
        X, y = data.X.to_numpy(dtype=float), np.asarray(data.y)
        X, y = StandardScaler().fit_transform(X)[: case["rows"]], y[: case["rows"]]
    else:
        X, y = make_classification(case["rows"], PLAN["speed"]["columns"], n_informative=8, random_state=0)
    LANN(random_state=0, **fixed).fit(X[:500], y[:500])  # compiles or loads
    wall, cpu = time.perf_counter(), time.process_time()
    model = LANN(random_state=0, **(fixed if case["fixed"] else {})).fit(X, y)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return {"wall": wall, "cpu": cpu, "peak": peak_mb(), "recall": model.candidate_recall_}


def time_fits() -> None:
    plan = PLAN["speed"]
    cases = [{"name": "letter", "rows": plan["letter"], "fixed": fixed} for fixed in (True, False)]
    cases += [{"name": "generated", "rows": n, "fixed": True} for n in plan["sizes"]]
    rows = []
    for case in cases:
        found = table.run_alone("benchmarks.lann", case, limit=1200)
        cells = [case["name"], f"{case['rows']:,}", "fixed" if case["fixed"] else "chosen by LANN"]
        if found is None:
            rows.append([*cells, "over 1,200", "", "", ""])
        else:
            cells += [f"{found['wall']:.1f}", f"{found['cpu']:.1f}", f"{found['peak']:.0f}", f"{found['recall']:.4f}"]
            rows.append(cells)
        print(" ".join(rows[-1]), file=sys.stderr, flush=True)
    header = ["data", "rows", "settings", "wall s", "CPU s", "peak, MB", "recall of lists"]
    table.write("lann", plan["title"], header, rows, keep_others=True)


def time_predictions() -> None:
    plan, rng = PLAN["prediction"], np.random.default_rng(0)
    anchors = rng.standard_normal((plan["anchors"], plan["columns"]))
    metric = LocalMetric(anchors, weights=rng.uniform(0.1, 2.0, anchors.shape))
    queries = rng.standard_normal((plan["queries"], plan["columns"]))
    NeighborSearch(metric).nearest(queries[:100], 5)
    wall, cpu = time.perf_counter(), time.process_time()
    NeighborSearch(metric).nearest(queries, 5)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    row = [f"{plan['anchors']:,} x {plan['columns']}", f"{plan['queries']:,}", f"{wall:.2f}", f"{cpu:.2f}"]
    header = ["anchors", "queries", "wall s", "CPU s", "queries a second"]
    table.write("lann", plan["title"], header, [[*row, f"{plan['queries'] / wall:,.0f}"]], keep_others=True)


TABLES = {
    "speed": time_fits,
    "prediction": time_predictions,
}


def main() -> None:
    if sys.argv[1:] and sys.argv[1].startswith("{"):
        print(json.dumps(fit(json.loads(sys.argv[1]))))
        return
    for name in sys.argv[1:] or TABLES:
        TABLES[name]()


if __name__ == "__main__":
    main()
