import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.disk_order import steps_on_disk
from whynear.studio.worker import put_results, run_study

JOB = {"table": "iris", "target": None, "settings": {"learner": "grlvq", "folds": 2, "n_jobs": 1}}


def events_of(job):
    command = [sys.executable, "-m", "whynear.studio.worker"]
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    process.stdin.write(json.dumps(job) + "\n")
    process.stdin.flush()
    events = [json.loads(line) for line in process.stdout]
    process.communicate()
    return events


@pytest.mark.slow
def test_a_study_is_written_whole_and_its_fits_are_removed(tmp_path, blank_figures):
    said = []
    run_study({**JOB, "folder": str(tmp_path)}, said.append)
    assert {"report.html", "study.json", "model.whynear", "page.json"} <= {
        path.name for path in (tmp_path / "study").iterdir()
    }
    assert not (tmp_path / "fits").exists()
    assert said[-1]["event"] == "finished"
    shares = [event["share"] for event in said if event["event"] == "progress"]
    assert shares == sorted(shares)
    assert next(event["name"] for event in said if event["event"] == "part") == "problem"
    json.dumps(said, allow_nan=False)


@pytest.mark.slow
def test_bad_input_is_one_event(tmp_path):
    (event,) = [
        one for one in events_of({**JOB, "target": "nothing", "folder": str(tmp_path)}) if one["event"] == "failed"
    ]
    assert "'nothing'" in event["message"]
    assert not (tmp_path / "study").exists()


@pytest.mark.slow
def test_the_process_ends_when_its_input_ends(tmp_path):
    job = {**JOB, "table": "breast_cancer", "settings": {"n_jobs": 1}, "folder": str(tmp_path)}
    command = [sys.executable, "-m", "whynear.studio.worker"]
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    process.stdin.write(json.dumps(job) + "\n")
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["event"] == "progress"
    process.stdin.close()
    assert process.wait(60) != 0
    process.stdout.close()
    assert not (Path(tmp_path) / "study").exists()


@pytest.mark.parametrize("older", [[], ["study"], ["study", "older"]])
def test_results_are_whole_and_on_the_disk_before_anything_is_removed(tmp_path, monkeypatch, older):
    for name in ("new", "fits", *older):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"of {name}").touch()
    steps = steps_on_disk(monkeypatch)
    put_results(tmp_path)
    assert [str(path.relative_to(tmp_path)) for path in sorted(tmp_path.rglob("*"))] == ["study", "study/of new"]
    begin = [("remove", "of older"), ("remove", "older")] if "older" in older else []
    moves = [("move", "study", "older")] if older else []
    assert steps[: len(begin + moves) + 2] == [*begin, *moves, ("move", "new", "study"), ("sync", tmp_path.name)]
