"""The guide as people meet it, in a real browser."""

import shutil
from pathlib import Path

import pytest

from tests.helpers.browser import Browser

GUIDE = Path(__file__).parents[1] / "docs" / "_build" / "html"
DRIVER = shutil.which("chromedriver")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(DRIVER is None, reason="needs chromedriver (Debian: chromium-driver)"),
    pytest.mark.skipif(not (GUIDE / "index.html").exists(), reason="needs the guide: make docs"),
]


@pytest.fixture(scope="module")
def browser():
    browser = Browser(DRIVER)
    browser.driver.set_window_size(1400, 1000)  # wide enough for the list of pages to stand beside them
    yield browser
    browser.close()


def test_pages_load_nothing_from_elsewhere_and_complain_of_nothing(browser):
    browser.requests(), browser.complaints()
    for page in ("index", "tour", "relevance", "api/learners"):
        browser.open(GUIDE / f"{page}.html")
        assert browser.find("h1").text
        assert browser.requests() == []
        assert browser.complaints() == []


def test_the_first_page_leads_to_every_other(browser):
    browser.open(GUIDE / "index.html")
    links = {link.get_attribute("href") for link in browser.all(".sidebar-tree a")}
    for name in ("install", "tour", "tables", "learning", "null_space", "relevance", "explaining", "finding", "study"):
        assert (GUIDE / f"{name}.html").as_uri() in links
    browser.find(".sidebar-tree a[href='tour.html']").click()
    assert browser.driver.current_url == (GUIDE / "tour.html").as_uri()


@pytest.mark.parametrize("page", ["index", "relevance"])
def test_nobody_is_kept_out(browser, page):
    browser.open(GUIDE / f"{page}.html")
    assert browser.barriers() == {}
