"""Neighbour search compared with that of scikit-learn: CPU seconds and peak memory."""

import json
import sys
from functools import partial
from typing import Any

import numpy as np
from sklearn.neighbors import NearestNeighbors

from benchmarks import table
from benchmarks.rivals.fit import peak_mb
from whynear import DiagonalMetric, LinearMetric, LocalMetric, NeighborSearch

K, QUERIES = 5, 1_000


def make_data(case: dict[str, Any]) -> tuple[Any, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    Y = rng.standard_normal((case["cases"], case["features"]))
    X = rng.standard_normal((QUERIES, case["features"]))
    if case["metric"] == "local":
        return LocalMetric(Y, rng.exponential(size=Y.shape)), X, Y
    if case["metric"] == "linear":
        return LinearMetric(rng.standard_normal((case["components"], case["features"]))), X, Y
    return DiagonalMetric(rng.exponential(size=case["features"])), X, Y


def search_whynear(case: dict[str, Any]) -> dict[str, Any]:
    metric, X, Y = make_data(case)
    search = NeighborSearch(metric, None if case["metric"] == "local" else Y)
    seconds = table.cpu_seconds(partial(search.nearest, X, K))
    return {"seconds": seconds, "peak": peak_mb(), "sum": float(search.nearest(X, K)[0].sum())}


def search_rival(case: dict[str, Any]) -> dict[str, Any]:
    metric, X, Y = make_data(case)
    if case["rival"] == "loop":

        def work() -> np.ndarray:
            return np.array([np.sort((metric.weights * (x - metric.anchors) ** 2).sum(axis=1))[:K] for x in X])

    else:
        neighbors = NearestNeighbors(n_neighbors=K).fit(metric.map(Y))

        def work() -> np.ndarray:
            return neighbors.kneighbors(metric.map(X))[0] ** 2

    seconds = table.cpu_seconds(work)
    return {"seconds": seconds, "peak": peak_mb(), "sum": float(work().sum())}


def main() -> None:
    if len(sys.argv) > 1:
        case = json.loads(sys.argv[1])
        print(json.dumps((search_whynear if case["ours"] else search_rival)(case)))
        return
    plan = table.load("search")
    rows = []
    for case in plan["case"]:
        ours = table.run_alone("benchmarks.search", {**case, "ours": True}, plan["limit"])
        rival = table.run_alone("benchmarks.search", {**case, "ours": False}, plan["limit"])
        if ours is None:
            rows.append([case["name"], f"over {plan['limit']} s", "", "", "", ""])
            continue
        row = [case["name"], f"{ours['seconds']:.2f}", f"{ours['peak']:.0f}"]
        if rival is None:
            row += [f"over {plan['limit']} s", "", ""]
        else:
            difference = abs(ours["sum"] - rival["sum"]) / rival["sum"]
            row += [f"{rival['seconds']:.2f}", f"{rival['seconds'] / ours['seconds']:.1f}", f"{difference:.0e}"]
        rows.append(row)
    header = ["case", "whynear, CPU s", "peak, MB", "rival, CPU s", "times faster", "relative difference"]
    table.write("search", plan["title"], header, rows)


if __name__ == "__main__":
    main()
