import json

import pytest

from tests.helpers.studies import small_study
from tests.helpers.studios import add_finished
from whynear.studio.project import Project
from whynear.studio.runner import Runner
from whynear.studio.store import WrongState

STUDY = {"name": "n", "source": "iris", "table_id": None, "example": "iris", "target": "target", "settings": {}}


@pytest.fixture
def project(tmp_path):
    made = Project(tmp_path)
    yield made
    made.close()


def add(project, number, state):
    project.store.add_study({**STUDY, "id": number, "state": state})
    return project.folder_of(number)


def test_a_study_that_ran_when_the_server_was_killed_is_interrupted_and_keeps_its_fits(project):
    folder = add(project, "a", "running")
    for name in ("fits", "temporary", "new", "older"):
        (folder / name).mkdir(parents=True)
    Runner(project).close()
    row = project.store.study("a")
    assert row["state"] == "interrupted"
    assert "go on from there" in row["message"]
    assert [path.name for path in folder.iterdir()] == ["fits"]


def test_a_study_whose_files_are_complete_is_finished_although_nobody_noted_it(project):
    number = add_finished(project, small_study(), example="iris")
    project.store.change_study(number, state="running", finding="")
    Runner(project).close()
    row = project.store.study(number)
    assert row["state"] == "finished"
    assert row["finding"] == small_study().finding()


def test_what_is_over_cannot_be_cancelled_and_what_is_finished_cannot_go_on(project):
    add(project, "a", "finished")
    runner = Runner(project)
    with pytest.raises(WrongState, match="nothing to cancel"):
        runner.cancel("a")
    with pytest.raises(WrongState, match="cannot go on"):
        runner.resume("a")
    runner.remove("a")
    assert project.store.studies() == []


def fake_worker(project, monkeypatch, *events, code=0):
    """A worker that only writes these lines."""
    lines = "\n".join(json.dumps(event) for event in events)
    text = f"import sys; sys.stdin.readline(); print({lines!r}) if {lines!r} else None; sys.exit({code})"
    monkeypatch.setattr("whynear.studio.runner.WORKER", ["-c", text])
    add(project, "a", "waiting")
    runner = Runner(project)
    runner.wait()
    runner.close()
    return project.store.study("a")


def test_events_are_noted(project, monkeypatch):
    step = "compare learners, fold 1 of 5: GMLVQ, about 20 s left for this step"
    row = fake_worker(
        project,
        monkeypatch,
        {"event": "progress", "step": step, "share": 0.25},
        {"event": "part", "name": "comparison", "value": {"chosen": "gmlvq"}},
        {"event": "finished", "finding": "found"},
    )
    assert (row["state"], row["finding"], row["learners"]) == ("finished", "found", {"GMLVQ": 1})
    assert project.store.parts("a") == {"comparison": {"chosen": "gmlvq"}}


def test_a_failure_keeps_its_sentence(project, monkeypatch):
    row = fake_worker(project, monkeypatch, {"event": "failed", "message": "The table is empty."})
    assert (row["state"], row["message"]) == ("failed", "The table is empty.")


def test_a_process_that_ends_without_a_word_has_failed(project, monkeypatch):
    row = fake_worker(project, monkeypatch, code=9)
    assert row["state"] == "failed"
    assert "code 9" in row["message"]


def test_a_study_whose_table_is_gone_has_failed_and_the_next_one_starts(project, monkeypatch):
    project.store.add_study({**STUDY, "id": "lost", "state": "waiting", "table_id": "none", "example": None})
    row = fake_worker(project, monkeypatch, {"event": "finished", "finding": "found"})
    assert row["state"] == "finished"
    assert project.store.study("lost")["state"] == "failed"
    assert "'none'" in project.store.study("lost")["message"]


def test_lines_that_were_cut_off_are_passed_over(project, monkeypatch):
    runner = Runner(project)
    add(project, "a", "running")
    assert runner._note_events("a", ['{"event": "prog', "", '{"event": "failed", "message": "x"}']) == {
        "event": "failed",
        "message": "x",
    }
    runner.close()


def test_a_cancelled_study_is_over_when_cancelling_returns(project, monkeypatch):
    monkeypatch.setattr("whynear.studio.runner.WORKER", ["-c", "import sys; sys.stdin.read()"])
    add(project, "a", "waiting")
    runner = Runner(project)
    assert project.store.study("a")["state"] == "running"
    runner.cancel("a")
    runner.remove("a")
    assert project.store.studies() == []
    runner.close()


def test_a_study_whose_progress_cannot_be_written_has_failed_and_the_next_one_starts(project, monkeypatch):
    def full(*_):
        raise OSError("The disk is full.")

    with monkeypatch.context() as patch:
        patch.setattr(project.store, "add_part", full)
        row = fake_worker(project, monkeypatch, {"event": "part", "name": "comparison", "value": {}})
    assert (row["state"], row["message"]) == ("failed", "The disk is full.")
    runner = Runner(project)
    runner.resume("a")
    runner.wait()
    runner.close()
    assert project.store.parts("a") == {"comparison": {}}
