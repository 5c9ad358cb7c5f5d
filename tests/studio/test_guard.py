import time

import pytest
from fastapi.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from tests.helpers.studios import ADDRESS, client_of, idle_studio
from whynear.studio.guard import HEADERS, KEY_BYTES, MOST_BODY_BYTES, Keys
from whynear.studio.server import make_app
from whynear.studio.store import Store


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


@pytest.fixture
def keys(tmp_path):
    store = Store(tmp_path / "state.db")
    yield Keys(store, 8777)
    store.close()


def test_a_link_works_once(keys):
    key = keys.new_link_key()
    session = keys.redeemed(key)
    assert session is not None
    assert keys.redeemed(key) is None
    assert keys.allows(f"other=1; {keys.cookie_name}={session}", None)


@pytest.mark.parametrize("key", ["", "x", "é", "a" * 10_000])
def test_an_unknown_link_gives_nothing(keys, key):
    keys.new_link_key()
    assert keys.redeemed(key) is None


def test_keys_have_256_bits_and_differ(keys):
    made = {keys.new_link_key() for _ in range(50)} | {keys.token}
    assert len(made) == 51
    assert KEY_BYTES * 8 == 256
    assert all(len(key) >= 43 for key in made)


@pytest.mark.parametrize(
    ("cookies", "authorization"),
    [
        (None, None),
        ("", None),
        ("whynear-studio-8777=wrong", None),
        ("whynear-studio-1={token}", None),
        ("whynear-studio-8777={token}", None),
        (None, "Bearer wrong"),
        (None, "Bearer"),
        (None, "Basic {token}"),
        (None, "{token}"),
        ("\0;;;=", None),
    ],
)
def test_a_wrong_key_or_none_is_refused(keys, cookies, authorization):
    filled = [None if text is None else text.format(token=keys.token) for text in (cookies, authorization)]
    assert not keys.allows(*filled)


def test_the_token_of_scripts_is_allowed_and_a_link_is_no_token(keys):
    link = keys.new_link_key()
    assert keys.allows(None, f"Bearer {keys.token}")
    assert not keys.allows(None, f"Bearer {link}")


def test_a_browser_is_known_after_a_restart_and_its_key_is_not_in_the_file(keys):
    session = keys.redeemed(keys.new_link_key())
    again = Keys(keys.store, 8777)
    assert again.allows(f"{again.cookie_name}={session}", None)
    assert again.token != keys.token
    assert session not in keys.store.sessions()
    assert session.encode() not in keys.store.path.read_bytes()


def test_a_browser_is_forgotten_after_a_month(keys, monkeypatch):
    session = keys.redeemed(keys.new_link_key())
    later = time.time() + 31 * 24 * 3600
    monkeypatch.setattr("whynear.studio.store.time.time", lambda: later)
    again = Keys(keys.store, 8777)
    assert not again.allows(f"{again.cookie_name}={session}", None)


def test_links_that_are_not_used_are_forgotten_in_the_end(keys):
    first = keys.new_link_key()
    for _ in range(100):
        keys.new_link_key()
    assert keys.redeemed(first) is None
