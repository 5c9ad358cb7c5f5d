"""The report in a real browser."""

import shutil

import numpy as np
import pandas as pd
import pytest
from selenium.webdriver.common.keys import Keys

import whynear as wn
from tests.helpers.browser import Browser
from tests.helpers.studies import hostile

DRIVER = shutil.which("chromedriver")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(DRIVER is None, reason="needs chromedriver (Debian: chromium-driver)"),
]


@pytest.fixture(scope="module")
def browser():
    browser = Browser(DRIVER)
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    rng = np.random.default_rng(0)
    wide = pd.DataFrame(rng.standard_normal((60, 400))).add_prefix("channel ")
    cases = {
        "iris": wn.study("iris", learner="grlvq", folds=3),
        "hostile": wn.study(hostile(), "<i>target</i>", learner="grlvq", folds=2),
        "wide": wn.study(wide.assign(y=np.where(wide["channel 7"] > 0, "a", "b")), "y", learner="grlvq", folds=2),
        "measured": wn.study(wide.iloc[:, :5].assign(y=wide["channel 0"] + wide["channel 1"]), "y", folds=2),
    }
    for name, study in cases.items():
        study.save(folder / name)
    return {name: folder / name / "report.html" for name in cases}


@pytest.mark.parametrize("name", ["iris", "hostile", "wide", "measured"])
def test_a_page_loads_nothing_complains_of_nothing_and_keeps_nobody_out(browser, pages, name):
    browser.requests(), browser.complaints()
    browser.open(pages[name])
    assert browser.run("return document.documentElement.classList.contains('js')")
    assert browser.requests() == []
    assert browser.complaints() == []
    assert browser.barriers() == {}
    ids = browser.run("return [...document.querySelectorAll('[id]')].map((e) => e.id)")
    assert len(ids) == len(set(ids))
    assert pages[name].stat().st_size < 3_000_000


def test_a_hostile_table_stays_text(browser, pages):
    browser.open(pages["hostile"])
    assert browser.run("return document.querySelectorAll('main script, main img, main b, main i[onload]').length") == 0
    assert "<script>alert(1)</script>" in browser.find("tbody.features").text
    browser.find("#next").click()
    assert "<b>up</b>" in browser.find("#case").text or "</script>" in browser.find("#case").text
    assert browser.complaints() == []


def test_the_table_can_be_sorted_and_filtered(browser, pages):
    browser.open(pages["iris"])

    def names():
        return [cell.text for cell in browser.all("tbody.features td:first-child")]

    by_most = names()
    assert len(by_most) == 4
    browser.find("th[data-sort='0'] button").click()
    assert names() == sorted(by_most)
    assert browser.find("th[data-sort='0']").get_attribute("aria-sort") == "ascending"
    browser.find("th[data-sort='0'] button").click()
    assert names() == sorted(by_most, reverse=True)
    browser.find("#find").send_keys("PETAL")
    assert sorted(names()) == ["petal length (cm)", "petal width (cm)"]
    assert browser.find("#count").text == "2 features"


def test_a_feature_chosen_anywhere_is_chosen_everywhere(browser, pages):
    browser.open(pages["iris"])
    fills = "return [...document.querySelectorAll('#map-after-class-0 use')].map((use) => use.style.fill)"
    before = browser.run(fills)
    button = browser.find("tbody.features tr:nth-child(2) button")
    name = button.text
    button.send_keys(Keys.ENTER)
    assert [row.text.split("\n")[0] for row in browser.all("tr[aria-selected='true'] td:first-child")] == [name]
    assert len(set(browser.run(fills))) > 1
    assert name in browser.find("#scale").text
    assert len(browser.all("#intervals-axes_1 .faint")) == 6  # two parts each of the three others
    browser.find("body").send_keys(Keys.ESCAPE)
    assert browser.run(fills) == before
    assert not browser.all(".faint")
    browser.run("document.querySelector('#intervals-feature-2-body').dispatchEvent(new MouseEvent('click'))")
    assert browser.find("tr[aria-selected='true']").get_attribute("data-feature") == "2"


def test_a_case_chosen_on_a_map_is_explained(browser, pages):
    browser.open(pages["iris"])
    browser.run("document.querySelectorAll('#map-before-class-1 use')[0].dispatchEvent(new MouseEvent('click'))")
    text = browser.find("#case").text
    assert text.startswith("Row 51: versicolor, predicted versicolor (probability ")
    assert "adds to the distance of prototype" in text
    assert "(versicolor)" in text
    assert len(browser.all(".chosen")) == 2  # on both maps
    assert browser.find("#pick").get_attribute("value") == "50"
    browser.find("#next").send_keys(Keys.ENTER)
    assert browser.find("#case").text.startswith("Row 52: ")
    browser.find("body").send_keys(Keys.ESCAPE)
    assert not browser.find("#case").is_displayed()


def test_a_case_of_a_measured_target_is_explained_by_signed_bars(browser, pages):
    browser.open(pages["measured"])
    browser.run("document.querySelectorAll('#map-after-class-0 use')[0].dispatchEvent(new MouseEvent('click'))")
    text = browser.find("#case").text
    assert text.startswith("Row 1: measured ")
    assert "to the prediction, lowered or raised" in text
    assert "(wrong)" not in browser.find("#pick").text
    assert len(browser.all(".chosen")) == 2  # on both maps
    middle = "const t = arguments[0].parentElement.getBoundingClientRect(); return t.left + t.width / 2"
    for side, end in {"raises": "left", "lowers": "right"}.items():
        for bar in browser.all(f"#case .{side}"):
            edge = browser.run(f"return arguments[0].getBoundingClientRect().{end}", bar)
            assert abs(edge - browser.run(middle, bar)) < 1.5


@pytest.mark.parametrize("name", ["iris", "measured"])
def test_in_print_the_rows_behind_a_case_are_shown(browser, pages, name):
    browser.open(pages[name])
    shown = "return document.querySelector('details table').checkVisibility({ contentVisibilityAuto: true })"
    height = "return document.querySelector('details table').getBoundingClientRect().height"
    assert not browser.run(shown)
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        assert browser.run(shown)
        assert browser.run(height) > 50
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_thousands_of_features_are_read_off_the_area(browser, pages):
    browser.open(pages["wide"])
    assert len(browser.all("tbody.features tr")) == 300
    browser.run(
        """const box = document.querySelector("#intervals-all-features").getBoundingClientRect();
        const place = { clientX: box.left + box.width * 7.5 / 400, clientY: box.top + 5, bubbles: true };
        document.querySelector("#intervals-all-features").dispatchEvent(new MouseEvent("mousemove", place));"""
    )
    assert browser.find("#tip").text.startswith("channel 7: ")
    browser.find("#find").send_keys("channel 399")
    assert [cell.text for cell in browser.all("tbody.features td:first-child")] == ["channel 399"]


def test_without_scripts_everything_can_still_be_read(browser, pages):
    browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.open(pages["iris"])
        assert len(browser.all("tbody.features tr")) == 4
        assert not browser.find("#find").is_displayed()
        assert browser.find("#intervals-axes_1").is_displayed()
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


@pytest.mark.parametrize("width", [380, 1000])
def test_a_page_fits_its_window(browser, pages, width):
    browser.driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500},
    )
    try:
        for page in pages.values():
            browser.open(page)
            assert browser.run("return document.documentElement.scrollWidth") <= width
    finally:
        browser.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
