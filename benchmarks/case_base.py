"""Case base: speed of adding cases durably, of opening, and of queries."""

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import table
from benchmarks.rivals.fit import peak_mb
from whynear import CaseBase, DiagonalMetric

N_QUERIES = 50


def add(case: dict[str, Any]) -> dict[str, float]:
    rng = np.random.default_rng(0)
    metric = DiagonalMetric(rng.exponential(size=case["features"]))
    seconds = 0.0
    with CaseBase(case["path"], metric) as base:
        for first in range(0, case["cases"], case["batch"]):
            X = rng.standard_normal((case["batch"], case["features"]))
            payloads = [{"name": f"case {number}", "group": number % 50} for number in range(first, first + len(X))]
            start = time.perf_counter()
            base.add(X, payloads)
            seconds += time.perf_counter() - start
        start = time.perf_counter()
        base.retrieve(X[0])
        build = time.perf_counter() - start
    return {"added": case["cases"] / seconds, "build": build, "peak_add": peak_mb()}


def query(case: dict[str, Any]) -> dict[str, float]:
    queries = np.random.default_rng(1).standard_normal((N_QUERIES, case["features"]))
    _compile(case["features"])
    start = time.perf_counter()
    base = CaseBase(case["path"])
    base.retrieve(queries[0])
    figures = {"open": time.perf_counter() - start}
    figures["nearest"] = _milliseconds(base.retrieve, queries)
    for name, size in {"filter": case["filter"], "percent": None}.items():

        def two_phases(query: np.ndarray, size: int | None = size) -> None:
            base.retrieve(query, filter_k=size, rerank=lambda _query, cases, _payloads: np.zeros(len(cases)))

        figures[name] = _milliseconds(two_phases, queries)
    disk = sum(path.stat().st_size for path in Path(case["path"]).parent.iterdir()) / 1e6
    return {**figures, "peak_query": peak_mb(), "disk": disk}


def _compile(n_features: int) -> None:
    """Compile the kernels before the time is measured."""
    with (
        tempfile.TemporaryDirectory() as folder,
        CaseBase(f"{folder}/small", DiagonalMetric([1.0] * n_features)) as base,
    ):
        base.add(np.zeros((2, n_features)))
        base.retrieve(np.zeros(n_features), k=1)


def _milliseconds(work: Callable[[np.ndarray], object], queries: np.ndarray) -> float:
    times = []
    for row in queries:
        start = time.perf_counter()
        work(row)
        times.append(1e3 * (time.perf_counter() - start))
    return float(np.median(times[1:]))


def main() -> None:
    if len(sys.argv) > 1:
        case = json.loads(sys.argv[1])
        print(json.dumps({"add": add, "query": query}[case["phase"]](case)))
        return
    plan, rows = table.load("case_base"), []
    for case in plan["case"]:
        figures: dict[str, float] = {}
        with tempfile.TemporaryDirectory() as folder:
            for phase in ("add", "query"):
                arguments = {**case, "phase": phase, "path": f"{folder}/base"}
                figures |= table.run_alone("benchmarks.case_base", arguments, plan["limit"]) or {}
        for name, measure in plan["measures"].items():
            shown = f"{figures[name]:,.{measure['digits']}f}" if name in figures else f"over {plan['limit']} s"
            rows.append([case["name"], measure["what"], shown, case["targets"].get(name, "")])
    table.write("case_base", plan["title"], ["case base", "what", "measured", "target"], rows)


if __name__ == "__main__":
    main()
