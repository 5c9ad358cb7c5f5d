"""Times of the studio: its page in Chromium, and its answers over HTTP, for models of a large table."""

import json
import statistics
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from fastapi.testclient import TestClient
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import whynear as wn
from benchmarks import table
from whynear.learn import LEARNERS
from whynear.studio.guard import Keys
from whynear.studio.project import Project
from whynear.studio.routes import Studio
from whynear.studio.runner import Runner
from whynear.studio.server import make_app

ADDRESS = "http://127.0.0.1:8777"
MEASURED_PAGE = ("ready", "click", "ask", "zoom")


def studio_with(case: dict[str, Any], folder: Path) -> tuple[Studio, str]:
    """A studio with one finished study, whose learner votes among all rows."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((case["rows"], case["features"]))).add_prefix("f")
    y = np.where(X["f0"] + X["f1"] ** 2 > 0.7, "left", "right")
    project = Project(folder)
    row = project.new_table("cases.parquet")
    path = project.folder / row["file"]
    X.assign(kind=y).to_parquet(path)
    project.store.add_table({**row, "bytes": path.stat().st_size})
    study = {"id": "a", "name": "a", "source": "cases.parquet", "table_id": row["id"], "example": None}
    project.store.add_study({**study, "target": "kind", "settings": {}, "state": "finished"})
    project.results_of("a").mkdir(parents=True)
    learner = LEARNERS[case["learner"]](random_state=0, **case["settings"])
    wn.save(make_pipeline(StandardScaler(), learner).fit(X, y), project.results_of("a") / "model.whynear")
    return Studio(project, Runner(project), Keys(project.store, 8777), ADDRESS), "a"


def milliseconds(client: TestClient, path: str, bodies: list[dict[str, Any]]) -> list[tuple[float, float]]:
    """Of each answer on a clock, and of the CPU, which other processes do not change."""
    found = []
    for body in bodies:
        clock, cpu = time.perf_counter(), time.process_time()
        answer = client.post(path, json=body)
        found.append((1e3 * (time.perf_counter() - clock), 1e3 * (time.process_time() - cpu)))
        assert answer.status_code == 200, answer.text
    return found


def measure(case: dict[str, Any]) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        studio, study = studio_with(case, Path(folder))
        client = TestClient(
            make_app(studio), base_url=ADDRESS, headers={"authorization": f"Bearer {studio.keys.token}"}
        )
        bodies = [{"row": place + 1, "values": {"f0": 0.1 * place}} for place in range(case["calls"] + 1)]
        asked = milliseconds(client, f"/api/studies/{study}/what-if", bodies)
        flipped = milliseconds(client, f"/api/studies/{study}/flip", bodies[:5])
        studio.project.close()
    return {
        "first": asked[0][0],
        "median": statistics.median(clock for clock, _ in asked[1:]),
        "cpu": statistics.median(cpu for _, cpu in asked[1:]),
        "flip": statistics.median(clock for clock, _ in flipped[1:]),
        "flip_cpu": statistics.median(cpu for _, cpu in flipped[1:]),
    }


def main() -> None:
    if len(sys.argv) > 1:
        print(json.dumps(measure(json.loads(sys.argv[1]))))
        return
    plan = table.load("studio")
    write_pages(plan)
    write_answers(plan)


def write_pages(plan: dict[str, Any]) -> None:
    """The page in Chromium, beside figures that were measured with other stacks."""
    rows = []
    for case in plan["page"]:
        given = {"features": plan["features"], "repeats": plan["repeats"]}
        found = table.run_alone("benchmarks.studio_pages", {**given, "points": case["points"]}, plan["limit"])
        times = ["", "", "", ""] if found is None else [f"{found[name] / 1e3:.2f}" for name in MEASURED_PAGE]
        rows.append([case["name"], f"{case['points']:,}", *times])
        print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
    rows += [[one["name"], f"{one['points']:,}", f"{one['ready']}", f"{one['click']}", "", ""] for one in plan["other"]]
    heads = ["page", "points", "ready, s", "click, s", "row by name, predicted by the server, s", "zoom, both maps, s"]
    table.write("studio", plan["page_title"], heads, rows, keep_others=True)


def write_answers(plan: dict[str, Any]) -> None:
    """What the server answers about single rows."""
    shared = {name: plan[name] for name in ("rows", "features", "calls")}
    measured = ("first", "median", "cpu", "flip", "flip_cpu")
    rows = []
    for case in plan["case"]:
        found = table.run_alone("benchmarks.studio", {**shared, **case}, plan["limit"])
        rows.append([case["name"], *("" if found is None else f"{found[name]:.0f}" for name in measured)])
    heads = ["learner", "first what-if, ms", "what-if, ms", "what-if, CPU ms", "flip, ms", "flip, CPU ms"]
    table.write("studio", plan["title"], heads, rows, keep_others=True)


if __name__ == "__main__":
    main()
