"""What is recorded, and what must hold after a power cut at any moment of it. Imported by a fork server.

Work is called with a folder and a function that acknowledges; a check with what a power cut left of that folder, with
what was acknowledged before the cut, and with what was to be acknowledged later.
"""

import os
from pathlib import Path
from unittest.mock import patch

import numpy as np

from tests.helpers.writers import METRIC, batch
from whynear.cases import index as index_cache
from whynear.cases.case_base import CaseBase
from whynear.cases.index import map_arrays
from whynear.metric import DiagonalMetric
from whynear.model.files import load, save
from whynear.stream import results as result
from whynear.stream.results import RECORD, UNFINISHED
from whynear.stream.running import run_stream
from whynear.studio.project import FITS, NEW, Project, added
from whynear.studio.runner import Runner
from whynear.studio.worker import put_results
from whynear.utils.files import make_folder, write_data

# Models: a file is the one acknowledged last, or the next one.

METRICS = [DiagonalMetric(np.arange(1.0, 1001.0) * factor) for factor in (1, 2, 3)]
MODEL = "metric.whynear"


def save_first(folder):
    save(METRICS[0], folder / MODEL)


def save_others(folder, say):
    for number, metric in enumerate(METRICS[1:], 1):
        save(metric, Path(folder, MODEL))
        say(number)


def save_unsafely(folder, say):
    """Replace the model by a file that was not synced."""
    save(METRICS[1], Path(folder, "other"))
    Path(folder, "new").write_bytes(Path(folder, "other").read_bytes())
    os.replace(Path(folder, "new"), Path(folder, MODEL))
    say(1)


def check_model(folder, said, later):
    allowed = [METRICS[number] for number in (said[-1] if said else 0, *later[:1])]
    assert load(folder / MODEL) in allowed, "neither the model saved last nor the next one"


# Case bases: exactly the changes that were acknowledged, or one more.

BASE = "base"
PAGES_OF_LOG = 12  # after which SQLite moves the log into the file


def change_cases(folder, say, synchronous="FULL"):
    """Make a case base, add and remove cases, close it, and do so again."""
    index_cache.FEWEST_CASES_KEPT = 30
    for number in range(2):
        with CaseBase(Path(folder, BASE), METRIC) as base:
            base._store.database.execute(f"PRAGMA wal_autocheckpoint = {PAGES_OF_LOG}")
            assert base._store.database.first("PRAGMA synchronous") == (2,)  # FULL
            base._store.database.execute(f"PRAGMA synchronous = {synchronous}")
            say({})
            for turn in range(6):
                X, payloads = batch(number, turn, 10 + 7 * turn)
                say({case: [number, turn] for case in base.add(X, payloads).tolist()})
                base.retrieve(X[0], k=3)
            oldest = next(iter(base.blocks())).ids[:10].tolist()
            base.remove(oldest)
            say(dict.fromkeys(oldest))
            base.compact()


def cases_after(said):
    """The batches of all cases by their ids."""
    known = {}
    for changes in said:
        known |= {int(case): place for case, place in changes.items()}
    return {case: place for case, place in known.items() if place is not None}


def check_cases(folder, said, later):
    allowed = [cases_after(said), cases_after([*said, *later[:1]])]
    if (index := folder / f"{BASE}-index").exists() and index.stat().st_size:
        removed = {int(case) for changes in said for case, place in changes.items() if place is None}
        assert not removed & set(map_arrays(index)[1]["ids"].tolist()), "removed cases are still in the index"
    with CaseBase(folder / BASE, METRIC) as base:
        assert base.check() == len(base)
        found = {
            int(case): payload["batch"]
            for block in base.blocks()
            for case, payload in zip(block.ids, block.payloads, strict=True)
        }
        assert found in allowed, f"{len(found)} cases instead of {' or '.join(str(len(one)) for one in allowed)}"
        for case in list(found)[::50]:
            assert base.retrieve(base.get([case]).X.iloc[0], k=1).ids == [case]
        base._store.database.execute("PRAGMA synchronous = OFF")  # the power stays on from here
        base.add(*batch(9, 9, 3))
        assert len(base) == len(found) + 3


# Streams: what was acknowledged is not done again, and in the end all files are as if nothing had happened.

OUT = "out"
STREAM = {"target": "kind", "every": 20, "max_size": 100, "random_state": 0}


def learn_stream(folder, say, table, overwrite=False):
    run_without_figure(table, Path(folder, OUT), overwrite, lambda step, share: say(step))
    say("finished")


def run_without_figure(table, out, overwrite, progress=None):
    with patch.object(result, "_figure", lambda result: "<svg></svg>"):
        run_stream(table, out=out, overwrite=overwrite, progress=progress, **STREAM)


def check_stream(folder, said, later, table, whole, older=None):
    """Check a run of a table; ``whole`` are its files undisturbed, and ``older`` those of a run that it replaces."""
    out = folder / OUT
    files = {path.name: path.read_bytes() for path in out.iterdir()} if out.exists() else {}
    if RECORD in files and UNFINISHED not in files:
        assert files in ([whole] if said else [whole, older]), "files of a finished run are missing or mixed"
    if "finished" in said:
        assert whole.items() <= files.items(), "a finished run is lost"
    elif said and UNFINISHED in files:
        n_rows = int(said[-1].removeprefix("row ").replace(",", ""))
        assert load(out / UNFINISHED).counts_["n_rows"] >= n_rows, "rows that were learned are forgotten"
    elif said:
        assert files == whole, "a run that was begun is lost"
    if UNFINISHED in files or RECORD not in files:
        run_without_figure(table, out, overwrite=older is not None and not said)
        assert {path.name: path.read_bytes() for path in out.iterdir()} == whole, "the run goes on to other files"


# The studio: tables and studies are those of the answer given last, or of the next one, and their files are whole.

PROJECT = "project"
RESULT_FILES = {name: b'{"finding": "found"}'.ljust(5000) for name in ("study.json", "model.whynear", "page.json")}
STUDY = {"source": "x.csv", "target": "y", "settings": {}, "state": "running"}


def content_of(name):
    return (f"{name},y\n" + "1,u\n2,v\n" * 500).encode()


def shown(project):
    tables = {row["id"]: row["name"] for row in project.store.tables()}
    return {"tables": tables, "studies": {row["id"]: [row["name"], row["state"]] for row in project.store.studies()}}


def change_project(folder, say):
    project = Project(Path(folder, PROJECT))
    ids = []
    for number in range(3):
        row = project.new_table(f"{number}.csv")
        project.half_of(row).write_bytes(content_of(row["name"]))
        ids.append(added(project, row)["id"])
        say(shown(project))
        study = {**STUDY, "id": f"{number:016}", "name": f"study {number}", "table_id": ids[-1]}
        project.store.add_study(study)
        say(shown(project))
        finish_study(project.folder_of(study["id"]))
        project.store.change_study(study["id"], state="finished", name=f"finished {number}")
        say(shown(project))
    project.remove_study(study["id"])
    say(shown(project))
    project.remove_table(ids[-1])
    say(shown(project))
    project.close()


def finish_study(folder):
    """Do what the process of a study does."""
    make_folder(folder / FITS)
    make_folder(folder / NEW)
    for name, data in RESULT_FILES.items():
        write_data(folder / NEW / name, data)
    put_results(folder)


def check_project(folder, said, later):
    project = Project(folder / PROJECT)
    allowed = [said[-1] if said else {"tables": {}, "studies": {}}, *later[:1]]
    try:
        assert shown(project) in allowed, "neither what was acknowledged last nor the next"
        Runner(project)  # marks studies that ran
        for row in project.store.tables():
            assert project.file_of(row["id"]).read_bytes() == content_of(row["name"]), (
                "the file of a table is not whole"
            )
        for row in project.store.studies():
            assert row["state"] in ("finished", "interrupted")
            results = project.results_of(row["id"])
            files = {path.name: path.read_bytes() for path in results.iterdir()} if results.exists() else None
            assert files == (RESULT_FILES if row["state"] == "finished" else None), "results are lost or not whole"
        for kind, known in shown(project).items():
            assert {path.name for path in (project.folder / kind).glob("*")} <= known.keys(), (
                "files of what was removed"
            )
    finally:
        project.close()
