import json

import pytest

from whynear.studio.project import Project
from whynear.studio.runner import Relearner
from whynear.studio.store import NotFound, WrongState

STUDY = {"name": "n", "source": "iris", "table_id": None, "example": "iris", "target": "target", "settings": {}}
WAITING = ["-c", "import sys; sys.stdin.read()"]
MOVES = {"features": [], "sufficient_before": [], "sufficient_after": [], "sentence": "nothing moves"}


@pytest.fixture
def project(tmp_path):
    made = Project(tmp_path)
    made.store.add_study({**STUDY, "id": "a", "state": "finished"})
    made.folder_of("a").mkdir(parents=True)
    yield made
    made.close()


@pytest.fixture
def relearner(project):
    made = Relearner(project)
    yield made
    made.close()


def worker(monkeypatch, *events, code=0):
    """A process that only writes these lines."""
    lines = "\n".join(json.dumps(event) for event in events)
    text = f"import sys; sys.stdin.readline(); print({lines!r}) if {lines!r} else None; sys.exit({code})"
    monkeypatch.setattr("whynear.studio.runner.WORKER", ["-c", text])


def test_the_events_of_a_refit_are_kept_in_the_project(project, relearner, monkeypatch):
    step = {"event": "progress", "step": "refit the learner", "share": 0.5}
    worker(monkeypatch, step, {"event": "finished", "value": MOVES})
    number = relearner.start("a", ["x"]).number
    relearner.wait()
    found = Relearner(project).shown("a", number)
    assert (found.state, found.features, found.moves.sentence) == ("finished", ["x"], "nothing moves")


def test_a_refit_that_fails_or_ends_without_a_word_says_so(relearner, monkeypatch):
    worker(monkeypatch, {"event": "failed", "message": "Too few rows."})
    relearner.start("a", ["x"])
    relearner.wait()
    worker(monkeypatch, code=9)
    relearner.start("a", ["y"])
    relearner.wait()
    last, first = relearner.listed("a")
    assert (first.state, first.message) == ("failed", "Too few rows.")
    assert last.state == "failed"
    assert "code 9" in last.message


def test_one_runs_at_a_time_and_can_be_cancelled(relearner, monkeypatch):
    monkeypatch.setattr("whynear.studio.runner.WORKER", WAITING)
    number = relearner.start("a", ["x"]).number
    with pytest.raises(WrongState, match="already"):
        relearner.start("a", ["y"])
    relearner.cancel("a", number)
    assert relearner.shown("a", number).state == "cancelled"
    with pytest.raises(WrongState, match="nothing to cancel"):
        relearner.cancel("a", number)
    with pytest.raises(NotFound, match="no refit 99"):
        relearner.cancel("a", 99)
    again = relearner.start("a", ["y"]).number
    relearner.cancel_all("a")
    assert relearner.shown("a", again).state == "cancelled"


def test_a_refit_that_ran_when_the_server_ended_is_interrupted(project, relearner, monkeypatch):
    monkeypatch.setattr("whynear.studio.runner.WORKER", WAITING)
    number = relearner.start("a", ["x"]).number
    relearner.close()
    assert relearner.shown("a", number).state == "interrupted"
    project.store.add_relearning("a", ["y"])  # as if the server had been killed
    killed, _ = Relearner(project).listed("a")
    assert (killed.state, killed.features) == ("interrupted", ["y"])


def test_a_refit_whose_score_cannot_be_written_has_failed_and_another_can_start(project, relearner, monkeypatch):
    change = project.store.change_relearning

    def full(number, **changes):
        if "score" in changes:
            raise OSError("The disk is full.")
        return change(number, **changes)

    worker(monkeypatch, {"event": "score", "value": {}}, {"event": "finished", "value": MOVES})
    monkeypatch.setattr(project.store, "change_relearning", full)
    relearner.start("a", ["x"])
    relearner.wait()
    (found,) = relearner.listed("a")
    assert (found.state, found.message) == ("failed", "The disk is full.")
    relearner.start("a", ["x"])
