import json

import pytest

from tests.helpers.studies import small_study
from tests.helpers.studios import add_finished
from whynear.studio.project import Project
from whynear.studio.runner import Relearner, Runner, learners_after, progress_of, seconds_left
from whynear.studio.store import NotFound, WrongState

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


ROW = {"begun": 100.0, "ended": None, "state": "running", "share": 0.5, "expected": 60.0, "learners": {}}
FIT = "compare learners, fold {} of 5: {}, about 20 s left for this step"


def test_the_folds_of_each_learner_are_counted_and_the_current_one_is_last():
    learners = {}
    for fold, name in ((1, "GMLVQ"), (1, "LANN"), (2, "GMLVQ")):
        learners = learners_after(learners, FIT.format(fold, name))
    assert list(learners.items()) == [("LANN", 1), ("GMLVQ", 2)]
    assert learners_after(learners, "map the cases") == learners
    shown = progress_of({**ROW, "learners": learners, "step": FIT.format(2, "GMLVQ")}, 110.0)
    assert [one for one in shown["learners"] if one["current"]] == [{"name": "GMLVQ", "folds": 2, "current": True}]


def test_a_real_report_of_a_study_names_its_learner():
    from whynear.study.fits import TimeLeft

    said = []
    TimeLeft([("gmlvq", 2.0)]).tell(lambda step, share: said.append(step), "compare learners, fold 3 of 5", "gmlvq")
    assert learners_after({}, said[0]) == {"GMLVQ": 3}


@pytest.mark.parametrize(
    ("share", "spent", "expected", "left"),
    [
        (0.0, 5.0, None, None),
        (0.0, 5.0, 60.0, 55.0),
        (0.0, 99.0, 60.0, 0.0),
        (0.25, 10.0, 60.0, 30.0),
        (1.0, 9.0, 1.0, 0.0),
    ],
)
def test_the_time_left(share, spent, expected, left):
    assert seconds_left(share, spent, expected) == left


def test_no_time_is_left_of_a_study_that_does_not_run_and_none_is_spent_before_it_starts():
    assert progress_of({**ROW, "state": "cancelled", "ended": 130.0, "step": "x"}, 999.0)["seconds_left"] is None
    assert progress_of({**ROW, "state": "cancelled", "ended": 130.0, "step": "x"}, 999.0)["seconds"] == 30.0
    assert progress_of({**ROW, "begun": None}, 999.0) is None


WAITING = ["-c", "import sys; sys.stdin.read()"]
MOVES = {"features": [], "sufficient_before": [], "sufficient_after": [], "sentence": "nothing moves"}


@pytest.fixture
def project_of_relearner(tmp_path):
    made = Project(tmp_path)
    made.store.add_study({**STUDY, "id": "a", "state": "finished"})
    made.folder_of("a").mkdir(parents=True)
    yield made
    made.close()


@pytest.fixture
def relearner(project_of_relearner):
    made = Relearner(project_of_relearner)
    yield made
    made.close()


def worker(monkeypatch, *events, code=0):
    """A process that only writes these lines."""
    lines = "\n".join(json.dumps(event) for event in events)
    text = f"import sys; sys.stdin.readline(); print({lines!r}) if {lines!r} else None; sys.exit({code})"
    monkeypatch.setattr("whynear.studio.runner.WORKER", ["-c", text])


def test_the_events_of_a_refit_are_kept_in_the_project(project_of_relearner, relearner, monkeypatch):
    step = {"event": "progress", "step": "refit the learner", "share": 0.5}
    worker(monkeypatch, step, {"event": "finished", "value": MOVES})
    number = relearner.start("a", ["x"]).number
    relearner.wait()
    found = Relearner(project_of_relearner).shown("a", number)
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


def test_a_refit_that_ran_when_the_server_ended_is_interrupted(project_of_relearner, relearner, monkeypatch):
    monkeypatch.setattr("whynear.studio.runner.WORKER", WAITING)
    number = relearner.start("a", ["x"]).number
    relearner.close()
    assert relearner.shown("a", number).state == "interrupted"
    project_of_relearner.store.add_relearning("a", ["y"])  # as if the server had been killed
    killed, _ = Relearner(project_of_relearner).listed("a")
    assert (killed.state, killed.features) == ("interrupted", ["y"])


def test_a_refit_whose_score_cannot_be_written_has_failed_and_another_can_start(
    project_of_relearner, relearner, monkeypatch
):
    change = project_of_relearner.store.change_relearning

    def full(number, **changes):
        if "score" in changes:
            raise OSError("The disk is full.")
        return change(number, **changes)

    worker(monkeypatch, {"event": "score", "value": {}}, {"event": "finished", "value": MOVES})
    monkeypatch.setattr(project_of_relearner.store, "change_relearning", full)
    relearner.start("a", ["x"])
    relearner.wait()
    (found,) = relearner.listed("a")
    assert (found.state, found.message) == ("failed", "The disk is full.")
    relearner.start("a", ["x"])
