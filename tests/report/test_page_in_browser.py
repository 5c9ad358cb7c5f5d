"""The report in a real browser."""

import pytest
from selenium.webdriver.common.keys import Keys

import whynear as wn
from tests.helpers.browser import IN_A_BROWSER, Browser
from tests.helpers.pages import widened
from tests.helpers.studies import hostile, houses_study
from tests.helpers.wide_tables import of_kinds, of_wood
from whynear.report.page import page_with
from whynear.report.page_data import page_data

pytestmark = IN_A_BROWSER
NAMES = ["iris", "hostile", "houses", "wood", "kinds", "genes"]
VIEWS = ["finding", "features", "sets", "errors", "map", "case", "done"]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    studies = {
        "iris": wn.study("iris", learner="grlvq", splitting=wn.Splitting(folds=3)),
        "hostile": wn.study(hostile(), "<i>target</i>", learner="grlvq", splitting=wn.Splitting(folds=2)),
        "houses": houses_study(),
        "wood": wn.study(of_wood(), "kind", learner="grlvq", splitting=wn.Splitting(folds=2)),
        "kinds": wn.study(of_kinds(), "kind", learner="grlvq", splitting=wn.Splitting(folds=2)),
    }
    data = {name: page_data(study) for name, study in studies.items()}
    data["genes"] = widened(data["iris"], 7_129)
    for name, shown in data.items():
        (folder / f"{name}.html").write_text(page_with(shown), encoding="utf-8")
    return {name: folder / f"{name}.html" for name in data}


@pytest.mark.parametrize("name", NAMES)
def test_a_page_loads_nothing_complains_of_nothing_and_keeps_nobody_out(browser, pages, name):
    browser.requests(), browser.complaints()
    browser.open(pages[name])
    assert browser.run("return [...document.querySelectorAll('main > section')].map((view) => view.id)") == VIEWS
    assert browser.barriers() == {}
    ids = browser.run("return [...document.querySelectorAll('[id]')].map((e) => e.id)")
    assert len(ids) == len(set(ids))
    assert browser.requests() == []
    assert browser.complaints() == []
    assert pages[name].stat().st_size < 3_000_000


@pytest.mark.parametrize("name", NAMES)
def test_every_button_and_link_can_be_clicked(browser, pages, name):
    browser.requests(), browser.complaints()
    browser.open(pages[name])
    clicked = browser.run(
        """let clicked = 0;
        const parts = "button, a, summary, [role='button'], .clickable";
        for (const view of document.querySelectorAll("main > section, nav")) {
          for (const part of [...view.querySelectorAll(parts)].slice(0, 400)) {
            if (!part.isConnected || part.disabled) continue;
            part.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }));
            clicked += 1;
          }
        }
        return clicked"""
    )
    assert clicked > 50
    assert browser.requests() == []
    assert browser.complaints() == []
    assert browser.run("return document.querySelectorAll('main > section').length") == len(VIEWS)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["iris", "houses", "kinds"])
def test_with_everything_chosen_nobody_is_kept_out(browser, pages, name, scheme):
    with browser.media(features=[{"name": "prefers-color-scheme", "value": scheme}]):
        browser.open(pages[name], "#case?case=3&feature=0" + ("" if name == "houses" else "&cell=0,0"))
        assert browser.find("#case-panel").is_displayed()
        assert browser.barriers() == {}


def test_a_hostile_table_stays_text(browser, pages):
    browser.complaints()
    browser.open(pages["hostile"])
    assert browser.run("return document.querySelectorAll('main script, main img, main b, main i[onload]').length") == 0
    assert "<script>alert(1)</script>" in browser.find("tbody.features").text
    browser.click("#next")
    assert "<b>up</b>" in browser.find("#case-panel").text or "</script>" in browser.find("#case-panel").text
    assert browser.complaints() == []


def test_the_table_can_be_sorted_and_filtered(browser, pages):
    browser.open(pages["iris"])

    def names():
        return [cell.text for cell in browser.all("tbody.features td:first-child")]

    by_verdict = names()
    assert len(by_verdict) == 4
    browser.click("th[data-sort='name'] button")
    assert names() == sorted(by_verdict)
    assert browser.find("th[data-sort='name']").get_attribute("aria-sort") == "ascending"
    browser.click("th[data-sort='name'] button")
    assert names() == sorted(by_verdict, reverse=True)
    browser.find("#find").send_keys("PETAL")
    assert sorted(names()) == ["petal length (cm)", "petal width (cm)"]
    assert browser.find("#count").text == "2 features"


def test_a_feature_chosen_anywhere_is_chosen_everywhere_and_in_the_address(browser, pages):
    browser.open(pages["iris"])
    colours = browser.colours("#map figure:nth-child(2) canvas")
    button = browser.find("tbody.features tr:nth-child(2) button")
    name = button.text
    button.send_keys(Keys.ENTER)
    assert [row.text for row in browser.all("tr.chosen td:first-child")] == [name]
    assert browser.find("#feature h3").text == name
    assert browser.find("g.line.chosen text").text == name
    assert browser.find(".chip a").text == name
    assert browser.colours("#map figure:nth-child(2) canvas") != colours
    address = browser.address_with("feature=")
    browser.find("body").send_keys(Keys.ESCAPE)
    assert not browser.all("tr.chosen")
    assert browser.colours("#map figure:nth-child(2) canvas") == colours
    browser.driver.get("about:blank")
    browser.driver.get(address)
    assert browser.find("#feature h3").text == name


def test_a_cell_of_the_matrix_is_a_selection(browser, pages):
    browser.open(pages["iris"])
    before = browser.colours("#map canvas")
    browser.click(".confusion td.wrong button")
    shown = int(browser.find(".confusion td.wrong button").text.split("\n")[0])
    assert len(browser.all("#case .cases button")) == shown
    assert browser.colours("#map canvas") != before  # the others are faint
    browser.click("#next")
    assert browser.find("#case-panel .badge.wrong").is_displayed()


def test_a_case_clicked_on_a_map_is_explained(browser, pages):
    browser.open(pages["iris"])
    browser.find("#find-row").send_keys("51")
    assert browser.find("#case-panel h3").text.startswith("Row 51: versicolor, predicted versicolor (probability ")
    assert "that vote, with the values of the row nearest to each" in browser.find("#case-panel").text
    assert browser.find("#pick").get_attribute("value") == "50"
    browser.find("#next").send_keys(Keys.ENTER)
    assert browser.find("#case-panel h3").text.startswith("Row 52: ")
    browser.find("body").send_keys(Keys.ESCAPE)
    assert not browser.find("#case-panel").is_displayed()
    browser.run("document.querySelector('#map').scrollIntoView()")
    browser.press_on_map("#map canvas")
    assert browser.find("#case-panel").is_displayed() or browser.all("#map .stack button")


def test_a_lasso_chooses_cases(browser, pages):
    browser.open(pages["iris"])
    browser.click("#map button[data-mode='lasso']")
    browser.drag_around("#map canvas")
    assert browser.address_with("rows=0-149")
    assert browser.find(".chip a").text == "150 cases chosen on a map"


def test_classes_can_be_hidden_and_maps_zoomed(browser, pages):
    browser.open(pages["kinds"])
    whole = browser.colours("#map canvas")
    browser.click("#map [data-class='3']")
    without = browser.colours("#map canvas")
    assert without != whole
    browser.click("#map [aria-label='Zoom in']")
    assert browser.colours("#map canvas") != without
    for button in browser.all("#map .tools button, #map .toggles button"):
        if button.text in ("Show all", "all"):
            button.click()
    assert browser.colours("#map canvas") == whole


def test_maps_are_read_by_keyboard(browser, pages):
    browser.open(pages["iris"])
    canvas = browser.find("#map canvas")
    canvas.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_DOWN)
    said = browser.find("#tip").text
    assert said.startswith("row ")
    canvas.send_keys(Keys.ENTER)
    row = said.split(":")[0]
    assert browser.find("#case-panel h3").text.lower().startswith(row) or browser.all("#map .stack button")


def test_the_page_is_used_by_keyboard_alone(browser, pages):
    browser.open(pages["iris"])
    reached = set()
    for _ in range(60):
        browser.driver.switch_to.active_element.send_keys(Keys.TAB)
        reached.add(browser.run("return document.activeElement.closest('main > section, nav')?.id || 'contents'"))
    assert {"contents", "finding", "features"} <= reached
    link = browser.find(".links a[href='#map']")
    link.send_keys(Keys.ENTER)
    assert browser.run("return document.activeElement.id") == "map-title"


def test_bands_are_chosen_on_the_spectrum(browser, pages):
    browser.open(pages["wood"])
    assert "wavelength (nm)" in browser.find("#spectrum").text
    browser.run("document.querySelectorAll('.band')[2].dispatchEvent(new MouseEvent('click'))")
    assert len(browser.all(".band.chosen")) == 2  # above and below
    assert " nm" in browser.find("#feature h3").text


def test_a_case_of_a_measured_target_is_explained_by_signed_bars(browser, pages):
    browser.open(pages["houses"], "#case?case=0")
    assert browser.find("#case-panel h3").text.startswith("Row h00: measured ")
    assert "to the prediction" in browser.find("#case-panel").text
    assert "(wrong)" not in browser.find("#pick").text
    assert browser.all("#case-panel rect.up")
    assert browser.all("#case-panel rect.down")


def test_thousands_of_features_are_searched_and_read_off_the_overview(browser, pages):
    browser.open(pages["genes"])
    assert len(browser.all("tbody.features tr")) == 40
    best = browser.run(
        """const hit = document.querySelector(".overview .hit"), box = hit.getBoundingClientRect();
        const { upper } = JSON.parse(document.querySelector("#data").textContent).features;
        const best = upper.indexOf(Math.max(...upper));
        const place = { clientX: Math.round(box.left + box.width * (best + 0.5) / 7129), clientY: box.top + 5 };
        hit.dispatchEvent(new MouseEvent("mousemove", place));
        return upper[best]"""
    )
    assert browser.find("#tip").text.endswith(f" to {best:g}")
    browser.find("#find").send_keys("gene 7128")
    assert [cell.text for cell in browser.all("tbody.features td:first-child")] == ["gene 7128"]


def test_without_scripts_everything_can_still_be_read(browser, pages):
    browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.open(pages["iris"])
        assert len(browser.all("tbody.features tr")) == 4
        assert browser.find("#errors table").is_displayed()
        assert "To repeat this study" in browser.find("#done").text
        assert not browser.all("button")
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


@pytest.mark.parametrize("width", [390, 1000, 1600])
def test_a_page_fits_its_window(browser, pages, width):
    with browser.width(width):
        for page in pages.values():
            browser.open(page, "#case?case=0&feature=0")
            assert browser.run("return document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("name", ["iris", "kinds"])
def test_a_page_is_printed_whole_and_small(browser, pages, name):
    browser.open(pages[name])
    printed = browser.printed()
    assert len(printed) < 2_000_000
    assert printed.startswith(b"%PDF")
    with browser.media(media="print"):
        browser.run("dispatchEvent(new Event('beforeprint'))")
        assert browser.find("details.selected table").is_displayed()
        assert not browser.find(".contents").is_displayed()
        assert not browser.find("#map .above").is_displayed()  # in a PDF it would erase the points below it


@pytest.mark.usefixtures("browser")
def test_where_the_machine_draws_no_graphics_maps_are_still_drawn(pages):
    plain = Browser("--disable-3d-apis", "--disable-accelerated-2d-canvas")
    try:
        plain.open(pages["iris"])
        assert plain.run("return document.createElement('canvas').getContext('webgl')") is None
        assert len(plain.colours("#map canvas")) > 3
        assert plain.complaints() == []
    finally:
        plain.close()
