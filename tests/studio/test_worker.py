import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.disk_order import steps_on_disk
from tests.helpers.studies import numeric_study, small_study
from whynear.studio.runner import LOG, TEMPORARY, clear_worker, end_worker, events_in, start_worker
from whynear.studio.worker import as_plain, put_results, run_study

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


@pytest.mark.parametrize("study", [small_study, numeric_study])
def test_every_part_is_plain_and_says_what_the_study_says(study):
    made = study()
    values = {"problem": made.problem, "comparison": made.comparison, "interpretation": made.interpretation}
    parts = {name: as_plain(name, value) for name, value in {**values, "verdicts": made.verdicts}.items()}
    assert json.loads(json.dumps(parts, allow_nan=False)) == parts
    assert parts["comparison"]["chosen"] == made.comparison.chosen
    assert parts["comparison"]["expected"] == made.comparison.expected
    assert [row["feature"] for row in parts["verdicts"]["rows"]] == list(made.verdicts.feature_names)
    assert parts["problem"]["target"] == made.problem.target


def test_a_part_that_is_no_table_is_only_named():
    assert as_plain("model", object()) == {}


def test_lines_that_were_cut_off_are_no_events():
    assert list(events_in(['{"event": "prog', "", '{"event": "stopped"}'])) == [{"event": "stopped"}]


def test_a_worker_gets_its_job_and_leaves_nothing_but_its_log(tmp_path, monkeypatch):
    text = "import os, sys; print(sys.stdin.readline()); print(os.environ['TMPDIR'], file=sys.stderr)"
    monkeypatch.setattr("whynear.studio.runner.WORKER", ["-c", text])
    process = start_worker(tmp_path, {"table": "iris"})
    assert list(events_in(process.stdout)) == [{"table": "iris"}]
    assert clear_worker(process, tmp_path) == 0
    assert (tmp_path / LOG).read_text().strip() == str(tmp_path / TEMPORARY)
    assert [path.name for path in tmp_path.iterdir()] == [LOG]


def test_a_worker_that_does_not_end_by_itself_is_killed(tmp_path, monkeypatch):
    monkeypatch.setattr("whynear.studio.runner.ENDING_SECONDS", 0.05)
    text = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('{}', flush=True); time.sleep(600)"
    )
    monkeypatch.setattr("whynear.studio.runner.WORKER", ["-c", text])
    process = start_worker(tmp_path, {})
    next(events_in(process.stdout))
    end_worker(process)
    assert clear_worker(process, tmp_path) != 0
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)
