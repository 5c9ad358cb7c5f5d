"""LANN beside plain kNN on the data sets of its paper; seconds and memory as tables grow."""

import json
import sys
import time
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from benchmarks import table
from benchmarks.rivals.fit import peak_mb
from whynear import LANN, LocalMetric, NeighborSearch, datasets

PLAN = table.load("lann")


def data_of(case: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    if case["name"] == "artificial":
        return make_classification(2000, random_state=0)
    data = datasets.load(case["name"])
    X = data.X[data.columns] if case.get("paper_columns") else data.X
    return X.to_numpy(dtype=float), np.asarray(data.y)


def folds_of(protocol: str, X: np.ndarray, y: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Training and test rows: a fifth and four fifths, or nine tenths and one."""
    if protocol == "fifth":
        return [(few, many) for many, few in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y)]
    return list(StratifiedKFold(10, shuffle=True, random_state=0).split(X, y))


def compare(protocol: str) -> None:
    plan, rows, gains, near = PLAN["accuracy"], [], [], 0
    for case in plan["sets"]:
        (X, y), scores, start = data_of(case), [], time.process_time()
        for train, test in folds_of(protocol, X, y):
            scaler = StandardScaler().fit(X[train])
            A, B = scaler.transform(X[train]), scaler.transform(X[test])
            models = KNeighborsClassifier(5, weights="distance"), LANN(random_state=0)
            scores.append([model.fit(A, y[train]).score(B, y[test]) for model in models])
        (plain, ours), deviation = np.mean(scores, axis=0), np.std(scores, axis=0)[1]
        gains.append(ours - plain)
        near += ours >= case["paper"] - 0.01
        published = f"{case['paper']:.2f}" if protocol == "fifth" else ""
        row = [case["name"], f"{plain:.4f}", f"{ours:.4f} ± {deviation:.4f}", f"{ours - plain:+.4f}", published]
        rows.append([*row, f"{(time.process_time() - start) / len(scores):.1f}"])
        print(" ".join(rows[-1]), file=sys.stderr, flush=True)
    summary = ["mean", "", "", f"{np.mean(gains):+.4f}", f"near on {near}" if protocol == "fifth" else "", ""]
    rows.append([*summary[:2], f"above on {sum(gain > 0 for gain in gains)}", *summary[3:]])
    header = ["data set", "plain kNN", "LANN", "gain", "published LANN", "CPU s a fold"]
    title = f"{plan['title']}; trained on {'a fifth' if protocol == 'fifth' else 'nine tenths'}"
    table.write("lann", title, header, rows, keep_others=True)


def fit(case: dict[str, Any]) -> dict[str, Any]:
    given = PLAN["speed"]["given"]
    if case["name"] == "letter":
        X, y = data_of(case)
        X, y = StandardScaler().fit_transform(X)[: case["rows"]], y[: case["rows"]]
    else:
        X, y = make_classification(case["rows"], PLAN["speed"]["columns"], n_informative=8, random_state=0)
    LANN(random_state=0, **given).fit(X[:500], y[:500])  # compiles or loads
    wall, cpu = time.perf_counter(), time.process_time()
    model = LANN(random_state=0, **(given if case["given"] else {})).fit(X, y)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return {"wall": wall, "cpu": cpu, "peak": peak_mb(), "recall": model.candidate_recall_}


def time_fits() -> None:
    plan = PLAN["speed"]
    cases = [{"name": "letter", "rows": plan["letter"], "given": given} for given in (True, False)]
    cases += [{"name": "generated", "rows": n, "given": True} for n in plan["sizes"]]
    rows = []
    for case in cases:
        found = table.run_alone("benchmarks.lann", case, limit=1200)
        cells = [case["name"], f"{case['rows']:,}", "given" if case["given"] else "chosen"]
        if found is None:
            rows.append([*cells, "over 1,200", "", "", ""])
        else:
            cells += [f"{found['wall']:.1f}", f"{found['cpu']:.1f}", f"{found['peak']:.0f}", f"{found['recall']:.4f}"]
            rows.append(cells)
        print(" ".join(rows[-1]), file=sys.stderr, flush=True)
    header = ["data", "cases", "settings", "wall s", "CPU s", "peak, MB", "recall of lists"]
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
    "fifth": lambda: compare("fifth"),
    "tenfold": lambda: compare("tenfold"),
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
