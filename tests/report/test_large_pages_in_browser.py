"""Pages of large tables in a real browser: 7,129 genes, and rows by the hundred thousand."""

from dataclasses import replace

import pytest
from selenium.webdriver.common.keys import Keys

import whynear as wn
from tests.helpers.browser import IN_A_BROWSER, Browser
from tests.helpers.studies import small_study, with_rows
from tests.helpers.verdicts import made_up
from whynear import doors
from whynear.report.page import render

pytestmark = IN_A_BROWSER


@pytest.fixture(scope="module")
def many_rows(tmp_path_factory):
    """The report of a table of 100,000 rows."""
    page = tmp_path_factory.mktemp("rows") / "report.html"
    page.write_text(render(with_rows(small_study(), 100_000 - 150)), encoding="utf-8")
    return page


@pytest.fixture(scope="module")
def leukemia(tmp_path_factory):
    """The report of the leukemia study; its verdicts are made up, because they take minutes."""
    page = tmp_path_factory.mktemp("genes") / "report.html"
    with pytest.MonkeyPatch.context() as patch:

        def quick(*_, relevance, **__):
            return replace(made_up(relevance.feature_names, n_resamples=5), relevance=relevance)

        patch.setattr(doors, "verdicts", quick)
        study = wn.study("leukemia_allaml", learner="grlvq", splitting=wn.Splitting(folds=2))
    page.write_text(render(study), encoding="utf-8")
    return page


def opened(browser, page, address=""):
    browser.requests(), browser.complaints()
    return browser.open(page, address)


def test_a_report_of_100_000_rows_is_small_shows_a_sample_and_says_so(browser, many_rows):
    assert many_rows.stat().st_size < 3_000_000
    opened(browser, many_rows)
    said = browser.find("#map").text
    assert "Large points: the 150 cases that were held out" in said
    assert "Small points: 15,000 of the other 99,850 rows" in said
    assert "84,850 rows are not drawn; whynear studio draws all." in said
    assert browser.barriers() == {}
    assert browser.requests() == []
    assert browser.complaints() == []
    assert len(browser.printed()) < 2_000_000


def test_a_row_that_is_no_case_is_found_named_and_chosen(browser, many_rows):
    opened(browser, many_rows)
    row = browser.run(
        """const find = document.querySelector("#find-row");
        find.value = "10000";
        find.dispatchEvent(new Event("input"));
        return document.querySelector("#map .found button").textContent"""
    )
    browser.click("#map .found button")
    assert browser.find(".chip a").text == f"row {row}"
    assert browser.find("#case-panel h3").text.startswith(f"Row {row}: ")
    assert browser.find("#case-panel h3").text.endswith("not held out")
    address = browser.address_with("case=")
    browser.driver.get("about:blank")
    browser.driver.get(address)
    assert browser.find(".chip a").text == f"row {row}"


def test_all_points_answer_to_lasso_toggles_zoom_and_click(browser, many_rows):
    opened(browser, many_rows)
    whole = browser.colours("#map canvas")
    browser.click("#map [data-class='0']")
    assert browser.colours("#map canvas") != whole
    browser.click("#map [data-class='0']")
    browser.click("#map button[data-mode='lasso']")
    browser.drag_around("#map canvas")
    assert browser.find(".chip a").text == "15150 cases chosen on a map"
    browser.find("body").send_keys(Keys.ESCAPE)
    browser.click("#map button[data-mode='move']")
    browser.press_on_map("#map canvas")
    assert browser.find("#case-panel").is_displayed() or browser.all("#map .stack button")
    browser.click("#map [aria-label='Zoom in']")
    assert browser.colours("#map canvas") != whole


def test_points_under_one_pixel_are_a_list(browser, many_rows):
    opened(browser, many_rows)
    for _ in range(12):
        browser.run("document.querySelector(\"#map [aria-label='Zoom out']\").click()")
    browser.run("document.querySelector('#map').scrollIntoView()")
    browser.press_on_map("#map canvas")
    assert "rows lie on each other here" in browser.find("#map .stack").text
    assert len(browser.all("#map .stack button")) == 30
    browser.click("#map .stack button")
    assert browser.find("#case-panel").is_displayed()


def test_a_page_of_7_129_genes_is_small_and_quiet_and_keeps_nobody_out(browser, leukemia):
    assert leukemia.stat().st_size < 3_000_000
    opened(browser, leukemia)
    assert "72 cases, 7,129 features" in browser.find("header").text
    assert browser.barriers() == {}
    assert browser.requests() == []
    assert browser.complaints() == []
    assert len(browser.printed()) < 2_000_000


def test_a_gene_is_found_chosen_and_shown_on_the_maps_by_keyboard_alone(browser, leukemia):
    opened(browser, leukemia)
    browser.find("#find").send_keys("g2001", Keys.TAB, Keys.TAB)
    name = browser.find("tbody.features button")
    assert name.text == "g2001"
    name.send_keys(Keys.ENTER)
    assert browser.find("#feature h3").text == "g2001"
    assert browser.find(".chip a").text == "g2001"
    canvas = browser.find("#map canvas")
    canvas.send_keys(Keys.ARROW_RIGHT, Keys.ENTER)
    assert browser.find("#case-panel").is_displayed() or browser.all("#map .stack button")
    browser.find("body").send_keys(Keys.ESCAPE)
    assert not browser.all(".chip")


@pytest.mark.parametrize("width", [390, 1280])
def test_a_page_of_genes_fits_its_window(browser, leukemia, width):
    with browser.width(width):
        opened(browser, leukemia, "#case?case=0&feature=0")
        assert browser.run("return document.documentElement.scrollWidth") <= width


@pytest.mark.usefixtures("browser")
def test_without_graphics_all_points_are_drawn_the_same(browser, many_rows):
    opened(browser, many_rows)
    drawn = browser.colours("#map canvas")
    plain = Browser("--disable-3d-apis", "--disable-webgl", "--disable-accelerated-2d-canvas")
    try:
        plain.open(many_rows)
        assert plain.run("return document.createElement('canvas').getContext('webgl')") is None
        assert sum(plain.colours("#map canvas").values()) == sum(drawn.values())
        assert plain.complaints() == []
    finally:
        plain.close()
