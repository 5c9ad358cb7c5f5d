"""Pages opened in a real browser, which may load nothing but the page."""

import base64
import json
import shutil
from contextlib import contextmanager
from importlib.resources import files

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.support.ui import WebDriverWait

FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-dev-shm-usage --hide-scrollbars --window-size=1000,1400"
)

DRIVER = shutil.which("chromedriver")
IN_A_BROWSER = [
    pytest.mark.slow,
    pytest.mark.skipif(DRIVER is None, reason="needs chromedriver (Debian: chromium-driver)"),
]


def in_a_browser(test):
    """Mark a test that opens a browser."""
    for mark in IN_A_BROWSER:
        test = mark(test)
    return test


class Browser:
    """Headless Chromium that remembers what it was asked to load and what was written to its console."""

    def __init__(self, *flags):
        options = webdriver.ChromeOptions()
        for flag in (*FLAGS.split(), *flags):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(DRIVER))
        self.driver.set_script_timeout(180)  # on a busy machine

    def open(self, path, address=""):
        """Open a page anew, at a part of it."""
        self.driver.get("about:blank")
        self.driver.get(path.as_uri() + address)
        return self

    def run(self, script, *values):
        return self.driver.execute_script(script, *values)

    def find(self, selector):
        return self.driver.find_element("css selector", selector)

    def all(self, selector):
        return self.driver.find_elements("css selector", selector)

    def address_with(self, words):
        """The address of the page, as soon as it contains these words."""
        return WebDriverWait(self.driver, 60).until(
            lambda driver: words in driver.current_url and driver.current_url, f"no {words} in the address"
        )

    def click(self, selector):
        """Click what a selector finds, wherever it is on the page."""
        self.run("arguments[0].scrollIntoView({ block: 'center' })", self.find(selector))
        self.find(selector).click()

    def colours(self, selector):
        """How many pixels of a canvas have each colour."""
        return self.run(
            """const canvas = document.querySelector(arguments[0]);
            const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
            const counts = {};
            for (const pixel of new Uint32Array(data.buffer)) counts[pixel] = (counts[pixel] ?? 0) + 1;
            return counts""",
            selector,
        )

    def press_on_map(self, selector):
        """Click a point of a map: where a pixel is not blank, the nearest to the middle."""
        x, y = self.run(
            """const canvas = document.querySelector(arguments[0]), ratio = canvas.width / canvas.clientWidth;
            const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
            let best = [0, 0], least = Infinity;
            for (let y = 0; y < canvas.height; y += 1) for (let x = 0; x < canvas.width; x += 1) {
              const far = Math.hypot(x - canvas.width / 2, y - canvas.height / 2);
              if (data[4 * (y * canvas.width + x) + 3] > 200 && far < least) [best, least] = [[x, y], far];
            }
            return [best[0] / ratio - canvas.clientWidth / 2, best[1] / ratio - canvas.clientHeight / 2]""",
            selector,
        )
        ActionChains(self.driver).move_to_element_with_offset(self.find(selector), x, y).click().perform()

    def drag_around(self, selector):
        """Drag along the edge of an element, once around it."""
        part = self.find(selector)
        self.run("arguments[0].scrollIntoView({ block: 'center' })", part)
        half, high = part.size["width"] / 2 - 3, part.size["height"] / 2 - 3
        chain = ActionChains(self.driver).move_to_element_with_offset(part, -half, -high).click_and_hold()
        for x, y in ((half, -high), (half, high), (-half, high), (-half, -high)):
            chain = chain.move_to_element_with_offset(part, x, y)
        chain.release().perform()

    @contextmanager
    def media(self, **settings):
        """Show pages as in print, or as on dark paper."""
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", settings)
        try:
            yield
        finally:
            self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})

    @contextmanager
    def width(self, width):
        """Show pages in a window of this width; a narrow one is that of a phone."""
        size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        try:
            yield
        finally:
            self.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    def printed(self):
        """The page as PDF."""
        return base64.b64decode(self.driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"])

    def requests(self):
        """What was asked for since the last call, but for pages opened from the disk and data within them."""
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        asked = [
            event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"
        ]
        return [url for url in asked if not url.startswith(("data:", "file:"))]

    def complaints(self):
        """What was written to the console since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def barriers(self):
        """Serious faults that axe finds for people who do not see or do not use a mouse."""
        self.run(files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
        # Figures are images with a label; what they are drawn of is thousands of lines that nobody reads one by one.
        found = self.driver.execute_async_script(
            "axe.run({ exclude: ['figure svg'] }).then(arguments[arguments.length - 1])"
        )
        return {
            fault["id"]: fault["nodes"][0]["html"][:200] for fault in found["violations"] if fault["impact"] in SERIOUS
        }

    def close(self):
        self.driver.quit()


SERIOUS = ("serious", "critical")
