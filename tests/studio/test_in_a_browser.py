"""The studio in a real browser, beside the page of a stranger."""

import http.server
import shutil
import threading

import pytest

from tests.helpers.browser import Browser
from tests.helpers.servers import Server, wait_for

DRIVER = shutil.which("chromedriver")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(DRIVER is None, reason="needs chromedriver (Debian: chromium-driver)"),
]

STRANGER = """<!doctype html><title>waiting</title>
<form method="post" action="{studio}/api/studies" enctype="text/plain">
<input name='{{"example": "iris", "name": "' value='"}}'></form><script>
const say = [];
const body = '{{"example": "iris"}}';
const tries = [
  fetch("{studio}/api/studies", {{credentials: "include"}}),
  fetch("{studio}/api/studies", {{method: "POST", credentials: "include", body}}),
  fetch("{studio}/api/studies", {{method: "POST", credentials: "include", mode: "no-cors", body}})
    .then((answer) => {{ if (answer.type !== "opaque") say.push("answered"); throw new Error(); }}),
  new Promise((_, failed) => {{
    const socket = new WebSocket("{socket}/api/studies");
    socket.onopen = () => say.push("socket");
    socket.onclose = failed;
  }}),
];
Promise.allSettled(tries).then((all) => {{
  document.title = say.concat(all.filter((one) => one.status === "fulfilled").map(() => "read")).join() || "nothing";
}});
</script>"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    made = Server(tmp_path_factory.mktemp("browser") / "project")
    yield made
    made.close()


@pytest.fixture(scope="module")
def browser():
    made = Browser(DRIVER)
    yield made
    made.close()


@pytest.fixture
def stranger(server):
    """The address of a page at another port."""
    text = STRANGER.format(studio=server.address, socket=server.address.replace("http", "ws")).encode()

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_):
            pass

    serving = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{serving.server_port}/"
    serving.shutdown()
    serving.server_close()


def test_the_link_opens_the_page_and_the_browser_complains_of_nothing(server, browser):
    browser.driver.get(server.link)
    wait_for(lambda: browser.driver.current_url == f"{server.address}/", "the page without a key in its address")
    assert browser.driver.title == "whynear studio"
    assert browser.complaints() == []
    assert all(url.startswith(server.address) for url in browser.requests())
    assert browser.run("return document.cookie") == ""
    assert browser.run("return fetch('/api/studies').then((answer) => answer.status)") == 200


def test_the_page_of_a_stranger_reads_and_starts_nothing(server, browser, stranger):
    browser.driver.get(stranger)
    wait_for(lambda: browser.driver.title != "waiting", "the tries of the stranger")
    assert browser.driver.title == "nothing"
    browser.run("document.forms[0].submit()")
    wait_for(lambda: browser.driver.current_url.startswith(server.address), "the answer to the form")
    with server.script() as client:
        assert client.get("/api/studies").json() == []


def test_a_name_that_leads_here_reads_nothing(server):
    """DNS rebinding: the name of a stranger's page now has the address of this machine."""
    rebound = Browser(DRIVER, "--host-resolver-rules=MAP stranger.example 127.0.0.1")
    try:
        rebound.driver.get(f"http://stranger.example:{server.port}/api/studies")
        assert "[]" not in rebound.run("return document.body.innerText")
        script = """return fetch('/api/studies', { method: arguments[0], body: arguments[1],
          headers: { authorization: 'Bearer ' + arguments[2] } }).then((answer) => answer.status)"""
        assert rebound.run(script, "GET", None, server.token) == 400
        assert rebound.run(script, "POST", '{"example": "iris"}', server.token) == 400
    finally:
        rebound.close()
    with server.script() as client:
        assert client.get("/api/studies").json() == []


def test_the_studio_is_shown_in_no_frame_and_its_report_reaches_nothing(server, browser):
    with server.script() as client:
        settings = {"learner": "grlvq", "folds": 2, "n_jobs": 1}
        number = client.post("/api/studies", json={"example": "iris", "settings": settings}).json()["id"]
        wait_for(lambda: client.get(f"/api/studies/{number}").json()["state"] == "finished", "the study")
    browser.driver.get(f"{server.address}/api/studies/{number}/report")
    assert browser.run("return self.origin") == "null"
    assert browser.find("h1").text
