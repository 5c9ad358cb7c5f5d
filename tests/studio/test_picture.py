"""The picture of the studio in the README, taken in a browser; WHYNEAR_PICTURES=1 writes it to docs/studio.png."""

import os
import struct
from pathlib import Path

import pytest

from tests.helpers.browser import IN_A_BROWSER, Browser
from tests.helpers.servers import Server, wait_for

pytestmark = IN_A_BROWSER
PICTURE = Path(__file__).parents[2] / "docs" / "studio.png"
SHOWN = ("leave-out", "what-if")  # views
WIDTH, SCALE = 1240, 1.5
TAKEN = """const shown = arguments[0];
document.querySelectorAll('main > section').forEach((one) => { one.hidden = !shown.includes(one.id); });
document.querySelectorAll('.python, .home, footer').forEach((one) => { one.hidden = true; });
for (const one of document.querySelectorAll('.ticks label'))
  if (one.textContent.includes('petal length')) one.querySelector('input').checked = true;
scrollTo(0, 0); document.activeElement?.blur?.();
return document.querySelector('main').getBoundingClientRect().bottom + 16;"""


@pytest.fixture
def studio(tmp_path):
    """A page of the studio with a finished study of iris, and a refit of it."""
    server, browser = Server(tmp_path / "project"), Browser()
    try:
        with server.script() as client:
            wanted = {"example": "iris", "settings": {"learner": "grlvq"}}
            path = f"/api/studies/{client.post('/api/studies', json=wanted).json()['id']}"
            wait_for(lambda: client.get(path).json()["state"] == "finished", "the study")
            refit = client.post(f"{path}/relearn", json={"features": ["petal length (cm)"]}).json()["number"]
            wait_for(lambda: client.get(f"{path}/relearn/{refit}").json()["state"] == "finished", "the refit")
        browser.driver.get(server.link)
        browser.driver.get(f"{server.address}/?study={path.rpartition('/')[2]}")
        yield browser
    finally:
        browser.close()
        server.close()


def test_the_picture_of_the_readme(studio, tmp_path):
    wait_for(lambda: studio.all(".moves") and studio.all(".slider"), "the views")
    studio.click("#what-if .next-wrong")
    wait_for(lambda: "in truth" in studio.find("#what-if .answer").text, "a wrong case")
    studio.click("#flip")
    wait_for(lambda: studio.all("#what-if li button"), "the smallest change")
    studio.click("#what-if li button")
    wait_for(lambda: studio.all(".slider.changed"), "the changed case")
    size = {"width": WIDTH, "height": 1000, "deviceScaleFactor": SCALE, "mobile": False}
    studio.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    height = 2 * round(studio.run(TAKEN, SHOWN) / 2)
    studio.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {**size, "height": height})
    made = PICTURE if os.environ.get("WHYNEAR_PICTURES") else tmp_path / PICTURE.name
    assert studio.driver.save_screenshot(str(made))
    assert struct.unpack(">II", made.read_bytes()[16:24]) == (WIDTH * SCALE, height * SCALE)
    assert 50_000 < made.stat().st_size < 600_000
    assert studio.complaints() == []
