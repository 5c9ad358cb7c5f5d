"""A newcomer with a raw table: from a file to a sufficient set, an explained error and a model, in under ten clicks."""

import pytest

from tests.helpers.browser import IN_A_BROWSER, Browser
from tests.helpers.raw_tables import write_findings
from tests.helpers.servers import Server, wait_for

pytestmark = IN_A_BROWSER


class Newcomer:
    """Clicks on what a person sees, and counts the clicks; choosing a file is one."""

    def __init__(self, browser):
        self.browser, self.clicks = browser, 0

    def click(self, selector, words=""):
        """Click the first thing that a selector finds and that has these words, as soon as it is there."""
        found = wait_for(
            lambda: [one for one in self.browser.all(selector) if words in one.text and one.is_displayed()],
            f"{words} at {selector}",
        )
        self.browser.run("arguments[0].scrollIntoView({ block: 'center' })", found[0])
        found[0].click()
        self.clicks += 1

    def choose_file(self, path):
        wait_for(lambda: self.browser.all("#file"), "the field for a file").pop().send_keys(str(path))
        self.clicks += 1

    def read(self, selector, words=""):
        """The text of the page at a selector, as soon as it has these words."""

        def text():
            parts = [one.text for one in self.browser.all(selector)]
            return parts and words in parts[0] and parts[0]

        return wait_for(text, f"{words} at {selector}")


@pytest.fixture
def newcomer(tmp_path):
    server, browser = Server(tmp_path / "project"), Browser()
    browser.driver.get(server.link)
    yield Newcomer(browser)
    browser.close()
    server.close()


def test_from_a_raw_table_to_a_set_an_explained_error_and_a_model(newcomer, tmp_path):
    newcomer.choose_file(write_findings(tmp_path / "befunde.csv"))
    refusal = newcomer.read("#preview .caveats", "n.b.")
    assert "--" not in refusal  # a page has no options of a command line
    newcomer.click("#fix", "Read “Leukozyten (G/l)” as numbers")
    followed = newcomer.read(".consequences", "decimal commas")
    assert "'Patient-Nr.' was set aside" in followed
    newcomer.click("#run")
    finding = newcomer.read("#finding .words", "suffice")
    assert "CRP mg/l" in finding.splitlines()[0]
    newcomer.click("#finding .words a[href*='cell=']")
    newcomer.click("#case .cases button")
    case = newcomer.read("#case-panel", "wrong")
    assert "CRP mg/l" in case
    assert newcomer.clicks < 10, "the set and the explained error"

    newcomer.click("#leave-out button", "All but the smallest set")
    newcomer.click("#refit")
    newcomer.read("#leave-out", "reach")
    newcomer.click("#leave-out td button", "Lock as the model")
    assert "Locked as the model" in newcomer.read("#locked")
    newcomer.read("#what-if", "the locked model")
    newcomer.click("#flip")
    newcomer.read("#what-if", "Smallest changes")
    assert newcomer.clicks < 10
    assert newcomer.browser.complaints() == []
    assert newcomer.browser.barriers() == {}
