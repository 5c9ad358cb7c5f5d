import shutil
from html.parser import HTMLParser

import pytest

from tests.helpers.browser import Browser
from tests.helpers.servers import wait_for
from tests.helpers.studies import small_study
from whynear.report.page import render
from whynear.study.frame import PageFrame

DRIVER = shutil.which("chromedriver")


class Frames(HTMLParser):
    """The attributes of the elements of a page."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))


def test_the_frame_holds_the_report_and_nothing_else():
    shown = small_study().show(height=500)
    ((tag, attributes),) = Frames(shown._repr_html_()).found
    assert tag == "iframe"
    assert attributes["srcdoc"] == render(small_study())
    assert "height:500px" in attributes["style"]
    assert "allow-same-origin" not in attributes["sandbox"]
    assert len(repr(shown)) < 200


def test_a_title_cannot_end_the_frame():
    ((_, attributes),) = Frames(PageFrame('<p title="x">', '"><script>alert(1)</script>')._repr_html_()).found
    assert attributes["title"] == '"><script>alert(1)</script>'
    assert attributes["srcdoc"] == '<p title="x">'


def test_a_height_that_is_none_is_refused():
    with pytest.raises(ValueError, match="height"):
        small_study().show(0)


@pytest.mark.slow
@pytest.mark.skipif(DRIVER is None, reason="needs chromedriver (Debian: chromium-driver)")
def test_a_browser_shows_all_views_in_the_frame_and_they_answer(tmp_path):
    path = tmp_path / "notebook.html"
    path.write_text(f"<!doctype html><title>x</title>{small_study().show()._repr_html_()}", encoding="utf-8")
    browser = Browser(DRIVER)
    try:
        browser.open(path)
        browser.driver.switch_to.frame(browser.find("iframe"))
        wait_for(lambda: len(browser.all("main > section")) == 7, "the views")
        choose = "const [pick] = arguments; pick.value = pick.options[1].value; pick.dispatchEvent(new Event('change'))"
        browser.run(choose, browser.find("#pick"))
        wait_for(lambda: browser.find("#case-panel").is_displayed(), "the case")
        browser.click(".links a[href='#map']")
        wait_for(lambda: browser.all("#map canvas"), "the map")
        browser.driver.execute_async_script("setTimeout(arguments[0], 300)")  # the selection is written after 100 ms
        assert browser.complaints() == []
        assert browser.requests() == []
    finally:
        browser.close()
