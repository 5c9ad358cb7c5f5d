"""Pages opened in a real browser, which may load nothing but the page."""

import json
from importlib.resources import files

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-dev-shm-usage --hide-scrollbars --window-size=1000,1400"
)


class Browser:
    """Headless Chromium that remembers what it was asked to load and what was written to its console."""

    def __init__(self, driver_path):
        options = webdriver.ChromeOptions()
        for flag in FLAGS.split():
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(driver_path))
        self.driver.set_script_timeout(180)  # on a busy machine

    def open(self, path):
        self.driver.get(path.as_uri())
        return self

    def run(self, script, *values):
        return self.driver.execute_script(script, *values)

    def find(self, selector):
        return self.driver.find_element("css selector", selector)

    def all(self, selector):
        return self.driver.find_elements("css selector", selector)

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
