import gzip

import pytest

from whynear.studio import project

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
