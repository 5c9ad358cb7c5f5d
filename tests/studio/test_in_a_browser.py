"""The studio in a real browser, beside the page of a stranger."""

import http.server
import subprocess
import sys
import threading

import pytest
from selenium.webdriver.support.ui import Select

from tests.helpers.browser import Browser, in_a_browser
from tests.helpers.servers import Server, wait_for
from tests.helpers.studies import hostile

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
    made = Browser()
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


@in_a_browser
def test_the_link_opens_the_page_and_the_browser_complains_of_nothing(server, browser):
    browser.driver.get(server.link)
    wait_for(lambda: browser.driver.current_url == f"{server.address}/", "the page without a key in its address")
    assert browser.driver.title == "whynear studio"
    assert browser.complaints() == []
    assert all(url.startswith(server.address) for url in browser.requests())
    assert browser.run("return document.cookie") == ""
    assert browser.run("return fetch('/api/studies').then((answer) => answer.status)") == 200


@in_a_browser
def test_the_page_of_a_stranger_reads_and_starts_nothing(server, browser, stranger):
    browser.driver.get(stranger)
    wait_for(lambda: browser.driver.title != "waiting", "the tries of the stranger")
    assert browser.driver.title == "nothing"
    browser.run("document.forms[0].submit()")
    wait_for(lambda: browser.driver.current_url.startswith(server.address), "the answer to the form")
    with server.script() as client:
        assert client.get("/api/studies").json() == []


@in_a_browser
def test_a_name_that_leads_here_reads_nothing(server):
    """DNS rebinding: the name of a stranger's page now has the address of this machine."""
    rebound = Browser("--host-resolver-rules=MAP stranger.example 127.0.0.1")
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


@in_a_browser
def test_the_studio_is_shown_in_no_frame_and_its_report_reaches_nothing(server, browser):
    with server.script() as client:
        settings = {"learner": "grlvq", "folds": 2, "n_jobs": 1}
        number = client.post("/api/studies", json={"example": "iris", "settings": settings}).json()["id"]
        wait_for(lambda: client.get(f"/api/studies/{number}").json()["state"] == "finished", "the study")
    browser.driver.get(f"{server.address}/api/studies/{number}/report")
    assert browser.run("return self.origin") == "null"
    assert browser.find("h1").text


# Every button of the studio's page, clicked in a real browser: two tabs, a killed server, hostile names.


SETTINGS = {"learner": "grlvq", "folds": 2, "n_jobs": 1}


class Page:
    """The page of a studio in a browser, as a person uses it."""

    def __init__(self, server, browser):
        self.server, self.browser = server, browser

    def open(self, study=None):
        self.browser.driver.get(self.server.address + ("/" if study is None else f"/?study={study}"))
        self.has("#start" if study is None else "#finding, #running")

    def has(self, selector, words=""):
        """Wait until a part of the page has these words, and return its text."""

        def text():  # read by the page itself: what is drawn anew meanwhile is no error
            script = "return [...document.querySelectorAll(arguments[0])].map((one) => one.innerText)"
            return next((one or " " for one in self.browser.run(script, selector) if words in one), None)

        return wait_for(text, f"{words!r} at {selector}")

    def press(self, selector, words):
        """Press the first button or link of a part of the page that has exactly these words."""
        script = """for (const one of document.querySelectorAll(arguments[0] + ' :is(button, a, summary)')) {
          if (one.textContent.trim() === arguments[1] && one.checkVisibility()) { one.click(); return true; } }"""
        wait_for(lambda: self.browser.run(script, selector, words), f"a button {words!r} in {selector}")

    def slide(self, name, value):
        script = """for (const one of document.querySelectorAll('.slider')) {
          const field = one.querySelector('input');
          if (!field || !one.textContent.startsWith(arguments[0])) continue;
          field.value = arguments[1]; field.dispatchEvent(new Event('input', { bubbles: true })); return true; }"""
        wait_for(lambda: self.browser.run(script, name, value), f"a slider of {name}")

    def python(self, selector):
        """The code of a view."""
        self.press(selector, "Show the Python")
        return self.has(f"{selector} .python pre", "import whynear")


@pytest.fixture(scope="module")
def studio_server(tmp_path_factory):
    made = Server(tmp_path_factory.mktemp("page") / "project")
    yield made
    made.close()


@pytest.fixture(scope="module")
def page(studio_server):
    browser = Browser()
    browser.driver.get(studio_server.link)
    yield Page(studio_server, browser)
    browser.close()


def finish(studio_server, **wanted):
    """Make a study, and return its number."""
    with studio_server.script() as client:
        number = client.post("/api/studies", json={"example": "iris", "settings": SETTINGS, **wanted}).json()["id"]
        wait_for(lambda: client.get(f"/api/studies/{number}").json()["state"] == "finished", "the study")
    return number


@pytest.fixture(scope="module")
def flowers(studio_server):
    return finish(studio_server, name="flowers")


def pasted(code, folder):
    """What pasted code prints."""
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@in_a_browser
def test_what_if_follows_sliders_finds_the_smallest_flip_and_shows_its_python(page, flowers, tmp_path):
    page.open(flowers)
    page.press("#what-if", "Next wrong case")
    page.has("#what-if .answer", "in truth")
    page.slide("petal width", "0.2")
    page.slide("petal length", "1.2")
    page.has("#what-if .answer", "Predicted setosa")
    assert "was" in page.has(".slider.changed")
    assert "predicted 'setosa'" in pasted(page.python("#what-if"), tmp_path)
    page.press("#what-if", "Back to the row's own values")
    page.has("#what-if .answer", "in truth")
    before = page.has("#what-if .answer").splitlines()[0]
    page.press("#what-if", "Smallest change that flips it")
    page.has("#what-if", "Smallest changes that change the prediction")
    page.press("#what-if li", "Try it")
    page.has("#what-if .answer", "the row itself is")
    assert page.has("#what-if .answer").splitlines()[0].split(";")[0] != before.split(";")[0]
    assert page.browser.complaints() == []


@in_a_browser
def test_leaving_out_moves_verdicts_locks_a_model_and_both_tabs_see_it(page, flowers, tmp_path):
    page.open(flowers)
    page.press("#leave-out", "Relearn without the ticked features")
    page.has("#leave-out", "Tick at least one")
    script = """for (const one of document.querySelectorAll('.ticks label'))
      if (one.textContent.includes('petal length')) one.querySelector('input').click()"""
    page.browser.run(script)
    page.press("#leave-out", "Relearn without the ticked features")
    assert "'petal length (cm)'" in page.has("#leave-out", "The difference of")
    moved = page.has("#leave-out", "Of the 3 features that are kept")
    assert "Without 'petal length (cm)', " in moved
    page.press("#leave-out", "Lock as the model")
    page.has("#locked", "3 features")
    page.has("#what-if", "the locked model of 3 features")
    assert "locked.whynear" in page.python("#what-if")
    first = page.browser.driver.current_window_handle
    page.browser.driver.switch_to.new_window("tab")
    try:
        page.open(flowers)
        assert "petal length" not in page.has("#locked", "3 features")
        page.has("#leave-out table", "petal length (cm)")
        page.press("#locked", "Unlock")
        wait_for(lambda: not page.browser.all("#locked"), "the lock is gone")
    finally:
        page.browser.driver.close()
        page.browser.driver.switch_to.window(first)
    page.slide("petal width", "0.2")
    page.has("#what-if .said", "No features of this study are locked")
    page.open(flowers)
    wait_for(lambda: not page.browser.all("#locked"), "the other tab knows")
    page.browser.complaints()  # the refusal of the slider


@in_a_browser
def test_marks_teach_are_taken_back_and_kept(page, flowers, tmp_path):
    page.open(flowers)
    page.press("#teach", "Show the Python")
    page.has("#teach .said", "mark one case")
    page.press("#teach", "Hide the Python")
    page.press("#teach", "Next wrong case")
    page.has("#teach", "0 marks")
    page.press("#teach tr:nth-child(2)", "alike")
    page.has("#teach", "1 mark, 0 triples")
    page.press("#teach tr:nth-child(6)", "not")
    page.has("#teach", "2 marks, 1 triple; ranked as marked")
    page.has("#teach", "Learned weights")
    assert pasted(page.python("#teach"), tmp_path).startswith("{")
    page.press("#teach", "Undo the last mark")
    page.has("#teach", "1 mark, 0 triples")
    page.press("#teach tr:nth-child(6)", "not")
    page.press("#teach", "Save with the case base")
    code = page.has("#teach .code pre", "CaseBase")
    assert "target" in pasted(code, tmp_path)
    page.browser.complaints()  # of the refused code


@in_a_browser
def test_two_runs_are_compared_renamed_exported_and_removed(page, studio_server, flowers):
    other = finish(studio_server, name="again", settings={**SETTINGS, "random_state": 1})
    page.open()
    page.has("#runs", "again")
    for field, number in (("first", flowers), ("second", other)):
        Select(page.browser.find(f"#{field}")).select_by_value(number)
    page.press("#runs", "Compare")
    assert "random_state" in page.has("#runs", "What differs")
    link = page.browser.find("#runs .export")
    script = "return fetch(arguments[0]).then((answer) => answer.text())"
    assert '<script type="application/json" id="data">' in page.browser.run(script, link.get_attribute("href"))
    page.browser.run("window.prompt = () => 'later'; window.confirm = () => true")
    page.press("#runs tr:nth-child(1)", "Rename")
    page.has("#runs", "later")
    page.press("#runs tr:nth-child(1)", "Remove")
    wait_for(lambda: "later" not in page.has("#runs"), "the study is gone")
    assert page.browser.complaints() == []


@in_a_browser
def test_a_run_is_cancelled_goes_on_and_shows_what_is_finished(page, studio_server):
    page.open()
    page.has("#example")
    Select(page.browser.find("#example")).select_by_value("breast_cancer")
    page.has("#preview", "569 rows")
    page.press("#preview", "Run the study")
    page.has("#running .learners", "fold 1")
    page.has("#parts", "569 rows")
    page.press("#running", "Cancel")
    page.has("#running", "Its finished fits are kept")
    page.press("#running", "Go on")
    page.has("#running .learners", "fold")
    page.press("#running", "Cancel")
    page.has("#resume")
    assert page.browser.complaints() == []


@in_a_browser
def test_names_that_look_like_markup_stay_text(page, tmp_path):
    path = tmp_path / "<img src=x onerror=alert(1)>.csv"
    hostile().to_csv(path, index=False)
    page.open()
    page.browser.find("#file").send_keys(str(path))
    page.has("#preview", "<script>alert(1)</script>")
    Select(page.browser.find("#learner")).select_by_value("grlvq")
    page.has("#preview .consequences", "One learner is fitted")
    page.press("#preview", "Run the study")
    page.has("#finding", "<script>alert(1)</script>")
    page.press("#what-if", "Smallest change that flips it")
    page.has("#what-if", "Smallest changes that change the prediction")
    assert page.browser.all("#page script, #page img, #page iframe") == []
    assert page.browser.complaints() == []


@in_a_browser
def test_a_server_that_was_killed_is_told_and_the_page_goes_on_with_the_next(tmp_path):
    studio_server, browser = Server(tmp_path / "project"), Browser()
    try:
        number = finish(studio_server)
        browser.driver.get(studio_server.link)
        page = Page(studio_server, browser)
        page.open(number)
        page.press("#what-if", "Next wrong case")
        page.has("#what-if .answer", "in truth")
        studio_server.kill()
        page.slide("petal width", "0.2")
        page.has("#what-if .said", "The studio does not answer. Start it again")
        studio_server.close()
        studio_server = Server(tmp_path / "project", "--port", str(studio_server.port))
        page.slide("petal width", "0.3")
        page.has("#what-if .answer", "the row itself is")
    finally:
        browser.close()
        studio_server.close()
