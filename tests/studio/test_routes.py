import gzip
import json

import pytest

from tests.helpers.studies import small_study, with_rows
from tests.helpers.studios import add_finished, client_of
from whynear.report.page_cases import packed_rows
from whynear.studio import project
from whynear.studio.routes import compare
from whynear.studio.server import hosts_of
from whynear.studio.store import NotFound


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


TABLE = "size,colour,kind\n" + "\n".join(f"{i},{'rg'[i % 2]},{'ab'[i % 2]}" for i in range(20)) + "\n"
SENT = TABLE.encode()


def send(client, name="cases.csv", content=SENT, **options):
    return client.post("/api/tables", params={"name": name}, content=content, **options)


def test_a_table_is_sent_listed_shown_and_removed(client, studio):
    sent = send(client)
    assert sent.status_code == 201
    table = sent.json()
    assert table["bytes"] == len(TABLE)
    assert client.get("/api/tables").json() == [table]
    shown = client.post(f"/api/tables/{table['id']}/preview", json={"target": "kind"}).json()
    assert (shown["rows"], shown["target"], shown["refusal"]) == (20, "kind", None)
    assert client.delete(f"/api/tables/{table['id']}").status_code == 204
    assert client.get("/api/tables").json() == []
    assert not list((studio.project.folder / "tables").iterdir())


def test_a_table_that_a_study_uses_stays(client):
    table = send(client).json()["id"]
    started = client.post("/api/studies", json={"table": table, "target": "kind"})
    assert started.status_code == 201
    assert client.delete(f"/api/tables/{table}").status_code == 409


def test_a_table_in_parts_without_a_length_is_written_as_it_arrives(client, studio):
    table = send(client, content=iter([TABLE[:50].encode(), TABLE[50:].encode()])).json()
    assert studio.project.file_of(table["id"]).read_text() == TABLE


@pytest.mark.parametrize(
    ("name", "content", "status"),
    [
        ("cases.pickle", b"x", 400),
        ("cases.npz", b"x", 400),
        ("cases.csv", b"", 400),
        ("cases.csv.gz", b"no gzip", 400),
        ("cases.xlsx", b"no zip", 400),
        ("cases.parquet", b"no parquet", 400),
    ],
)
def test_what_is_no_table_is_refused_and_not_stored(client, studio, name, content, status):
    answer = send(client, name, content)
    assert answer.status_code == status
    assert answer.json()["detail"]
    folder = studio.project.folder / "tables"
    assert not folder.exists() or not list(folder.iterdir())
    assert client.get("/api/tables").json() == []


def test_a_table_above_the_cap_is_refused_announced_or_not_and_not_stored(client, studio, monkeypatch):
    monkeypatch.setattr(project, "MOST_BYTES", 1000)
    for content in (b"a,b\n" * 300, iter([b"a,b\n" * 200, b"1,2\n" * 200]), gzip.compress(b"a,b\n" * 300)):
        name = "cases.csv.gz" if isinstance(content, bytes) and content[:2] == b"\x1f\x8b" else "cases.csv"
        answer = send(client, name, content)
        assert answer.status_code == 413
        assert "whynear study" in answer.json()["detail"]
    assert not list((studio.project.folder / "tables").iterdir())


def test_hostile_names_are_only_names(client, studio):
    table = send(client, "../../<script>alert(1)</script>\n.csv").json()
    assert "/" not in table["name"]
    path = studio.project.file_of(table["id"])
    assert path.is_relative_to(studio.project.folder / "tables")


def test_examples_are_listed_and_shown(client):
    names = [known["name"] for known in client.get("/api/examples").json()]
    assert "iris" in names
    assert client.post("/api/examples/iris/preview", json={}).json()["target"] == "target"
    assert client.post("/api/examples/nothing/preview", json={}).status_code == 404


@pytest.mark.parametrize("table", ["..", "%2e%2e", "x", "..%2f..%2fetc"])
def test_no_path_is_a_table(client, table):
    assert client.post(f"/api/tables/{table}/preview", json={}).status_code in (404, 405)
    assert client.delete(f"/api/tables/{table}").status_code in (404, 405)


def test_two_studies_are_compared_under_their_names(flowers):
    studio, number = flowers
    other = add_finished(studio.project, small_study(), example="iris", name="again")
    found = compare(studio, number, other).differences
    assert (found["first"]["name"], found["second"]["name"]) == ("flowers", "again")
    assert found["difference"] == 0
    assert found["changed"] == []


def test_a_study_that_is_not_there_is_named(flowers):
    studio, number = flowers
    with pytest.raises(NotFound):
        compare(studio, number, "none")


def test_the_api_describes_itself(client):
    described = client.get("/api/openapi.json").json()
    assert {"/api/studies", "/api/tables", "/api/studies/{study}/what-if"} <= set(described["paths"])
    for path, methods in described["paths"].items():
        assert path.startswith("/api/")
        for method, facts in methods.items():
            assert facts.get("description"), (method, path)


def test_there_are_no_pages_that_load_from_elsewhere(client):
    assert client.get("/docs").status_code == 404
    assert client.get("/redoc").status_code == 404


def test_the_page_is_served_and_nothing_beside_it(client):
    assert "whynear studio" in client.get("/").text
    assert client.get("/page.js").headers["content-type"].startswith("text/javascript")
    for path in ("/../app.py", "/%2e%2e/app.py", "/..%2fapp.py", "/etc/passwd", "//etc/passwd"):
        answer = client.get(path)
        assert answer.status_code == 404, path
        assert "no such page" in answer.text


def test_wrong_input_is_one_sentence(client):
    answer = client.post("/api/studies", content="{", headers={"content-type": "application/json"})
    assert answer.status_code == 422
    assert isinstance(answer.json()["detail"], str)
    answer = client.post("/api/studies", json={"example": "iris", "settings": {"learner": "magic"}})
    assert answer.status_code == 400
    assert "There is no learner" in answer.json()["detail"]
    answer = client.post("/api/studies", content=json.dumps({"example": 7}))
    assert answer.status_code == 422


def test_a_full_disk_is_one_sentence_and_nothing_of_the_table_is_left(client, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    before = client.get("/api/tables").json()
    monkeypatch.setattr("whynear.studio.project.check_size", full)
    answer = client.post("/api/tables", params={"name": "x.csv"}, content=b"a,b\n1,2\n")
    assert answer.status_code == 507
    assert answer.json()["detail"] == "The disk of the project is full. Free some space, and try again."
    assert client.get("/api/tables").json() == before
    assert not list(client.app.state.studio.project.folder.glob("tables/*"))


def test_the_hosts_have_the_port():
    assert hosts_of("http://127.0.0.1:80") == {"127.0.0.1:80", "localhost:80"}
