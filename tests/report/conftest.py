import pytest

from tests.helpers.browser import Browser
from tests.helpers.studies import iris_study


@pytest.fixture(scope="session")
def study():
    return iris_study()


@pytest.fixture(scope="session")
def saved(study, tmp_path_factory):
    """The files of the study, by name."""
    return {path.name: path for path in study.save(tmp_path_factory.mktemp("study") / "new" / "folder")}


@pytest.fixture(scope="module")
def browser():
    browser = Browser()
    yield browser
    browser.close()
