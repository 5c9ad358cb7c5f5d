import json

import pytest

from tests.helpers.studies import small_study, with_rows
from tests.helpers.studios import add_finished, client_of
from whynear.report.packed_rows import packed_rows


@pytest.fixture(scope="module")
def finished(flowers):
    studio, number = flowers
    return client_of(studio), number


def start(client, **more):
    return client.post("/api/studies", json={"example": "iris", **more})


def test_a_study_is_started_listed_renamed_cancelled_resumed_and_removed(client):
    assert client.get("/api/studies").json() == []
    made = start(client, settings={"folds": 3})
    assert made.status_code == 201
    number = made.json()["id"]
    assert made.json()["target"] == "target"
    assert [one["id"] for one in client.get("/api/studies").json()] == [number]
    path = f"/api/studies/{number}"
    assert client.patch(path, json={"name": "mine"}).json()["name"] == "mine"
    assert client.post(f"{path}/cancel").json()["state"] == "cancelled"
    assert client.post(f"{path}/cancel").status_code == 409
    assert client.get(path).json()["can_resume"]
    assert client.post(f"{path}/resume").json()["state"] == "waiting"
    assert client.delete(path).status_code == 204
    assert client.get(path).status_code == 404


def test_all_points_of_a_large_table_are_sent_as_bytes(studio, client):
    study = with_rows(small_study(), 1_000)
    number = add_finished(studio.project, study, example="iris", settings={"learner": "grlvq", "folds": 2})
    answer = client.get(f"/api/studies/{number}/points")
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.content == packed_rows(study.others, ["setosa", "versicolor", "virginica"])


def test_a_study_whose_rows_are_all_cases_has_no_further_points(finished):
    client, number = finished
    assert client.get(f"/api/studies/{number}/points").status_code == 404


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({}, 400, "either"),
        ({"example": "nothing"}, 404, "no example"),
        ({"table": "../x"}, 404, "no table"),
        ({"example": "iris", "target": "nothing"}, 400, "'nothing'"),
        ({"example": "iris", "settings": {"folds": 1}}, 422, "folds"),
        ({"example": "iris", "settings": {"group": "nothing"}}, 400, "'nothing'"),
        ({"example": "iris", "folder": "/etc"}, 422, "folder"),
    ],
)
def test_what_cannot_be_studied_is_refused_before_it_starts(client, body, status, words):
    answer = client.post("/api/studies", json=body)
    assert answer.status_code == status
    assert words in answer.json()["detail"]
    assert client.get("/api/studies").json() == []


def test_a_study_that_is_over_ends_its_events(finished):
    client, number = finished
    lines = [line for line in client.get(f"/api/studies/{number}/events").text.splitlines() if line]
    (event,) = [json.loads(line.removeprefix("data: ")) for line in lines]
    assert event["state"] == "finished"
    assert event["finding"]


def test_the_page_and_the_files_of_a_finished_study_are_sent(finished):
    client, number = finished
    assert client.get(f"/api/studies/{number}/page").json()
    names = client.get(f"/api/studies/{number}/files").json()["files"]
    assert {"report.html", "study.json", "model.whynear"} <= set(names)
    report = client.get(f"/api/studies/{number}/files/report.html")
    assert report.headers["content-disposition"].startswith("attachment")
    assert report.headers["content-security-policy"].startswith("sandbox")
    assert report.headers["x-content-type-options"] == "nosniff"
    assert "<html" in report.text
    shown = client.get(f"/api/studies/{number}/report")
    assert "content-disposition" not in shown.headers
    assert "sandbox allow-scripts" in shown.headers["content-security-policy"]
    assert "allow-same-origin" not in shown.headers["content-security-policy"]


@pytest.mark.parametrize("name", ["..%2f..%2fstudio.db", "%2fetc%2fpasswd", "nothing", "..%5cstudio.db", "%00"])
def test_no_other_file_is_sent(finished, name):
    client, number = finished
    assert client.get(f"/api/studies/{number}/files/{name}").status_code in (404, 405, 307, 422)
    assert client.get(f"/api/studies/{name}/page").status_code in (404, 405, 307)


def test_a_study_without_results_says_so(client):
    number = start(client).json()["id"]
    for path in ("page", "files", "features", "rows"):
        answer = client.get(f"/api/studies/{number}/{path}")
        assert answer.status_code == 409
        assert "waiting" in answer.json()["detail"]
    assert client.get(f"/api/studies/{number}/parts").json() == {}


def test_parts_are_shown_while_others_are_computed(client, studio):
    number = start(client).json()["id"]
    studio.store.add_part(number, "comparison", {"chosen": "gmlvq"})
    assert client.get(f"/api/studies/{number}").json()["parts"] == ["comparison"]
    assert client.get(f"/api/studies/{number}/parts").json() == {"comparison": {"chosen": "gmlvq"}}


def test_two_clients_see_the_same(studio):
    first, second = client_of(studio), client_of(studio)
    number = start(first).json()["id"]
    assert second.get(f"/api/studies/{number}").json() == first.get(f"/api/studies/{number}").json()
    second.post(f"/api/studies/{number}/cancel")
    assert first.get(f"/api/studies/{number}").json()["state"] == "cancelled"


def test_comparison_and_links(finished):
    client, number = finished
    found = client.get("/api/compare", params={"first": number, "second": number}).json()
    assert found["differences"]["difference"] == 0
    assert "token=" in client.post("/api/links").json()["link"]
