import pytest

from tests.helpers.studios import client_of

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
