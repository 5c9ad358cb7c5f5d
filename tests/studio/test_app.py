import json

from whynear.studio.server import hosts_of


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
