"""Time to predict and explain one row: the first call, which builds the search, and the median of later calls."""

import json
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks import table
from whynear import LocalMetric, explain
from whynear.learn import LEARNERS


def fitted(case: dict[str, Any]) -> tuple[Any, np.ndarray]:
    """A learner that votes among all rows but is fitted to only some of them, to save time, and new rows."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((case["cases"], case["features"]))
    y = np.array(["left", "right"])[(X[:, 0] + X[:, 1] ** 2 > 0.7).astype(int)]
    some = slice(case["fitted_rows"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LEARNERS[case["learner"]](random_state=0, **case["settings"]).fit(X[some], y[some])
    model.cases_, model.codes_ = X, np.searchsorted(model.classes_, y)
    if isinstance(model.metric_, LocalMetric):
        name = "weights" if model.metric_.omegas is None else "omegas"
        maps = np.resize(model.metric_.maps, (len(X), *model.metric_.maps.shape[1:]))
        model.metric_ = LocalMetric(X, **{name: maps})
    return model, rng.standard_normal((case["calls"] + 1, case["features"]))


def seconds_each(work: Callable[[np.ndarray], object], rows: np.ndarray) -> list[float]:
    seconds = []
    for row in rows:
        start = time.process_time()
        work(row)
        seconds.append(time.process_time() - start)
    return seconds


def measure(case: dict[str, Any]) -> dict[str, float]:
    model, rows = fitted(case)
    predicting = seconds_each(lambda row: model.predict(row[None]), rows)
    explaining = seconds_each(lambda row: explain(model, row), rows)
    return {
        "first": predicting[0],
        "predict": statistics.median(predicting[1:]),
        "explain": statistics.median(explaining[1:]),
    }


def main() -> None:
    if len(sys.argv) > 1:
        print(json.dumps(measure(json.loads(sys.argv[1]))))
        return
    plan = table.load("single_rows")
    shared = {name: plan[name] for name in ("cases", "features", "calls", "fitted_rows")}
    rows = []
    for case in plan["case"]:
        found = table.run_alone("benchmarks.single_rows", {**shared, **case}, plan["limit"])
        if found is None:
            rows.append([case["name"], f"over {plan['limit']} s", "", ""])
        else:
            rows.append([case["name"], *(f"{1e3 * found[name]:.1f}" for name in ("first", "predict", "explain"))])
    table.write(
        "single_rows", plan["title"], ["learner", "first predict, CPU ms", "predict, CPU ms", "explain, CPU ms"], rows
    )


if __name__ == "__main__":
    main()
