"""Relevance intervals, compared with the programs of the papers one by one and with a warm-started solver."""

import json
import os
import sys
import time
from typing import Any

import highspy
import numpy as np
from scipy.optimize import linprog

from benchmarks import table
from benchmarks.rivals.fit import peak_mb
from whynear import LinearMetric, MinimumNormRegressor, datasets, relevance_intervals
from whynear.interpret.programs import highs_model
from whynear.metric.projection import principal_directions

SLACK = 0.01


def make_data(case: dict[str, Any]) -> tuple[LinearMetric, np.ndarray]:
    if "dataset" in case:
        data = datasets.load(case["dataset"])
        X, y = data.X.to_numpy(dtype=float), np.asarray(data.y)
        X = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
        return MinimumNormRegressor().fit(X, np.where(y == y[0], 1.0, -1.0)).metric_, X
    rng = np.random.default_rng(0)
    n, rank, d = case["rank"] + case["samples_beyond_rank"], case["rank"], case["features"]
    X = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d))
    X -= X.mean(axis=0)
    X /= X.std(axis=0)
    return LinearMetric(rng.standard_normal((1, d))), X


def by_whynear(case: dict[str, Any]) -> dict[str, Any]:
    metric, X = make_data(case)
    relevance_intervals(LinearMetric([[1.0, 2.0]]), X[:, :2])  # compiles or loads
    repeats = case["repeats"] if "rivals" in case else 1
    if repeats > 1:
        relevance_intervals(metric, X, slack=SLACK, tolerance=case.get("tolerance", 0.0))
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(repeats):
        found = relevance_intervals(metric, X, slack=SLACK, tolerance=case.get("tolerance", 0.0))
    wall, cpu = (time.perf_counter() - wall) / repeats, (time.process_time() - cpu) / repeats
    bounds = {}
    if "rivals" in case:
        bounds = {"lower": found.lower.tolist(), "upper": found.upper.tolist(), "mu": found.rows[0].mu}
    return {"cpu": cpu, "wall": wall, "peak": peak_mb(), **bounds, **vars(found.certificate)}


def by_papers(case: dict[str, Any]) -> dict[str, Any]:
    metric, X = make_data(case)
    d, kept = case["features"], principal_directions(X).rank
    directions = np.linalg.svd(X - X.mean(axis=0))[2]
    null = directions[kept:].T
    w = directions[:kept].T @ (directions[:kept] @ metric.omega[0])
    total = np.append(np.ones(d), np.zeros(null.shape[1]))
    A, b = np.block([[-np.eye(d), null], [-np.eye(d), -null]]), np.concatenate([-w, w])
    free = [(0, None)] * d + [(None, None)] * null.shape[1]

    def solve(cost: np.ndarray, A: np.ndarray, b: np.ndarray) -> float:
        found = linprog(cost, A, b, bounds=free)
        return float(found.fun) if found.status == 0 else np.inf

    A, b = np.vstack([A, total]), np.append(b, (1 + SLACK) * solve(total, A, b))
    features = np.linspace(0, d - 1, case["papers_features"]).astype(int).tolist()
    lower, upper = [], []
    start = time.process_time()
    for j in features:
        lower.append(solve(np.eye(len(total))[j], A, b))
        moved = np.append(np.zeros(d), null[j])
        ends = [solve(-s * moved, np.vstack([A, -s * moved]), np.append(b, s * w[j])) for s in (1, -1)]
        upper.append(max(w[j] - ends[0], -w[j] - ends[1]))
    cpu = (time.process_time() - start) * d / len(features)
    return {"cpu": cpu, "features": features, "lower": lower, "upper": upper}


def by_warm_start(case: dict[str, Any]) -> dict[str, Any]:
    metric, X = make_data(case)
    U = np.ascontiguousarray(principal_directions(X).kept)
    b, d = U.T @ metric.omega[0], len(U)
    start = time.process_time()
    none = np.zeros(len(b))
    least = highs_model(U, b, none, budget=None)
    least.run()
    model = highs_model(U, b, none, (1 + SLACK) * least.getObjectiveValue())
    ends = np.empty((d, 2))
    for j in range(d):
        pair = np.array([j, d + j], dtype=np.int32)
        for side, sign in enumerate((1.0, -1.0)):
            model.changeColsCost(2, pair, np.array([-sign, sign]))
            model.run()
            assert model.getModelStatus() == highspy.HighsModelStatus.kOptimal
            ends[j, side] = -model.getObjectiveValue()
        model.changeColsCost(2, pair, np.zeros(2))
    cpu = time.process_time() - start
    high, low = ends[:, 0], -ends[:, 1]
    lower = np.where(low * high <= 0, 0.0, np.minimum(np.abs(low), np.abs(high)))
    upper = np.maximum(np.abs(low), np.abs(high))
    return {"cpu": cpu, "features": list(range(d)), "lower": lower.tolist(), "upper": upper.tolist()}


METHODS = {"whynear": by_whynear, "papers": by_papers, "warm": by_warm_start}


def difference(ours: dict[str, Any], rival: dict[str, Any]) -> float:
    """The largest difference of a bound, relative to mu."""
    chosen = rival["features"]
    return max(np.abs(np.array(ours[end])[chosen] - rival[end]).max() for end in ("lower", "upper")) / ours["mu"]


def all_cases(plan: dict[str, Any]) -> list[dict[str, Any]]:
    growth = plan["growth"]
    sizes = [(d, growth["at_rank"]) for d in growth["features"]]
    sizes += [(growth["at_features"], rank) for rank in growth["ranks"]]
    grown = [{"name": f"growth: {d:,} features, rank {rank}", "features": d, "rank": rank} for d, rank in sizes]
    return [*plan["case"], *grown]


def row_of(case: dict[str, Any], settings: dict[str, Any], limit: float) -> list[str]:
    def run(method: str) -> dict[str, Any] | None:
        return table.run_alone("benchmarks.intervals", {**settings, **case, "method": method}, limit)

    if "dataset" in case and not os.environ.get("WHYNEAR_DATA"):
        return [case["name"], "skipped: set WHYNEAR_DATA to the folder with the data sets", *[""] * 10]
    ours = run("whynear")
    if ours is None:
        return [case["name"], f"over {limit} s", *[""] * 10]
    row = [case["name"], f"{ours['programs']:,}", f"{ours['cpu']:.3f}", f"{ours['wall']:.3f}", f"{ours['peak']:.0f}"]
    row += [str(ours["fallbacks"]), f"{ours['error']:.0e}"]
    worst = 0.0
    for method in ("papers", "warm"):
        rival = run(method) if method in case.get("rivals", ()) else {}
        if not rival:
            row += ["" if rival is not None else f"over {limit} s", ""]
            continue
        row += [f"{rival['cpu']:.2f}", f"{rival['cpu'] / ours['cpu']:,.0f}"]
        worst = max(worst, difference(ours, rival))
    return [*row, f"{worst:.0e}" if "rivals" in case else ""]


def main() -> None:
    if len(sys.argv) > 1:
        case = json.loads(sys.argv[1])
        print(json.dumps(METHODS[case["method"]](case)))
        return
    plan = table.load("intervals")
    settings = {name: plan[name] for name in ("samples_beyond_rank", "repeats", "papers_features")}
    rows = [row_of(case, settings, plan["limit"]) for case in all_cases(plan)]
    header = ["case", "programs", "whynear, CPU s", "wall s", "peak, MB", "fallbacks", "worst certificate"]
    header += [
        "papers' programs, CPU s",
        "times faster",
        "warm HiGHS, CPU s",
        "times faster",
        "difference / mu",
    ]
    table.write("intervals", plan["title"], header, rows)


if __name__ == "__main__":
    main()
