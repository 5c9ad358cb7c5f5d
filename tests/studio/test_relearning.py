import pytest

import whynear as wn
from tests.helpers.studies import grade_study, measured, octane_study
from tests.helpers.studios import add_finished, client_of, idle_studio
from whynear.studio.fewer_features import leave_out, left_out, moved, moves_between, run_relearning
from whynear.studio.live import live_study
from whynear.studio.models import LeaveOutQuery


def live_of(folder, study, table, **settings):
    """The finished study of a table of a project, ready to answer."""
    studio = idle_studio(folder)
    row = studio.project.new_table("table.csv")
    table.to_csv(studio.project.half_of(row), index=False)
    studio.project.add_table(row)
    number = add_finished(studio.project, study, table=row["id"], settings=settings)
    return studio, number, live_study(studio.project, studio.store.study(number))


@pytest.fixture(scope="module")
def twins(tmp_path_factory):
    """A study of a table in which two columns are copies of each other, and both matter."""
    table = measured()
    studio, number, live = live_of(
        tmp_path_factory.mktemp("twins"), wn.study(table, "y", splitting=wn.Splitting(folds=2)), table, folds=2
    )
    yield studio, number, live
    studio.project.close()


def verdicts(**features):
    """Verdicts as a study holds them; each feature with its verdict and its stand-ins."""
    return {
        "features": [
            {"feature": name, "verdict": verdict, "loss_without": 1.0, "loss_error": 0.5}
            for name, (verdict, _) in features.items()
        ],
        "stand_ins": [
            {"feature": name, "stand_in": other, "price": 0.0} for name, (_, own) in features.items() for other in own
        ],
        "sufficient": list(features)[:1],
    }


def test_what_moves_comes_first_and_is_told():
    before = verdicts(a=("no evidence", []), b=("replaceable", ["c"]), c=("replaceable", ["b"]))
    after = verdicts(a=("no evidence", []), b=("indispensable", []))
    found = moves_between(before, after, ["c"])
    assert [move.feature for move in found.features] == ["b", "a"]
    assert found.features[0].before.stand_ins == ["c"]
    assert found.features[0].after.stand_ins == []
    assert found.sentence == (
        "Without 'c', 1 verdict moves: 'b' from replaceable to indispensable; 1 feature has other stand-ins. "
        "Of the 2 features that are kept, 1 suffices: 'a'."
    )


def test_where_nothing_moves_that_is_said():
    before = verdicts(a=("replaceable", []), b=("replaceable", []), c=("undecided", []))
    found = moves_between(before, verdicts(a=("replaceable", []), b=("replaceable", [])), ["c"])
    assert "no verdict moves. Of the 2" in found.sentence
    alone = moves_between(before, verdicts(a=("replaceable", [])), ["b", "c"])
    assert alone.sentence == "Without 'b', 'c', one feature is left: 'a'."


@pytest.mark.slow
def test_of_two_copies_the_other_becomes_indispensable(twins):
    _, _, live = twins
    found = {move.feature: move for move in moved(live, LeaveOutQuery(features=["other"]), lambda *_: None).features}
    assert set(found) == {"sure", "one", "noise 1", "noise 2"}
    assert found["one"].before.verdict == "replaceable"
    assert found["one"].after.verdict == "indispensable"
    assert found["one"].after.stand_ins == []
    assert found["sure"].before.verdict == found["sure"].after.verdict == "indispensable"


@pytest.mark.slow
def test_the_score_is_said_before_the_verdicts(twins):
    studio, number, live = twins
    said = []
    row = studio.store.study(number)
    job = {"folder": str(live.folder.parent), "table": str(live.table), "target": "y", "settings": row["settings"]}
    run_relearning({**job, "relearn": ["noise 1"]}, said.append, lambda step, share: said.append((step, share)))
    kinds = [one["event"] for one in said if isinstance(one, dict)]
    assert kinds == ["score", "finished"]
    assert said[-1]["value"]["sufficient_before"]
    shares = [one[1] for one in said if isinstance(one, tuple)]
    assert shares == sorted(shares)


@pytest.mark.slow
@pytest.mark.parametrize("made", [grade_study, octane_study])
def test_bands_of_a_spectrum_are_left_out_as_a_whole(tmp_path, made):
    study = made()
    table = study.problem.X.assign(**{study.problem.target: study.problem.y})
    _, _, live = live_of(tmp_path, study, table, **study.inputs.changed())
    band = next(iter(live.bands))
    others = [name for name in study.verdicts.feature_names if name != band]
    assert left_out(live, LeaveOutQuery(features=[band])) == [band]
    score = leave_out(live, LeaveOutQuery(features=[band]))
    assert (score.features, sorted(score.kept)) == ([band], sorted(others))
    found = moved(live, LeaveOutQuery(features=[band]), lambda *_: None)
    assert sorted(move.feature for move in found.features) == sorted(others)


SEPAL = "sepal width (cm)"


@pytest.fixture(scope="module")
def ask(flowers):
    studio, number = flowers
    client = client_of(studio)
    yield lambda method, path="", **more: client.request(method, f"/api/studies/{number}/relearn{path}", **more)
    studio.relearner.close()


@pytest.mark.slow
def test_a_refit_gives_the_score_and_the_verdicts_that_move(ask, flowers):
    studio, _ = flowers
    started = ask("POST", json={"features": [SEPAL]})
    assert started.status_code == 202
    studio.relearner.wait()
    found = ask("GET", f"/{started.json()['number']}").json()
    assert (found["state"], found["message"]) == ("finished", "")
    assert len(found["score"]["kept"]) == len(found["moves"]["features"]) == 3
    assert ask("GET").json()[0] == found


def test_a_refit_is_cancelled(ask, monkeypatch):
    monkeypatch.setattr("whynear.studio.runner.WORKER", ["-c", "import sys; sys.stdin.read()"])
    number = ask("POST", json={"features": [SEPAL]}).json()["number"]
    assert ask("POST", json={"features": [SEPAL]}).status_code == 409
    assert ask("POST", f"/{number}/cancel").json()["state"] == "cancelled"


@pytest.mark.parametrize("body", [{"features": ["nothing"]}, {"features": []}, {"features": [SEPAL], "all": True}])
def test_what_cannot_be_left_out_is_refused_before_anything_starts(ask, body):
    before = ask("GET").json()
    answer = ask("POST", json=body)
    assert 400 <= answer.status_code < 500
    assert isinstance(answer.json()["detail"], str)
    assert ask("GET").json() == before


def test_all_features_cannot_be_left_out(ask, live):
    answer = ask("POST", json={"features": list(live.problem.X.columns)})
    assert answer.status_code == 400
    assert "at least one column" in answer.json()["detail"]
    assert ask("GET", "/99").status_code == 404
