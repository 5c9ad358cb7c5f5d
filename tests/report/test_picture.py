"""The picture of a report in the README, taken in a browser; WHYNEAR_PICTURES=1 writes it to docs/report.png."""

import os
import struct
from pathlib import Path

import pytest

import whynear as wn
from tests.helpers.browser import IN_A_BROWSER, Browser

pytestmark = IN_A_BROWSER
PICTURE = Path(__file__).parents[2] / "docs" / "report.png"
WRITTEN = bool(os.environ.get("WHYNEAR_PICTURES"))
WIDTH, SCALE = 1240, 1.5
TAKEN = """document.querySelectorAll('main > section').forEach((one) => { one.hidden = one.id !== 'finding'; });
document.querySelector('footer').hidden = true;
scrollTo(0, 0);
return document.querySelector('main').getBoundingClientRect().bottom + 16;"""


@pytest.fixture
def page(request, tmp_path):
    """The report of `make study`; that of a smaller one, which takes less time, unless the picture is written."""
    study = wn.study() if WRITTEN else request.getfixturevalue("study")
    return {path.name: path for path in study.save(tmp_path / "study")}["report.html"]


def test_the_picture_of_the_readme(page, tmp_path):
    browser = Browser()
    try:
        size = {"width": WIDTH, "height": 1000, "deviceScaleFactor": SCALE, "mobile": False}
        browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        browser.open(page)
        height = 2 * round(browser.run(TAKEN) / 2)
        browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {**size, "height": height})
        made = PICTURE if WRITTEN else tmp_path / PICTURE.name
        assert browser.driver.save_screenshot(str(made))
        assert struct.unpack(">II", made.read_bytes()[16:24]) == (WIDTH * SCALE, height * SCALE)
        assert 20_000 < made.stat().st_size < 500_000
        assert browser.complaints() == []
    finally:
        browser.close()
