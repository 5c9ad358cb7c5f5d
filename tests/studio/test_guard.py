import pytest
from fastapi.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from tests.helpers.studios import ADDRESS, client_of, idle_studio
from whynear.studio.guard import HEADERS, MOST_BODY_BYTES
from whynear.studio.server import make_app


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    made = idle_studio(tmp_path_factory.mktemp("guarded"))
    yield made
    made.project.close()


@pytest.fixture(scope="module")
def client(studio):
    return client_of(studio)


@pytest.fixture
def browser(studio):
    """A client without a key."""
    return TestClient(make_app(studio), base_url=studio.address, raise_server_exceptions=False)


OTHER_HOSTS = ["evil.example", "evil.example:8777", "127.0.0.1", "127.0.0.1:80", "localhost:1", "127.0.0.1:8777.evil"]


@pytest.mark.parametrize("host", ["", *OTHER_HOSTS])
def test_another_host_is_refused_with_a_right_key_too(client, host):
    assert client.get("/api/studies", headers={"host": host}).status_code == 400
    assert client.get("/", headers={"host": host}).status_code == 400


@pytest.mark.parametrize("host", ["127.0.0.1:8777", "localhost:8777", "LOCALHOST:8777"])
def test_the_names_of_this_machine_are_hosts(client, host):
    assert client.get("/api/studies", headers={"host": host}).status_code == 200


FOREIGN = [
    {"origin": "http://evil.example"},
    {"origin": "null"},
    {"origin": "http://127.0.0.1:9999"},
    {"origin": "https://127.0.0.1:8777"},
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site"},
    {"origin": ADDRESS, "sec-fetch-site": "cross-site"},
]


@pytest.mark.parametrize("method", ["POST", "DELETE", "PATCH", "OPTIONS", "PUT"])
def test_a_foreign_page_starts_nothing(client, studio, method):
    for headers in FOREIGN:
        answer = client.request(method, "/api/studies", json={"example": "iris"}, headers=headers)
        assert answer.status_code == 403, headers
    assert studio.store.studies() == []


def test_a_foreign_page_reads_nothing(client):
    for headers in FOREIGN:
        answer = client.get("/api/studies", headers=headers)
        assert answer.status_code == 403, headers
        assert not any(name.startswith("access-control") for name in answer.headers)


def test_a_link_from_another_page_opens_the_studio_but_not_its_data(browser, studio):
    key = studio.keys.new_link_key()
    headers = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert browser.get(f"/?token={key}", headers=headers).status_code == 200
    assert browser.get("/", headers=headers).status_code == 200
    assert browser.get("/api/studies", headers=headers).status_code == 403


@pytest.mark.parametrize("path", ["/", "/api/studies", "/api/openapi.json", "/page.js", "/nothing", "/api/tables"])
def test_without_a_key_there_is_nothing(browser, path):
    answer = browser.get(path)
    assert answer.status_code == 401
    assert "Open the address" in answer.json()["detail"]


def test_every_route_is_behind_the_guard(client, browser, studio):
    described = client.get("/api/openapi.json").json()["paths"]
    asked = [
        (method.upper(), path.replace("{", "").replace("}", ""))
        for path, all_of in described.items()
        for method in all_of
    ]
    assert len(asked) > 30
    for method, path in asked:
        assert browser.request(method, path).status_code == 401, (method, path)
        for headers in FOREIGN:
            assert client.request(method, path, headers=headers).status_code == 403, (method, path, headers)
        assert client.request(method, path, headers={"host": "evil.example"}).status_code == 400, (method, path)
    assert studio.store.studies() == studio.store.tables() == []


def test_a_link_gives_a_cookie_once_that_no_script_can_read(browser, studio):
    key = studio.keys.new_link_key()
    answer = browser.get(f"/?token={key}")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert key not in answer.text
    assert browser.get("/api/studies").status_code == 200
    browser.cookies.clear()
    assert browser.get(f"/?token={key}").status_code == 401
    assert browser.get("/api/studies").status_code == 401


def test_every_response_has_the_headers_of_a_careful_server(client, browser):
    for answer in (client.get("/"), client.get("/api/studies"), client.get("/nothing"), browser.get("/")):
        for name, value in HEADERS.items():
            assert answer.headers[name] == value
        assert not any(name.startswith("access-control") for name in answer.headers)
    policy = HEADERS["content-security-policy"]
    assert policy.startswith("default-src 'self';")
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy


def test_a_large_body_is_refused_announced_or_not(client, studio):
    announced = client.post("/api/studies", content=b" " * (MOST_BODY_BYTES + 1))
    assert announced.status_code == 413
    in_parts = client.post("/api/studies", content=iter([b" " * MOST_BODY_BYTES, b"{}"]))
    assert in_parts.status_code == 413
    assert studio.store.studies() == []


def test_a_websocket_is_closed_at_once(browser):
    with pytest.raises(WebSocketDisconnect), browser.websocket_connect("/api/studies"):
        pass
