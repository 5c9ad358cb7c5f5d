"""The page alive in a real browser: a study is started, followed and asked."""

import os
import re
import signal
import subprocess
import sys

import pytest
from selenium.webdriver.support.ui import Select, WebDriverWait

from tests.helpers.browser import IN_A_BROWSER, Browser

pytestmark = IN_A_BROWSER
SERVER = "from whynear.cli import main; main()"
IN_TEACHING = "return arguments[0].closest('#teach') !== null"  # whose code needs marks


def row_asked(browser):
    """The row that the view "What if" is about, once its answer is shown."""
    return browser.find("#what-if-row").get_property("value") if browser.all("#what-if .answer") else None


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """The address of a studio with an empty project."""
    folder = tmp_path_factory.mktemp("project")
    words = [sys.executable, "-u", "-c", SERVER, "studio", "--no-browser", "--port", "8931", "--folder", str(folder)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=os.environ) as server:
        try:
            assert server.stdout is not None
            yield re.search(r"http\S+", server.stdout.readline())[0]
        finally:
            server.send_signal(signal.SIGTERM)


@pytest.fixture(scope="module")
def browser(address):
    browser = Browser()
    browser.driver.get(address)
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def wait(browser):
    return lambda condition: WebDriverWait(browser.driver, 120).until(lambda _: condition())


@pytest.fixture(scope="module")
def study(browser, wait):
    """A study that was started on the page and is finished."""
    wait(lambda: browser.all("#example option"))
    Select(browser.find("#example")).select_by_value("iris")
    wait(lambda: browser.all("#run"))
    Select(browser.find("#learner")).select_by_value("grlvq")
    wait(lambda: "One learner is fitted" in browser.find("#preview").text)
    assert browser.barriers() == {}
    browser.click("#run")
    wait(lambda: browser.all("#running #cancel") or browser.all("#what-if"))
    wait(lambda: browser.all("#what-if .slider"))
    browser.find("#find-row").send_keys("51")
    wait(lambda: row_asked(browser) == "51")


@pytest.mark.usefixtures("study")
def test_a_slider_changes_the_prediction(browser, wait):
    assert "Predicted versicolor" in browser.find("#what-if .answer").text
    browser.run(
        """for (const name of ["petal length (cm)", "petal width (cm)"]) {
          const label = [...document.querySelectorAll(".slider")].find((one) => one.textContent.includes(name));
          const slider = label.querySelector("input");
          slider.value = slider.min;
          slider.dispatchEvent(new Event("input"));
        }"""
    )
    wait(lambda: "Predicted setosa" in browser.find("#what-if .answer").text)
    assert "the row itself is versicolor" in browser.find("#what-if .answer").text
    browser.click("#flip")
    wait(lambda: "Smallest changes that change the prediction" in browser.find("#what-if").text)


@pytest.mark.usefixtures("study")
def test_features_are_left_out_and_the_learner_is_fitted_again(browser, wait):
    browser.click("#leave-out .ticks input")
    browser.click("#refit")
    wait(lambda: browser.all("#leave-out table"))
    assert "±" in browser.find("#leave-out tbody tr").text


@pytest.mark.usefixtures("study")
def test_every_view_shows_its_python_and_nobody_is_kept_out(browser, wait):
    views = [view for view in browser.all(".python") if not browser.run(IN_TEACHING, view)]
    assert len(views) > 3
    for view in views:
        browser.run("arguments[0].querySelector('button').click()", view)
    wait(lambda: len(browser.all(".python pre")) == len(views))
    assert all(code.text.startswith("import whynear as wn") for code in browser.all(".python pre"))
    assert browser.barriers() == {}
    assert browser.complaints() == []


@pytest.mark.usefixtures("study")
def test_the_study_is_in_the_list_and_opens_again(browser, wait):
    browser.run("document.querySelector('.home a').click()")
    wait(lambda: browser.all("#runs tbody tr"))
    assert browser.find("#runs .export").get_attribute("download") == "report.html"
    browser.run("document.querySelector('#runs tbody button').click()")
    wait(lambda: browser.all("#what-if .slider"))


@pytest.mark.usefixtures("study")
def test_two_tabs_show_the_same_study_each_with_its_own_selection(browser, wait):
    first = browser.driver.current_window_handle
    address = browser.driver.current_url.split("#")[0]
    browser.driver.switch_to.new_window("tab")
    try:
        browser.driver.get(address)
        wait(lambda: browser.all("#what-if .slider"))
        browser.find("#find-row").send_keys("101")
        wait(lambda: row_asked(browser) == "101")
        browser.driver.switch_to.window(first)
        assert row_asked(browser) != "101"
        browser.find("#find-row").clear()
        browser.find("#find-row").send_keys("2")
        wait(lambda: row_asked(browser) == "2")
        assert browser.complaints() == []
    finally:
        for handle in browser.driver.window_handles:
            if handle != first:
                browser.driver.switch_to.window(handle)
                browser.driver.close()
        browser.driver.switch_to.window(first)
