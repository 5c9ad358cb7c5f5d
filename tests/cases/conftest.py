import pytest

from tests.helpers import writers
from whynear.cases import index
from whynear.cases.case_base import CaseBase


@pytest.fixture
def eager_files(monkeypatch):
    """Write the index to its file from the first case on, and again after every fifth."""
    monkeypatch.setattr(index, "FEWEST_CASES_KEPT", 5)


@pytest.fixture
def path(tmp_path):
    with CaseBase(tmp_path / "base", writers.METRIC):
        return tmp_path / "base"
