"""The really running server: attacks by foreign pages, kills, ports, and two clients."""

import os
import signal
import socket

import pytest

from tests.helpers.servers import PATIENCE, Server, wait_for, workers_of
from whynear.studio.server import free_socket

LONG = {"example": "breast_cancer", "settings": {"n_jobs": 2}}
SHORT = {"example": "iris", "settings": {"learner": "grlvq", "folds": 2, "n_jobs": 1}}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    made = Server(tmp_path_factory.mktemp("server") / "project")
    yield made
    made.close()


def test_a_port_in_use_gives_the_next_free_one():
    with free_socket(20_000) as first, free_socket(first.getsockname()[1]) as second:
        assert second.getsockname()[1] > first.getsockname()[1]
        assert first.getsockname()[0] == "127.0.0.1"


def test_without_a_free_port_there_is_a_sentence(monkeypatch):
    monkeypatch.setattr("whynear.studio.server.PORTS_TRIED", 1)
    with free_socket(21_000) as taken, pytest.raises(OSError, match="--port"):
        free_socket(taken.getsockname()[1])


def kept(fits):
    """The fits in a folder that are written to their end; names of the others begin with a dot."""
    return {path.name: path.stat().st_mtime_ns for path in fits.glob("[!.]*")}


def request(method="GET", path="/api/studies", body=b"", **headers):
    lines = [f"{method} {path} HTTP/1.1", *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "Connection: close", "", ""]).encode() + body


def status(answer):
    return int(answer.split(b" ", 2)[1])


@pytest.mark.slow
def test_a_foreign_page_can_neither_read_nor_start_anything(server):
    key, host = f"Bearer {server.token}", f"127.0.0.1:{server.port}"
    for other in ("evil.example", f"evil.example:{server.port}", "127.0.0.1:1", ""):
        assert status(server.raw(request(Host=other, Authorization=key))) == 400
    assert status(server.raw(b"GET /api/studies HTTP/1.0\r\n\r\n")) == 400
    body = b'{"example": "iris"}'
    for foreign in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Sec_Fetch_Site": "cross-site"}):
        sent = request("POST", body=body, Host=host, Authorization=key, Content_Length=len(body), **foreign)
        assert status(server.raw(sent)) == 403
        assert status(server.raw(request("OPTIONS", Host=host, Authorization=key, **foreign))) == 403
    upgrade = {"Upgrade": "websocket", "Sec_WebSocket_Key": "x", "Sec_WebSocket_Version": "13"}
    assert status(server.raw(request(Host=host, **upgrade))) in (401, 403)
    for wrong in ({}, {"Authorization": "Bearer wrong"}, {"Cookie": f"whynear-studio-{server.port}=wrong"}):
        answer = server.raw(request(Host=host, **wrong))
        assert status(answer) == 401
        assert b"Access-Control" not in answer.title()
    with server.script() as client:
        assert client.get("/api/studies").json() == []


@pytest.mark.slow
def test_the_printed_link_gives_a_cookie_once(server):
    with server.browser() as browser:
        assert browser.get("/").status_code == 401
        entered = browser.get(server.link)
        assert entered.status_code == 200
        assert "HttpOnly; SameSite=Strict" in entered.headers["set-cookie"]
        page = browser.get("/")
        assert "whynear studio" in page.text
        assert "default-src 'self'" in page.headers["content-security-policy"]
        assert browser.get("/api/studies").status_code == 200
    with server.browser() as other:
        assert other.get(server.link).status_code == 401


@pytest.mark.slow
def test_five_gigabytes_are_refused_without_being_read_or_stored(server):
    host, key = f"127.0.0.1:{server.port}", f"Bearer {server.token}"
    sent = request("POST", "/api/tables?name=x.csv", b"a,b\n", Host=host, Authorization=key, Content_Length=5 << 30)
    assert status(server.raw(sent)) == 413
    without_key = request("POST", "/api/tables?name=x.csv", b"a,b\n", Host=host, Content_Length=5 << 30)
    assert status(server.raw(without_key)) == 401
    assert not list((server.folder / "tables").glob("*")) if (server.folder / "tables").exists() else True


@pytest.mark.slow
def test_paths_lead_nowhere(server):
    host, key = f"127.0.0.1:{server.port}", f"Bearer {server.token}"
    for path in ("/../../etc/passwd", "/api/studies/../../studio.db", "/%2e%2e/studio.db", "//etc/passwd",
                 "/api/studies/x/files/..%2f..%2fstudio.db", "/page.js/../../app.py", "/\\..\\app.py"):  # fmt: skip
        answer = server.raw(request(path=path, Host=host, Authorization=key))
        assert status(answer) == 404, path
        assert b"root:" not in answer
        assert b"SQLite" not in answer


@pytest.mark.slow
def test_a_study_runs_in_its_own_process_and_both_clients_see_it(server):
    with server.script() as first, server.script() as second:
        number = first.post("/api/studies", json=SHORT).json()["id"]
        wait_for(lambda: second.get(f"/api/studies/{number}").json()["state"] == "finished", "the study")
        info = first.get(f"/api/studies/{number}").json()
        assert info["parts"] == ["problem", "comparison", "model", "interpretation", "verdicts"]
        assert info["finding"]
        assert first.post(f"/api/studies/{number}/what-if", json={"row": 1}).json()["prediction"] == "setosa"
        assert "<html" in first.get(f"/api/studies/{number}/files/report.html").text
        assert not (server.folder / "studies" / number / "fits").exists()
        assert workers_of(server.folder) == []


@pytest.mark.slow
def test_cancelling_ends_all_processes_and_keeps_the_fits(server):
    with server.script() as client:
        number = client.post("/api/studies", json=LONG).json()["id"]
        fits = server.folder / "studies" / number / "fits"
        wait_for(lambda: kept(fits), "a kept fit")
        assert workers_of(server.folder)
        assert client.post(f"/api/studies/{number}/cancel").json()["state"] == "cancelled"
        wait_for(lambda: not workers_of(server.folder), "the end of the processes")
        assert kept(fits)
        assert client.get(f"/api/studies/{number}").json()["can_resume"]
        assert client.delete(f"/api/studies/{number}").status_code == 204
        assert not fits.exists()


@pytest.mark.slow
def test_a_killed_server_loses_nothing(tmp_path):
    server = Server(tmp_path / "project")
    try:
        with server.script() as client, server.browser() as browser:
            assert browser.get(server.link).status_code == 200
            cookies = dict(browser.cookies)
            done = client.post("/api/studies", json=SHORT).json()["id"]
            wait_for(lambda: client.get(f"/api/studies/{done}").json()["state"] == "finished", "the first study")
            client.post(f"/api/studies/{done}/marks", json={"query": 1, "case": 2, "alike": True})
            running = client.post("/api/studies", json=LONG).json()["id"]
            fits = server.folder / "studies" / running / "fits"
            wait_for(lambda: kept(fits), "a kept fit")
        server.kill()
        wait_for(lambda: not workers_of(server.folder), "the end of the processes of a killed server")
        before = kept(fits)
        server.close()
        server = Server(tmp_path / "project", "--port", str(server.port))
        assert list(cookies) == [f"whynear-studio-{server.port}"]  # the port is free again
        with server.script() as client, server.browser() as browser:
            browser.cookies.update(cookies)
            assert browser.get("/api/studies").status_code == 200
            states = {one["id"]: one["state"] for one in client.get("/api/studies").json()}
            assert states == {done: "finished", running: "interrupted"}
            assert client.get(f"/api/studies/{done}/page").status_code == 200
            assert client.get(f"/api/studies/{done}/marks", params={"query": 1}).json()["marks"] == 1
            assert client.post(f"/api/studies/{running}/resume").json()["state"] in ("waiting", "running")
            wait_for(lambda: len(kept(fits)) > len(before), "another kept fit")
            assert before.items() <= kept(fits).items()  # they were used, not made again
    finally:
        server.close()


@pytest.mark.slow
def test_a_refit_ends_with_a_killed_server_and_can_be_started_again(tmp_path):
    server = Server(tmp_path / "project")
    try:
        with server.script() as client:
            number = client.post("/api/studies", json=SHORT).json()["id"]
            wait_for(lambda: client.get(f"/api/studies/{number}").json()["state"] == "finished", "the study")
            left = {"features": ["sepal width (cm)"]}
            refit = client.post(f"/api/studies/{number}/relearn", json=left).json()["number"]
            wait_for(lambda: workers_of(server.folder), "the process of the refit")
        server.kill()
        wait_for(lambda: not workers_of(server.folder), "the end of its processes")
        server.close()
        server = Server(tmp_path / "project")
        with server.script() as client:
            path = f"/api/studies/{number}/relearn"
            assert client.get(f"{path}/{refit}").json()["state"] == "interrupted"
            again = client.post(path, json=left).json()["number"]
            wait_for(lambda: client.get(f"{path}/{again}").json()["state"] == "finished", "the refit")
            assert client.get(f"{path}/{again}").json()["moves"]["features"]
    finally:
        server.close()


@pytest.mark.slow
def test_an_interrupt_ends_the_server_and_its_study_in_order(tmp_path):
    server = Server(tmp_path / "project", "iris")
    with server.script() as client:
        (study,) = client.get("/api/studies").json()
        assert study["source"] == "iris"
        wait_for(lambda: workers_of(server.folder), "the process of the study")
    server.close()
    assert server.process.returncode == 130
    wait_for(lambda: not workers_of(server.folder), "the end of the process")
    again = Server(tmp_path / "project")
    try:
        with again.script() as client:
            assert client.get("/api/studies").json()[0]["state"] in ("interrupted", "finished")
    finally:
        again.close()


@pytest.mark.slow
def test_a_second_server_takes_the_next_port_and_never_the_same_folder(server, tmp_path):
    other = Server(tmp_path / "other", "--port", str(server.port))
    assert other.port > server.port
    assert os.stat(other.folder / "token.json").st_mode & 0o077 == 0
    other.close()
    with pytest.raises(AssertionError, match="in use by another studio"):
        Server(server.folder)


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT] * 3)
def test_a_server_that_is_ended_while_it_starts_ends_in_order(tmp_path, how):
    starting = Server(tmp_path / "project")
    starting.process.send_signal(how)
    _, errors = starting.process.communicate(timeout=PATIENCE)
    assert starting.process.returncode == 130
    assert errors.endswith("\nInterrupted.\n")
    assert errors.count("\n") == 2  # the other line says how to end it


def test_only_this_machine_is_served():
    with free_socket(22_000) as listening:
        assert listening.getsockname()[0] == "127.0.0.1"
        assert listening.family == socket.AF_INET
