"""The page of the studio in Chromium: time until it is ready, and until a click is answered, for many points."""

import json
import shutil
import statistics
import sys
import tempfile
import threading
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import uvicorn
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

import whynear as wn
from whynear.studio.guard import Keys
from whynear.studio.project import Project
from whynear.studio.routes import Studio
from whynear.studio.runner import Runner
from whynear.studio.server import free_socket, make_app
from whynear.studio.worker import write_page_data
from whynear.study.interpretation import placed_rows_of
from whynear.study.learning import learnable_problem
from whynear.study.settings import COMPARED_ROWS, StudySettings

FLAGS = "--headless=new --no-sandbox --disable-background-networking --no-first-run --window-size=1280,900"

# Both maps are drawn when a pixel of them can be read; then the page has had two frames to show them.
READY = """
const done = arguments[arguments.length - 1];
const drawn = () => {
  const maps = document.querySelectorAll("#map .scatter");
  if (maps.length < 2 || !document.querySelector("#done")) return setTimeout(drawn, 5);
  for (const map of maps) map.querySelector("canvas").getContext("2d").getImageData(0, 0, 1, 1);
  requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now())));
};
drawn();
"""

# A click on the learned map, and the time until its answer is on the page: the case, or the list of rows at this pixel.
CLICK = """
const [share, done] = [arguments[0], arguments[arguments.length - 1]];
const canvas = document.querySelectorAll("#map canvas:not(.above)")[1];
document.querySelector("#map").scrollIntoView();
const box = canvas.getBoundingClientRect();
const place = { clientX: box.left + box.width * share[0], clientY: box.top + box.height * share[1], bubbles: true };
const now = () => document.querySelector("#map .stack").textContent + document.querySelector("#case-panel").textContent;
const before = now(), begun = performance.now();
for (const kind of ["pointermove", "pointerdown", "pointerup"]) canvas.dispatchEvent(new PointerEvent(kind, place));
if (now() === before) return done(null);
requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - begun)));
"""

# A row chosen by its name, and the time until the server has said what it predicts.
ASK = """
const [row, done] = [arguments[0], arguments[arguments.length - 1]];
const find = document.querySelector("#find-row"), answer = document.querySelector("#what-if .answer");
const heading = () => document.querySelector("#what-if > div > .lead").textContent;
const before = answer.firstChild, begun = performance.now();
find.value = row;
find.dispatchEvent(new Event("input"));
const told = () => (answer.firstChild !== before && heading() === `Row ${row}` ? done(performance.now() - begun)
  : setTimeout(told, 2));
told();
"""

ZOOM = """
const done = arguments[arguments.length - 1], begun = performance.now();
document.querySelector("#map [aria-label='Zoom in']").click();
for (const canvas of document.querySelectorAll("#map canvas")) canvas.getContext("2d").getImageData(0, 0, 1, 1);
requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - begun)));
"""


def large_study(n_rows: int, n_features: int, folder: Path) -> Project:
    """A project with a finished study of so many rows; learned from those that a study compares, all are placed."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((n_rows, n_features))).add_prefix("f")
    table = X.assign(kind=np.where(X["f0"] + X["f1"] ** 2 > 0.7, "left", "right"))
    problem = learnable_problem(table, "kind", StudySettings())
    study = wn.study(table.iloc[:COMPARED_ROWS], "kind", learner="grlvq", splitting=wn.Splitting(folds=2))
    others = placed_rows_of(problem, study.problem, study.maps, study.model, 0)
    project = Project(folder)
    row = project.new_table("cases.parquet")
    table.to_parquet(project.folder / row["file"])
    project.store.add_table({**row, "bytes": 1})
    made = {"id": "a", "name": "a", "source": "cases.parquet", "table_id": row["id"], "example": None}
    project.store.add_study({**made, "target": "kind", "settings": {}, "state": "finished"})
    project.results_of("a").mkdir(parents=True)
    wn.save(study.model, project.results_of("a") / "model.whynear")
    write_page_data(replace(study, others=others), project.results_of("a"))
    return project


def opened(link: str) -> webdriver.Chrome:
    options = webdriver.ChromeOptions()
    for flag in FLAGS.split():
        options.add_argument(flag)
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    driver.set_script_timeout(120)
    driver.get(link)
    return driver


def measure(case: dict[str, Any]) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folder = Path(name)
        project = large_study(case["points"], case["features"], folder / "project")
        listening = free_socket(8800)
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        studio = Studio(project, Runner(project), Keys(project.store, listening.getsockname()[1]), address)
        server = uvicorn.Server(uvicorn.Config(make_app(studio), log_level="warning", ws="none"))
        serving = threading.Thread(target=server.run, args=([listening],), daemon=True)
        serving.start()
        driver = opened(studio.link())
        try:
            return timed(driver, f"{address}/?study=a", case)
        finally:
            driver.quit()
            server.should_exit = True
            serving.join()
            project.close()


def timed(driver: webdriver.Chrome, address: str, case: dict[str, Any]) -> dict[str, float]:
    ready = []
    for _ in range(case["repeats"]):
        driver.get("about:blank")
        driver.get(address)
        ready.append(driver.execute_async_script(READY))
    shares = [(0.5 + 0.02 * (k % 5), 0.5 + 0.02 * (k // 5)) for k in range(25)]
    clicks = [found for share in shares if (found := driver.execute_async_script(CLICK, share)) is not None]
    rows = [str(1 + k * case["points"] // 11) for k in range(11)]
    asked = [driver.execute_async_script(ASK, row) for row in rows][1:]
    zooms = [driver.execute_async_script(ZOOM) for _ in range(3)]
    found = {"ready": ready, "click": clicks, "ask": asked, "zoom": zooms}
    return {name: statistics.median(times) for name, times in found.items()} | {"clicks": len(clicks)}


if __name__ == "__main__":
    print(json.dumps(measure(json.loads(sys.argv[1]))))
